"""What a run found out: the typed form of `summary.json` and `series.json`.

Every figure is defined in `docs/metrics.md`. Scripts rely on these names.
"""

from __future__ import annotations

from enum import Enum

from pydantic import BaseModel, ConfigDict, Field

MAXIMUM = "maximum_sustainable_per_s"
"""The figure of a case that a search found."""


class Verdict(str, Enum):
    """Can the results of the run be believed? The worst finding wins."""

    VALID = "valid"
    INVALID = "invalid"
    UNKNOWN = "unknown"
    VOID = "void"

    @property
    def mark(self) -> str:
        """A sign besides the colour."""
        return {"valid": "✓", "invalid": "✗", "unknown": "?", "void": "∅"}[self.value]


class Status(str, Enum):
    """How the run ended."""

    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


class _Figures(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LatencyStatistics(_Figures):
    """Exact statistics over all results; a quantile that the sample cannot carry is None."""

    count: int = 0
    mean: float | None = None
    min: float | None = None
    max: float | None = None
    p50: float | None = None
    p90: float | None = None
    p95: float | None = None
    p99: float | None = None
    p99_9: float | None = None
    growing: bool = False
    growth_per_s: float | None = Field(default=None, description="ms of latency gained per second")


class Latency(_Figures):
    event_time: LatencyStatistics = LatencyStatistics()
    processing_time: LatencyStatistics = LatencyStatistics()


class Validation(_Figures):
    """Counts of results; None means that nobody could count them."""

    expected: int | None = None
    actual: int | None = None
    missing: int | None = None
    extra: int | None = None
    duplicate: int | None = None
    wrong: int | None = None
    late: int | None = None
    oracle: str = Field(default="", description="what the results were compared with")
    input_matches: bool | None = Field(
        default=None, description="did the oracle see the same input bytes as the system?"
    )
    examples: list[str] = []


class ThresholdResult(_Figures):
    expression: str
    value: float | None = None
    passed: bool


class InstanceSummary(_Figures):
    """What one driver instance did."""

    instance: int
    stream: str
    offered: int
    drained: int
    queue_max: int
    queue_limits: tuple[int, int, int] = Field(description="q_a, q_b and q_n, in events")
    lag_p99_ms: float = Field(description="how late the generator itself was")
    unsustained_because: str = ""


class MonitorCost(_Figures):
    """What watching cost: CPU of the monitor itself, as a share of one core."""

    cpu_percent: float = 0.0
    samples: int = 0


class ResourceSummary(_Figures):
    """Mean use of one role (driver, system, sink) while the load ran."""

    cpu_percent_mean: float
    memory_mb_max: float
    disk_mb_written: float
    network_mb: float | None = None


class Try(_Figures):
    """One probe of a search."""

    rate_per_s: float
    kind: str = Field(description="saturate, narrow or confirm")
    verdict: str = Field(description="passed, failed or doubtful")
    length_s: float
    drained_per_s: float | None = None
    reason: str = ""


class Spread(_Figures):
    """One figure over the repetitions of a case; the interval is that of Student at 95 %."""

    count: int
    mean: float
    deviation: float | None = Field(default=None, description="standard deviation; None for one")
    low: float | None = Field(default=None, description="lower end of the confidence interval")
    high: float | None = None
    min: float
    max: float


class Case(_Figures):
    """The trials of one combination of varied parameters, together."""

    varied: dict[str, object] = {}
    trials: list[int] = Field(default=[], description="places in `trials`")
    figures: dict[str, Spread] = Field(default={}, description="by name, such as event_time.p99")
    growing: bool = Field(
        default=False, description="latency grew steadily in a trial: its mean says nothing"
    )


class Limit(_Figures):
    """What held a run back, or might have, and the figure that shows it."""

    kind: str = Field(description="source, shuffle, state, hot key, trigger, CPU, driver, …")
    shown_by: str = Field(description="the figure, in words and with its number")
    advice: str
    strength: float = Field(description="0 … 1: how much of the time it explains")


class Published(_Figures):
    """A published figure beside one of ours."""

    label: str = Field(description="whose figure: Spark 2.0.1, 2 nodes")
    figure: str = Field(description="our name for it, such as event_time.p99")
    value: float
    ours: float | None = None
    varied: dict[str, object] = Field(default={}, description="the case of ours beside it")
    note: str = ""


class Summary(_Figures):
    """`RUN/summary.json`.

    A sweep or a search also has `trials`, each of this form; its own figures are then the worst
    verdict and, for a search, the maximum.
    """

    name: str
    run: str = Field(description="name of the run directory")
    status: Status = Status.FINISHED
    verdict: Verdict = Verdict.UNKNOWN
    reasons: list[str] = Field(default=[], description="why the verdict is not valid, in words")
    sustained: bool | None = None
    offered_per_s: float | None = None
    drained_per_s: float | None = None
    worked_off_per_s: float | None = None
    latency_ms: Latency = Latency()
    validation: Validation = Validation()
    thresholds: list[ThresholdResult] = []
    input_hash: str = ""
    seed: int = 0
    versions: dict[str, str] = {}
    machine: dict[str, str | int | float] = {}
    parameters: dict[str, object] = Field(default={}, description="the resolved experiment, flat")
    quick: bool = False
    command: str = Field(default="", description="the command that repeats this run")
    started_at: str = ""
    phases_s: dict[str, float] = Field(default={}, description="how long each phase took")
    driver: list[InstanceSummary] = []
    resources: dict[str, ResourceSummary] = {}
    monitor: MonitorCost = MonitorCost()
    limits: list[Limit] = Field(default=[], description="what limited the run, strongest first")
    varied: dict[str, object] = Field(default={}, description="what this trial varies, and how")
    repetition: int = Field(default=1, description="which repetition of its case this trial is")
    trials: list[Summary] = []
    cases: list[Case] = Field(default=[], description="trials of one case together")
    maximum_sustainable_per_s: float | None = Field(
        default=None, description="found by a search and confirmed"
    )
    passed: float | None = Field(default=None, description="highest rate that passed")
    failed: float | None = Field(default=None, description="lowest rate that failed")
    tries: list[Try] = Field(default=[], description="every probe of the search, in order")
    confidence: str = Field(default="", description="of the maximum, in words")
    figure: str = Field(default="", description="how the report draws the study")
    paper: str = Field(default="", description="the table or figure that this repeats")
    published: list[Published] = []


class LatencySeries(_Figures):
    """Per second of event time; times are seconds since the load started."""

    time_s: list[float] = []
    event_time_p50: list[float | None] = []
    event_time_p99: list[float | None] = []
    event_time_max: list[float | None] = []
    processing_time_p50: list[float | None] = []
    processing_time_p99: list[float | None] = []


class Histogram(_Figures):
    """Counts of results between neighbouring edges (one edge more than counts)."""

    edges_ms: list[float] = []
    event_time: list[int] = []
    processing_time: list[int] = []


class PullSeries(_Figures):
    """The data-pull graph, all driver instances together."""

    time_s: list[float] = []
    offered_per_s: list[float] = []
    drained_per_s: list[float] = []
    queued: list[float] = []


class ResourceSeries(_Figures):
    cpu_percent: list[float] = []
    memory_mb: list[float] = []
    disk_mb_per_s: list[float] = []
    network_mb_per_s: list[float] = []


class Resources(_Figures):
    time_s: list[float] = []
    roles: dict[str, ResourceSeries] = {}


class Series(_Figures):
    """`RUN/series.json`: everything that is drawn."""

    load_s: float = Field(default=0.0, description="length of the load")
    warm_up_s: float = Field(default=0.0, description="the shaded part, left out of the figures")
    latency: LatencySeries = LatencySeries()
    histogram: Histogram = Histogram()
    pull: PullSeries = PullSeries()
    resources: Resources = Resources()
