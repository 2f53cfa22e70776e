"""The experiment file, typed: one model per section, human units in, plain numbers kept."""

from __future__ import annotations

import re
from pathlib import Path
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

from streamgauge.experiments.thresholds import Threshold
from streamgauge.units import (
    SECOND_US,
    Count,
    DurationUs,
    Share,
    WholeNumber,
    format_duration,
    parse_duration_us,
    parse_share,
)


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Named(_Section):
    """Something found by name, with its own parameters: `name` alone or a mapping."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str

    @model_validator(mode="before")
    @classmethod
    def _name_alone(cls, value: Any) -> Any:
        return {"name": value} if isinstance(value, str) else value

    @property
    def parameters(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class Workload(_Section):
    """The query and its parameters."""

    model_config = ConfigDict(extra="allow", frozen=True)

    query: str

    @property
    def parameters(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class Load(_Section):
    """How much is offered, and how the driver is set up."""

    rate: Count = Field(gt=0, le=1e9, description="events per second, all instances together")
    schedule: Named = Named(name="constant")
    instances: WholeNumber = Field(default=2, ge=1, le=256, description="driver instances")
    seed: WholeNumber = Field(default=1, ge=0, lt=1 << 63)
    policy: Named = Named(name="combined")
    marks: tuple[Share, Share, Share] = Field(
        default=(0.05, 0.10, 0.30), description="q_a, q_b and q_n as shares of the run's events"
    )
    disorder: DurationUs = Field(default=0, description="how late an event may be offered")
    max_lag: DurationUs = Field(
        default=100_000, description="p99 lag of the generator above which the run is void"
    )

    @field_validator("marks")
    @classmethod
    def _ordered(cls, marks: tuple[float, float, float]) -> tuple[float, float, float]:
        if not 0 < marks[0] < marks[1] < marks[2]:
            raise ValueError("q_a < q_b < q_n must hold")
        return marks


class Channel(_Section):
    """How the system reaches the driver."""

    name: Literal["direct"] = "direct"
    listen: str = Field(default="127.0.0.1", description="address; beyond loopback TLS is required")
    certificate: Path | None = Field(default=None, description="PEM file, with private_key")
    private_key: Path | None = None
    token: str | None = Field(default=None, min_length=16, description="default: a random one")

    @model_validator(mode="before")
    @classmethod
    def _name_alone(cls, value: Any) -> Any:
        return {"name": value} if isinstance(value, str) else value


class Timeouts(_Section):
    start: DurationUs = Field(
        default=180 * SECOND_US, ge=SECOND_US, description="for a component to start"
    )
    drain: DurationUs = Field(
        default=120 * SECOND_US, ge=SECOND_US, description="without progress, after the load"
    )


def _share_or_duration(value: Any) -> float | int:
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
    BeforeValidator(_share_or_duration),
    PlainSerializer(_format_warm_up, when_used="json"),
]


class Experiment(_Section):
    """A whole experiment file."""

    name: str
    about: str = ""
    workload: Workload
    load: Load
    system: Named = Named(name="spark")
    channel: Channel = Channel()
    duration: DurationUs = Field(default=60 * SECOND_US, ge=SECOND_US)
    warm_up: WarmUp = Field(default=0.25, description="left out of the latencies")
    thresholds: list[Threshold] = []
    timeouts: Timeouts = Timeouts()
    measure_master: str = Field(default="local[*]", description="Spark for the calculation")
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

    @property
    def warm_up_us(self) -> int:
        return _length_us(self.warm_up, self.duration)
