"""The experiment file, typed: one model per section; human units are kept as plain numbers."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationInfo,
    field_validator,
    model_validator,
)

from streamgauge.compute.session import Master
from streamgauge.disturb.section import FaultEntry
from streamgauge.experiments.planning.thresholds import Threshold
from streamgauge.measure.search.settings import SHORTEST_PROBE_US
from streamgauge.report.cases import SEARCH
from streamgauge.units import (
    SECOND_US,
    Count,
    DurationUs,
    Share,
    WholeNumber,
    format_duration,
    parse_count,
    parse_duration_us,
    parse_share,
)

HIGHEST_RATE = 1e9
AtLeastOneSecond = Annotated[DurationUs, Field(ge=SECOND_US)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _WithParameters(_Section):
    """Keys besides the declared ones are parameters of the query, system, schedule, …"""

    model_config = ConfigDict(extra="allow")

    @property
    def parameters(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class Named(_WithParameters):
    """An entry point by name, with its parameters; a text alone is the name."""

    name: str

    @model_validator(mode="before")
    @classmethod
    def _name_alone(cls, value: Any) -> Any:
        return {"name": value} if isinstance(value, str) else value


class Workload(_WithParameters):
    query: str


def _share(rate: str) -> float:
    return float(rate.removesuffix("%")) / 100


def _rate(value: Any) -> float | str:
    """Events per second, `search`, or `90 %` of the maximum that a search finds."""
    text = value.strip() if isinstance(value, str) else ""
    if text == SEARCH:
        return SEARCH
    if text.endswith("%"):
        if not 0 < _share(text) <= 10:
            raise ValueError("must be more than 0 % and at most 1000 % of the maximum")
        return f"{100 * _share(text):g} %"
    rate = parse_count(value)
    if not 0 < rate <= HIGHEST_RATE:
        raise ValueError(f"must be more than 0 and at most {HIGHEST_RATE:,.0f} events per second")
    return rate


Rate = Annotated[float | str, BeforeValidator(_rate)]


def _stream_rate(value: Any) -> float | str:
    """Events per second, or `20 %` of the rate of the whole load."""
    rate = _rate(value)
    if rate == SEARCH:
        raise ValueError("must be a number, or a share of `load.rate` such as `20 %`")
    return rate


class StreamLoad(_Section):
    """Settings of one stream; without any, the stream shares those of the load."""

    rate: Annotated[float | str, BeforeValidator(_stream_rate)] | None = Field(
        default=None,
        description="events per second, or a share of `load.rate` such as `20 %`; default: an "
        "equal part of what the other streams leave",
    )
    schedule: Named | None = Field(default=None, description="default: that of the load")
    instances: WholeNumber | None = Field(
        default=None, ge=1, le=256, description="driver instances for this stream alone; default: 1"
    )

    @property
    def is_own(self) -> bool:
        return (self.rate, self.schedule, self.instances) != (None, None, None)

    def rate_per_s(self, load_per_s: float) -> float | None:
        if isinstance(self.rate, str):
            return load_per_s * _share(self.rate)
        return self.rate


class Load(_Section):
    rate: Rate = Field(
        description="events per second, all instances together; `search` for the maximum that is "
        "sustained, or a share of that, such as `90 %`"
    )
    schedule: Named = Named(name="constant")
    instances: WholeNumber = Field(default=2, ge=1, le=256, description="driver instances")
    per_stream: bool = Field(
        default=False, description="rate and instances are those of each stream, not of all"
    )
    streams: dict[str, StreamLoad] = Field(
        default={}, description="rate, schedule and instances of single streams of the query"
    )
    seed: WholeNumber = Field(default=1, ge=0, lt=1 << 63)
    policy: Named = Named(name="combined")
    marks: tuple[Share, Share, Share] = Field(
        default=(0.05, 0.10, 0.30), description="q_a, q_b and q_n as shares of the run's events"
    )
    disorder: DurationUs = Field(default=0, description="how late an event may be offered")
    max_lag: DurationUs = Field(
        default=100_000, description="p99 lag of the generator above which the run is void"
    )

    @property
    def rate_per_s(self) -> float:
        """Only where the rate is a number: a study replaces the others by what it finds."""
        assert isinstance(self.rate, float)
        return self.rate

    @property
    def share_of_maximum(self) -> float | None:
        """Of the maximum that a search finds; None where the rate is a number."""
        if isinstance(self.rate, float):
            return None
        return 1.0 if self.rate == SEARCH else _share(self.rate)

    @field_validator("marks")
    @classmethod
    def _ordered(cls, marks: tuple[float, float, float]) -> tuple[float, float, float]:
        if not 0 < marks[0] < marks[1] < marks[2]:
            raise ValueError("q_a < q_b < q_n must hold")
        return marks


class SearchSection(_Section):
    precision: Share = Field(default=0.05, ge=0.005, le=0.5, description="of the maximum")
    highest: Count = Field(
        default=50e6, gt=0, le=HIGHEST_RATE, description="no higher rate is offered"
    )
    start: Count | None = Field(
        default=None, gt=0, le=HIGHEST_RATE, description="first guess; default: 100,000 per second"
    )
    probe: DurationUs = Field(
        default=25 * SECOND_US, ge=SHORTEST_PROBE_US, description="length of a probe, at most"
    )
    warm_up: DurationUs | None = Field(
        default=None, description="load before the first probe; default: what the system needs"
    )
    attempts: WholeNumber = Field(
        default=3, ge=1, le=20, description="how often a doubtful rate is tried"
    )
    budget: AtLeastOneSecond | None = Field(
        default=None,
        description="of load; afterwards the search only confirms; default: twice the usual",
    )
    of: dict[str, Any] = Field(
        default={},
        description="settings of the case whose maximum all shares are of, such as "
        "`system: spark`; default: each case has its own maximum",
    )
    published: dict[str, Count] = Field(
        default={},
        description="by query, the published rate that the maximum stands for: the factor between "
        "them is printed",
    )

    @field_validator("start")
    @classmethod
    def _may_be_offered(cls, start: float | None, info: ValidationInfo) -> float | None:
        highest = info.data.get("highest")
        if start is not None and highest is not None and start > highest:
            raise ValueError(f"must be at most `search.highest`, {highest:,.10g} per second")
        return start


class FigureSection(_Section):
    form: Literal[
        "throughput",
        "latency",
        "latency-over-time",
        "two-times",
        "resources",
        "pull",
        "distributions",
        "queries",
        "ingestion",
        "append-times",
        "systems",
        "components",
        "operations",
        "cases",
    ] = "cases"
    paper: str = Field(default="", description="the table or figure that this repeats")
    published: str | None = Field(default=None, description="a published table, such as table-2")
    system: str = Field(default="", description="of the published figures; default: all systems")
    settings: list[str] = Field(default=[], description="columns of the published table")


class Timeouts(_Section):
    start: AtLeastOneSecond = Field(default=180 * SECOND_US, description="for a component to start")
    drain: AtLeastOneSecond = Field(
        default=120 * SECOND_US, description="without progress, after the load"
    )


def _parse_warm_up(value: Any) -> float | int:
    """`25 %` and `0.25` are shares of the duration, `15 s` is a duration."""
    if isinstance(value, float) or (isinstance(value, str) and value.strip().endswith("%")):
        return parse_share(value)
    return parse_duration_us(value)


def _length_us(warm_up: float | int, duration_us: int) -> int:
    return round(duration_us * warm_up) if isinstance(warm_up, float) else warm_up


def _format_warm_up(value: float | int) -> str:
    return f"{100 * value:g} %" if isinstance(value, float) else format_duration(value)


WarmUp = Annotated[
    float | int,
    BeforeValidator(_parse_warm_up),
    PlainSerializer(_format_warm_up, when_used="json"),
]


class Experiment(_Section):
    """A whole experiment file."""

    name: str
    about: str = ""
    workload: Workload
    services: dict[str, str] = Field(default={}, description="addresses of the query's services")
    load: Load
    system: Named
    channel: Named
    duration: AtLeastOneSecond = 60 * SECOND_US
    warm_up: WarmUp = Field(default=0.25, description="left out of the latencies")
    faults: list[FaultEntry] = Field(default=[], description="what is done to it, and when")
    thresholds: list[Threshold] = []
    timeouts: Timeouts = Timeouts()
    measure_master: Master = Field(default="local[*]", description="Spark for the calculation")
    repeat: WholeNumber = Field(default=1, ge=1, le=1_000, description="trials of every case")
    vary: dict[str, list[Any]] = Field(
        default={}, description="settings and their values; every combination is a case"
    )
    also: list[dict[str, list[Any]]] = Field(
        default=[],
        description="further cases: every combination of the values of each entry, with the "
        "settings of the experiment for what an entry does not name",
    )
    search: SearchSection = SearchSection()
    figure: FigureSection | None = Field(default=None, description="how the report draws it")
    quick: dict[str, Any] = Field(default={}, description="settings of `--quick`")

    @field_validator("name")
    @classmethod
    def _fit_for_a_folder(cls, name: str) -> str:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
            raise ValueError("may have letters, digits, `.`, `_` and `-`, at most 64 of them")
        return name

    @field_validator("warm_up")
    @classmethod
    def _shorter_than_the_load(cls, warm_up: float | int, info: ValidationInfo) -> float | int:
        duration = info.data.get("duration")
        if duration is not None and _length_us(warm_up, duration) >= duration:
            raise ValueError("must be shorter than duration")
        return warm_up

    @field_validator("vary")
    @classmethod
    def _something_to_vary(cls, vary: dict[str, list[Any]]) -> dict[str, list[Any]]:
        for key, values in vary.items():
            if not values:
                raise ValueError(f"`{key}` has no values")
            if key.split(".")[0] in ("vary", "also", "repeat", "quick", "search", "figure", "name"):
                raise ValueError(f"`{key}` cannot be varied")
        return vary

    @field_validator("also")
    @classmethod
    def _more_to_vary(cls, also: list[dict[str, list[Any]]]) -> list[dict[str, list[Any]]]:
        return [cls._something_to_vary(entry) for entry in also]

    @property
    def warm_up_us(self) -> int:
        return _length_us(self.warm_up, self.duration)
