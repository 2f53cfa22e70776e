"""The typed form of `summary.json` and `series.json`.

`measure/figures.py` defines the figures in them. Scripts rely on these names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from streamgauge.errors import UsageError
from streamgauge.measure.components import LatencyComponents
from streamgauge.measure.paradigms import Paradigms
from streamgauge.measure.recovery_figures import Recovery
from streamgauge.measure.unit import Unit
from streamgauge.version import FORMAT_VERSION

if TYPE_CHECKING:
    import pandas as pd

MAXIMUM = "maximum_sustainable_per_s"
"""The figure that a search finds."""
OTHERS = "others"
"""The role of all programs that are not part of the run."""
FAULTS = ("missing", "extra", "duplicate", "wrong", "late")
"""The counts of `Validation` that are 0 when every result is right."""


class Verdict(str, Enum):
    """Whether the results of the run are right; `measure/verdict.py` has the order of severity."""

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
    """Exact statistics over all results; a quantile is None if there are too few results."""

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
    visibility: LatencyStatistics = Field(
        default=LatencyStatistics(),
        description="from an input event to the first result that reflects it",
    )

    def to_pandas(self) -> pd.DataFrame:
        """A row per statistic, with a column per kind of time."""
        import pandas as pd

        times = {time: one.model_dump(exclude={"growing"}) for time, one in self}
        return pd.DataFrame(times, dtype=float)


class Validation(_Figures):
    """Counts of results; None where they were not counted."""

    expected: int | None = None
    actual: int | None = None
    missing: int | None = None
    extra: int | None = None
    duplicate: int | None = None
    wrong: int | None = None
    late: int | None = None
    updates: int | None = Field(default=None, description="updates that were compared one by one")
    wrong_updates: int | None = Field(
        default=None, description="those that no prefix of their input gives, in event-time order"
    )
    disordered: int | None = Field(
        default=None, description="results that came after a later one, if an order was asked for"
    )
    times_back: int | None = Field(
        default=None, description="messages whose broker time is before that of the one before"
    )
    mirror_missing: int | None = Field(
        default=None, description="expected, and not in the service that mirrors the results"
    )
    mirror_extra: int | None = Field(default=None, description="in it, and not expected")
    mirror_wrong: int | None = Field(default=None, description="in it with another value")
    oracle: str = Field(default="", description="what the results were compared with")
    values_compared: bool = Field(
        default=True, description="false: there was no oracle, and results were counted by key only"
    )
    input_matches: bool | None = Field(default=None, description="of oracle and system")
    examples: list[str] = []


class ThresholdResult(_Figures):
    expression: str
    value: float | None = None
    passed: bool
    reason: str = Field(default="", description="why there is no value")


class InstanceSummary(_Figures):
    instance: int
    stream: str
    offered: int
    drained: int
    queue_max: int
    queue_limits: tuple[int, int, int] = Field(description="q_a, q_b and q_n, in events")
    lag_p99_ms: float = Field(description="how late the generator was against its schedule")
    unsustained_because: str = ""


class MonitorCost(_Figures):
    cpu_percent: float = Field(default=0.0, description="of one core, by the monitor itself")
    samples: int = 0


class ResourceSummary(_Figures):
    """Use by one role (driver, system, sink) during the load.

    `others` is every other program of the machine, of which only the CPU is measured.
    """

    cpu_percent_mean: float
    memory_mb_max: float | None = None
    disk_mb_written: float | None = None
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
    """All trials with the same values of the varied settings."""

    varied: dict[str, object] = {}
    trials: list[int] = Field(default=[], description="places in `trials`")
    figures: dict[str, Spread] = Field(default={}, description="by name, such as event_time.p99")
    growing: bool = Field(default=False, description="latency grew in a trial: no mean latency")


class Limit(_Figures):
    """What limited a run, or would limit it at a higher rate, and the figure that shows it."""

    kind: str = Field(description="driver, CPU, hot key, source, …; a system may add others")
    label: str = Field(default="", description="the kind, as a report shows it")
    meaning: str = Field(default="", description="of the kind, in one sentence")
    shown_by: str = Field(description="a sentence with the figure")
    advice: str
    strength: float = Field(description="0 … 1: the share of time or capacity that it explains")
    self_reported: bool = Field(default=False, description="has a figure that the system reports")


class DerivedFigure(_Figures):
    """A figure that a publication calculates from two cases, such as a ratio."""

    label: str
    unit: Unit
    definition: str


class Publication(_Figures):
    """Where published figures are from."""

    citation: str
    short: str
    setup: list[str] = Field(description="machines, versions and load, as `aspect: text`")
    limits: list[str] = Field(default=[], description="what the figures do not show, as stated")


class Published(_Figures):
    """A published figure beside one of ours."""

    label: str = Field(description="system and setting of the publication: Spark 2.0.1, 2 nodes")
    figure: str = Field(description="our name for it, such as event_time.p99")
    value: float | None = Field(description="None: not published, for the reason in `note`")
    growing: bool = Field(default=False, description="the published latency grew: no mean")
    ours: float | None = None
    varied: dict[str, object] = Field(default={}, description="the case of ours beside it")
    case: int | None = Field(default=None, description="its place in `cases`")
    note: str = ""
    derived: DerivedFigure | None = Field(default=None, description="if `figure` is none of ours")


class _Head(_Figures):
    """The first fields of every summary: the run, its verdict, and how to repeat it."""

    format_version: int = FORMAT_VERSION
    name: str
    run: str = Field(description="name of the run directory")
    status: Status = Status.FINISHED
    verdict: Verdict = Verdict.UNKNOWN
    reasons: list[str] = Field(
        default=[], description="why the verdict is not valid, or what broke the run off"
    )
    sustained: bool | None = None
    without_system: bool = Field(
        default=False, description="senders and broker were measured alone: nothing to sustain"
    )
    warnings: list[str] = Field(default=[], description="what to know before using the figures")
    unsustained_because: list[str] = Field(default=[], description="why it was not sustained")
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

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        # All figures would fill the screen.
        for name in ("name", "run", "verdict", "sustained"):
            yield name, getattr(self, name)


class Ingestion(_Figures):
    """What the broker took from the senders, by the time at which it appended each message.

    Rates are those of the whole seconds after the warm-up.
    """

    configured_per_s: float | None = None
    achieved_per_s: float | None = None
    peak_per_s: float | None = Field(default=None, description="of the best second")
    mb_per_s: float | None = None
    variation_percent: float | None = Field(
        default=None, description="standard deviation of the seconds, as a share of their mean"
    )
    records_per_step: float | None = Field(
        default=None, description="consecutive messages with the same append time"
    )
    step_ms: float | None = Field(default=None, description="from one append time to the next")


class MeasuredFigures(_Figures):
    """The figures of one trial."""

    offered_per_s: float | None = None
    drained_per_s: float | None = None
    processed_per_s: float | None = None
    latency_ms: Latency = Latency()
    validation: Validation = Validation()
    resources: dict[str, ResourceSummary] = {}
    limits: list[Limit] = Field(default=[], description="what limited the run, strongest first")
    ingestion: Ingestion | None = Field(default=None, description="of a run without a system")
    paradigms: Paradigms | None = Field(
        default=None, description="of a run of the dual-paradigm runtime, as it reports them"
    )
    components: LatencyComponents | None = Field(
        default=None, description="of the mean visibility latency, where the system reports them"
    )
    recovery: Recovery | None = Field(default=None, description="of a run with faults")


class SearchFigures(_Figures):
    """The figures of one search."""

    maximum_sustainable_per_s: float | None = Field(default=None, description="confirmed")
    passed: float | None = Field(default=None, description="highest rate that passed")
    failed: float | None = Field(default=None, description="lowest rate that failed")
    tries: list[Try] = Field(default=[], description="every probe of the search, in order")
    confidence: str = Field(default="", description="of the maximum, as a sentence")


class Scale(SearchFigures):
    """The search whose maximum rates are shares of, and the published rate that it stands for."""

    settings: dict[str, object] = Field(default={}, description="whose maximum it is")
    published_per_s: float | None = None
    factor: float | None = Field(default=None, description="the maximum by the published rate")


class TrialSummary(SearchFigures, MeasuredFigures, _Head):
    """`summary.json` of one trial, and each entry of `trials` of a study.

    In a study with searches a trial has the figures of the search that found its rate.
    """

    driver: list[InstanceSummary] = []
    monitor: MonitorCost = MonitorCost()
    functions: list[str] = Field(default=[], description="what the query tests: windowing, …")
    varied: dict[str, object] = Field(default={}, description="values of the varied settings")
    repetition: int = Field(default=1, description="which repetition of its case this trial is")


class StudySummary(SearchFigures, MeasuredFigures, _Head):
    """`summary.json` of a sweep, of a search, or of repetitions.

    A study of one trial has the figures of that trial, and a study of one search those of the
    search; otherwise they are in `trials` and `cases` only.
    """

    trials: list[TrialSummary]
    cases: list[Case] = Field(default=[], description="trials grouped by their varied values")
    figure: str = Field(default="", description="how the report draws the study")
    paper: str = Field(default="", description="the table or figure that this repeats")
    scales: list[Scale] = Field(
        default=[], description="what the rates are shares of, if it is the maximum of one system"
    )
    published: list[Published] = []
    publication: Publication | None = Field(default=None, description="of the published figures")


Summary = TrialSummary | StudySummary


def read_summary(path: Path) -> Summary:
    """The summary in a file: that of a study if it has `trials`."""
    data = _read(path)
    kind: type[Summary] = StudySummary if "trials" in data else TrialSummary
    return kind.model_validate(data)


def read_trial_summary(path: Path) -> TrialSummary:
    return TrialSummary.model_validate(_read(path))


def _read(path: Path) -> dict[str, Any]:
    data = json.loads(path.read_text())
    if not isinstance(data, dict):
        raise ValueError(f"{path} is not a summary")
    version = data.get("format_version", 1)
    if version != FORMAT_VERSION:
        raise UsageError(
            f"{path} cannot be read: it has format version {version}, and this version of "
            f"streamgauge reads format version {FORMAT_VERSION}",
            fix="run the experiment again, or use the version of streamgauge that wrote it",
        )
    return data


def _over_time(time_s: list[float], columns: Mapping[Any, list[Any]]) -> pd.DataFrame:
    """A row per time; the columns of a run that broke off may be shorter."""
    import pandas as pd

    found = {
        name: pd.Series(values[: len(time_s)], dtype=float) for name, values in columns.items()
    }
    return pd.DataFrame(found, range(len(time_s))).set_index(pd.Index(time_s, name="time_s"))


class _OverTime(_Figures):
    """Columns of figures, a row per time."""

    time_s: list[float] = []

    def to_pandas(self) -> pd.DataFrame:
        """A row per time, with `time_s` as its index."""
        return _over_time(self.time_s, self.model_dump(exclude={"time_s"}))


class LatencySeries(_OverTime):
    """Per second of event time; times are seconds since the load started."""

    event_time_p50: list[float | None] = []
    event_time_p99: list[float | None] = []
    event_time_max: list[float | None] = []
    processing_time_p50: list[float | None] = []
    processing_time_p99: list[float | None] = []


class VisibilitySeries(_OverTime):
    """Visibility latency per second of event time, in ms."""

    p50: list[float | None] = []
    p99: list[float | None] = []
    max: list[float | None] = []


class SingleLatencies(_OverTime):
    """An even sample of single results, by the time of their input."""

    latency_ms: list[float] = Field(default=[], description="event time")
    every: int = Field(default=1, description="every n-th result is in the sample")
    count: int = Field(default=0, description="all results of the run, with those of the warm-up")

    def to_pandas(self) -> pd.DataFrame:
        return _over_time(self.time_s, {"latency_ms": self.latency_ms})


class Histogram(_Figures):
    """Counts of results between neighbouring edges (one edge more than counts)."""

    edges_ms: list[float] = []
    event_time: list[int] = []
    processing_time: list[int] = []
    visibility: list[int] = Field(default=[], description="of input events")

    def to_pandas(self) -> pd.DataFrame:
        """A row per bar, with its edges."""
        import pandas as pd

        edges = {"from_ms": self.edges_ms[:-1], "to_ms": self.edges_ms[1:]}
        counts = {name: values for name, values in self.model_dump().items() if values}
        counts.pop("edges_ms", None)
        return pd.DataFrame({**edges, **counts})


class PullSeries(_OverTime):
    """The data-pull graph, the sum of all driver instances."""

    offered_per_s: list[float] = []
    drained_per_s: list[float] = []
    queued: list[float] = []


class IngestionSeries(_OverTime):
    """Per second: what the broker appended."""

    messages_per_s: list[float] = []
    mb_per_s: list[float] = []


class ResourceSeries(_Figures):
    cpu_percent: list[float] = []
    memory_mb: list[float] = []
    disk_mb_per_s: list[float] = []
    network_mb_per_s: list[float] = []


class Resources(_Figures):
    time_s: list[float] = []
    roles: dict[str, ResourceSeries] = {}

    def to_pandas(self) -> pd.DataFrame:
        """A row per time, with a column per role and figure."""
        columns = {(role, name): use for role, one in self.roles.items() for name, use in one}
        return _over_time(self.time_s, columns)


class FaultWindow(_Figures):
    """A fault as a report shades it: until the system had recovered, or to the end."""

    start_s: float
    end_s: float
    label: str


class Series(_Figures):
    """`RUN/series.json`: all series that a report draws."""

    load_s: float = Field(default=0.0, description="length of the load")
    warm_up_s: float = Field(default=0.0, description="the shaded part, left out of the figures")
    latency: LatencySeries = LatencySeries()
    visibility: VisibilitySeries = VisibilitySeries()
    histogram: Histogram = Histogram()
    singles: SingleLatencies = SingleLatencies()
    pull: PullSeries = PullSeries()
    resources: Resources = Resources()
    ingestion: IngestionSeries = IngestionSeries()
    paradigms: Paradigms | None = Field(
        default=None, description="of a run of the dual-paradigm runtime"
    )
    faults: list[FaultWindow] = []
    append_times_ms: list[float] = Field(
        default=[], description="of the first messages after the warm-up, since the first of them"
    )

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        yield from (("load_s", self.load_s), ("warm_up_s", self.warm_up_s))
