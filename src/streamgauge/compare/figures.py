"""Which figures can be compared: their names, what is better, and how a change is written."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from streamgauge.errors import UsageError
from streamgauge.measure.summary import MAXIMUM, Summary
from streamgauge.report import units
from streamgauge.report.definitions import FIGURES as DEFINED

TIMES = ("event_time", "processing_time")
_ROLES = ("system", "driver", "sink")
_FAULTS = ("missing", "extra", "duplicate", "wrong", "late")


class Better(str, Enum):
    """Which way a figure should go."""

    LOWER = "lower"
    HIGHER = "higher"
    NEITHER = "neither"


class Unit(str, Enum):
    """What a figure is counted in."""

    MS = "ms"
    PER_S = "per_s"
    COUNT = "count"
    PERCENT = "percent"
    MB = "mb"

    def write(self, value: float) -> str:
        return _WRITERS[self](value)


_WRITERS: dict[Unit, Callable[[float], str]] = {
    Unit.MS: units.duration,
    Unit.PER_S: units.rate,
    Unit.COUNT: units.number,
    Unit.PERCENT: units.percent,
    Unit.MB: units.megabytes,
}


@dataclass(frozen=True)
class ComparedFigure:
    """A figure of the summary, as a comparison sees it."""

    name: str
    label: str
    group: str
    definition: str
    better: Better
    unit: Unit

    @property
    def time(self) -> str:
        """`event_time` or `processing_time` for a latency, else nothing."""
        first = self.name.partition(".")[0]
        return first if first in TIMES else ""

    @property
    def is_fault(self) -> bool:
        return self.name.rpartition(".")[2] in _FAULTS

    def write(self, value: float) -> str:
        return self.unit.write(value)

    def write_difference(self, size: float) -> str:
        """The distance of two values: of percentages in points, or it would look like a share."""
        if self.unit is Unit.PERCENT:
            return f"{self.unit.write(size).removesuffix(' %')} points"
        return self.unit.write(size)

    def write_change(self, delta: float) -> str:
        """With its sign, also that of a rise."""
        if delta == 0:
            return "0"
        return f"{'+' if delta > 0 else '−'}{self.write_difference(abs(delta))}"


def _figure(name: str, group: str, better: Better, unit: Unit) -> ComparedFigure:
    known = DEFINED[name.rpartition(".")[2]]
    return ComparedFigure(name, known.label, group, known.definition, better, unit)


def _throughput() -> list[ComparedFigure]:
    group = "throughput"
    maximum = ComparedFigure(
        name=MAXIMUM,
        label="maximum sustainable",
        group=group,
        definition="The highest rate that a search found to be sustained, and confirmed.",
        better=Better.HIGHER,
        unit=Unit.PER_S,
    )
    return [
        maximum,
        _figure("drained_per_s", group, Better.HIGHER, Unit.PER_S),
        _figure("offered_per_s", group, Better.NEITHER, Unit.PER_S),
    ]


def _latency(time: str) -> list[ComparedFigure]:
    group = f"latency, {DEFINED[time].label}"
    names = ("mean", "min", "p50", "p90", "p95", "p99", "p99_9", "max")
    return [
        *(_figure(f"{time}.{name}", group, Better.LOWER, Unit.MS) for name in names),
        _figure(f"{time}.count", group, Better.NEITHER, Unit.COUNT),
    ]


def _validation() -> list[ComparedFigure]:
    faults = [
        _figure(f"validation.{name}", "validation", Better.LOWER, Unit.COUNT) for name in _FAULTS
    ]
    counts = [
        _figure(f"validation.{name}", "validation", Better.NEITHER, Unit.COUNT)
        for name in ("expected", "actual")
    ]
    return [*faults, *counts]


def _resources(role: str) -> list[ComparedFigure]:
    kinds = (
        ("cpu_percent_mean", Better.LOWER, Unit.PERCENT),
        ("memory_mb_max", Better.LOWER, Unit.MB),
        ("disk_mb_written", Better.LOWER, Unit.MB),
        ("network_mb", Better.NEITHER, Unit.MB),
    )
    return [
        _figure(f"resources.{role}.{name}", f"resources, {role}", better, unit)
        for name, better, unit in kinds
    ]


FIGURES = MappingProxyType(
    {
        figure.name: figure
        for figure in (
            *_throughput(),
            *(figure for time in TIMES for figure in _latency(time)),
            *_validation(),
            *(figure for role in _ROLES for figure in _resources(role)),
        )
    }
)
"""Every figure that can be compared, in the order in which it is shown."""

SHORT_NAMES = MappingProxyType(
    {
        "maximum": MAXIMUM,
        "throughput": "drained_per_s",
        "drained": "drained_per_s",
        "offered": "offered_per_s",
        **{name: f"event_time.{name}" for name in ("mean", "min", "p50", "p90", "p95", "p99")},
        "p99_9": "event_time.p99_9",
        "p99.9": "event_time.p99_9",
        "max": "event_time.max",
        **{name: f"validation.{name}" for name in _FAULTS},
        "cpu": "resources.system.cpu_percent_mean",
        "memory": "resources.system.memory_mb_max",
    }
)
"""What may be written instead, on the command line."""


def figure_named(text: str) -> ComparedFigure:
    """A figure by its name or short name; an unknown one is refused with the nearest right one."""
    found = FIGURES.get(SHORT_NAMES.get(text, text))
    if found is not None:
        return found
    near = difflib.get_close_matches(text, [*SHORT_NAMES, *FIGURES], n=1, cutoff=0.5)
    raise UsageError(
        f"there is no figure `{text}`",
        fix=f"did you mean `{near[0]}`?"
        if near
        else f"choose one of {', '.join(SHORT_NAMES)}, or a full name such as "
        "`processing_time.p99` (docs/compare.md)",
    )


def value_of(summary: Summary, name: str) -> float | None:
    """The figure in the summary of one trial; None where nobody measured it."""
    section, *rest = name.split(".")
    found: object
    if section == "resources":
        role = summary.resources.get(rest[0])
        found = getattr(role, rest[1]) if role else None
    elif section == "validation":
        found = getattr(summary.validation, rest[0])
    elif section in TIMES:
        statistics = getattr(summary.latency_ms, section)
        # Without results the count is 0 because there was nothing to count.
        found = getattr(statistics, rest[0]) if statistics.count else None
    else:
        found = getattr(summary, section)
    return float(found) if isinstance(found, int | float) else None
