"""The registry of figures: name, label, unit, direction, definition and value of each.

Thresholds, reports, comparisons, the command line and `docs/metrics.md` derive from it. Its order
is the order in which a report shows the figures.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, Flag, auto
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

from streamgauge.errors import UsageError
from streamgauge.hints import did_you_mean
from streamgauge.measure.summary import FAULTS, MAXIMUM, Summary
from streamgauge.measure.unit import Unit

ROLES = ("system", "driver", "sink")
INSTANCE = "INSTANCE"
"""Stands for the number of a driver instance in the names of its figures."""


class Direction(str, Enum):
    """Which way a figure should go."""

    LOWER = "lower"
    HIGHER = "higher"
    NEITHER = "neither"


class Use(Flag):
    """Where a figure is used besides the report of a trial."""

    NONE = 0
    THRESHOLD = auto()
    """An experiment may set a limit for it."""
    CASE = auto()
    """The cases of a study have its spread over their trials."""
    COMPARE = auto()
    """`streamgauge compare` shows it, and `--fail-if` accepts it."""
    LIMITED = THRESHOLD | COMPARE
    ALL = THRESHOLD | CASE | COMPARE


@dataclass(frozen=True)
class Term:
    """A word of the report and what it means."""

    label: str
    definition: str


@dataclass(frozen=True)
class Figure(Term):
    """A figure of a summary."""

    name: str
    """Full name: `event_time.p99`, `drained_per_s`, `resources.system.cpu_percent_mean`."""
    group: str
    unit: Unit
    direction: Direction = Direction.NEITHER
    use: Use = Use.NONE
    short_names: tuple[str, ...] = ()
    documented_name: str = ""
    """The same for figures that differ only in the kind of time or in the role: `TIME.p99`."""

    @property
    def time(self) -> str:
        """`event_time` or `processing_time` for a latency, else empty."""
        section = self.name.partition(".")[0]
        return section if section in TIMES else ""

    @property
    def full_label(self) -> str:
        """A label that is clear outside of its group: `event time p99`."""
        return f"{TIMES[self.time].label} {self.label}" if self.time else self.label

    def write(self, value: float) -> str:
        return self.unit.write(value)


TIMES = MappingProxyType(
    {
        "event_time": Term(
            "event time",
            "From the scheduled time of a result's last contributing event to the result's arrival "
            "at the sink; waiting in the queue counts.",
        ),
        "processing_time": Term(
            "processing time",
            "From the moment a result's last contributing event was handed to the system to the "
            "result's arrival at the sink; waiting in the queue does not count.",
        ),
    }
)
ROLE = Term("role", "The part of the station that was watched from outside.")
MEAN_LATENCIES = tuple(f"{time}.mean" for time in TIMES)
"""Not defined where the latency grows steadily."""


class _Row(NamedTuple):
    name: str
    label: str
    unit: Unit
    direction: Direction = Direction.NEITHER
    use: Use = Use.NONE
    short_names: tuple[str, ...] = ()


_LOWER, _HIGHER, _NEITHER = Direction.LOWER, Direction.HIGHER, Direction.NEITHER
_LIMITED, _CASES = Use.LIMITED, Use.CASE
_TABLE = (
    _Row("verdict", "verdict", Unit.TEXT),
    _Row("sustained", "sustained", Unit.YES_NO),
    _Row(MAXIMUM, "maximum sustainable", Unit.PER_S, _HIGHER, _CASES | Use.COMPARE, ("maximum",)),
    _Row("passed", "highest passed", Unit.PER_S, _HIGHER),
    _Row("failed", "lowest failed", Unit.PER_S, _HIGHER),
    _Row("offered_per_s", "offered", Unit.PER_S, _NEITHER, Use.ALL, ("offered",)),
    _Row("drained_per_s", "drained", Unit.PER_S, _HIGHER, Use.ALL, ("throughput", "drained")),
    _Row(
        "processed_per_s", "processed", Unit.PER_S, _HIGHER, _CASES | Use.THRESHOLD, ("processed",)
    ),
    _Row("TIME.count", "results", Unit.COUNT, _NEITHER, _LIMITED),
    _Row("TIME.mean", "mean", Unit.MS, _LOWER, Use.ALL, ("mean",)),
    _Row("TIME.min", "min", Unit.MS, _LOWER, Use.ALL, ("min",)),
    _Row("TIME.p50", "p50", Unit.MS, _LOWER, Use.ALL, ("p50",)),
    _Row("TIME.p90", "p90", Unit.MS, _LOWER, Use.ALL, ("p90",)),
    _Row("TIME.p95", "p95", Unit.MS, _LOWER, Use.ALL, ("p95",)),
    _Row("TIME.p99", "p99", Unit.MS, _LOWER, Use.ALL, ("p99",)),
    _Row("TIME.p99_9", "p99.9", Unit.MS, _LOWER, Use.ALL, ("p99_9", "p99.9")),
    _Row("TIME.max", "max", Unit.MS, _LOWER, Use.ALL, ("max",)),
    _Row("TIME.growth_per_s", "growth", Unit.MS_PER_S, _LOWER),
    _Row("validation.expected", "expected", Unit.COUNT, _NEITHER, _LIMITED),
    _Row("validation.actual", "actual", Unit.COUNT, _NEITHER, _LIMITED),
    *(_Row(f"validation.{n}", n, Unit.COUNT, _LOWER, _LIMITED, (n,)) for n in FAULTS),
    _Row("validation.input_matches", "same input", Unit.YES_NO),
    _Row("validation.oracle", "compared with", Unit.TEXT),
    _Row("resources.cpu_percent_mean", "CPU, mean", Unit.PERCENT, _LOWER, _LIMITED, ("cpu",)),
    _Row("resources.memory_mb_max", "memory, max", Unit.MB, _LOWER, _LIMITED, ("memory",)),
    _Row("resources.disk_mb_written", "disk written", Unit.MB, _LOWER, _LIMITED),
    _Row("resources.network_mb", "network", Unit.MB, _NEITHER, _LIMITED),
    _Row("monitor.cpu_percent", "monitor CPU", Unit.PERCENT, _LOWER),
    _Row("monitor.samples", "monitor samples", Unit.COUNT),
    _Row("driver.instance", "instance", Unit.TEXT),
    _Row("driver.stream", "stream", Unit.TEXT),
    _Row("driver.offered", "offered", Unit.COUNT),
    _Row("driver.drained", "drained", Unit.COUNT),
    _Row("driver.queue_max", "longest queue", Unit.COUNT, _LOWER),
    _Row("driver.queue_limits", "marks q_a, q_b, q_n", Unit.COUNT),
    _Row("driver.lag_p99_ms", "own lag p99", Unit.MS, _LOWER),
    _Row("seed", "seed", Unit.TEXT),
    _Row("input_hash", "input hash", Unit.TEXT),
)
_AT_MOST = "of the results after the warm-up had at most this latency (exact)."
_DEFINITIONS = {
    "verdict": "Can the results of the run be believed?",
    "sustained": "Did the system drain the offered rate for the whole run?",
    MAXIMUM: "The highest rate that a search found to be sustained, and confirmed.",
    "passed": "The highest rate that passed a probe.",
    "failed": "The lowest rate that failed a probe.",
    "offered_per_s": "Events per second that the driver put into its queues, as the schedule "
    "demanded.",
    "drained_per_s": "Events per second that the system pulled out of the driver's queues.",
    "processed_per_s": "Events per second after the warm-up that the system finished processing.",
    "TIME.count": "Results after the warm-up; every one of them was measured.",
    "TIME.mean": "Mean latency of the results after the warm-up.",
    "TIME.min": "The least latency of a result after the warm-up.",
    "TIME.p50": f"Half {_AT_MOST}",
    "TIME.p90": f"90 % {_AT_MOST}",
    "TIME.p95": f"95 % {_AT_MOST}",
    "TIME.p99": f"99 % {_AT_MOST}",
    "TIME.p99_9": f"99.9 % {_AT_MOST}",
    "TIME.max": "The highest latency of a result after the warm-up.",
    "TIME.growth_per_s": "Latency gained per second of the run.",
    "validation.expected": "Results that the oracle computed from the same input, counting only "
    "those that could be complete by the last event.",
    "validation.actual": "Results that arrived at the sink.",
    "validation.missing": "Expected results that never arrived.",
    "validation.extra": "Results that arrived and were not expected.",
    "validation.duplicate": "Results that arrived more than once.",
    "validation.wrong": "Results that were expected and arrived with another value.",
    "validation.late": "Results that arrived after the run had been closed.",
    "validation.input_matches": "Did the oracle have the same input bytes as the system?",
    "validation.oracle": "Where the expected results come from.",
    "resources.cpu_percent_mean": "Mean CPU use while the load ran; 100 % is one core.",
    "resources.memory_mb_max": "The most memory in use while the load ran.",
    "resources.disk_mb_written": "Written to disk while the load ran.",
    "resources.network_mb": "Sent and received while the load ran.",
    "monitor.cpu_percent": "CPU time of the monitor itself; 100 % is one core.",
    "monitor.samples": "How often the monitor looked at all processes.",
    "driver.instance": "A driver instance: one generator and one queue in one process.",
    "driver.stream": "The input stream that the instance feeds.",
    "driver.offered": "Events the instance put into its queue.",
    "driver.drained": "Events the system pulled from it.",
    "driver.queue_max": "The most events that waited in the queue at one time; the bar ends at "
    "q_n.",
    "driver.queue_limits": "Up to q_a the queue is fine, up to q_b it is tolerated for a while, "
    "above q_b the rate is not sustained; q_n is the room in memory.",
    "driver.lag_p99_ms": "How late the generator itself was against its schedule; too late makes a "
    "run void.",
    "seed": "Events are a pure function of seed, instance and number.",
    "input_hash": "Hash of all input bytes; equal hashes mean identical input.",
}
_GROUPS = {"sustained": "verdict", "verdict": "verdict", "seed": "input", "input_hash": "input"}


def _all_figures() -> Iterator[Figure]:
    """One figure for each row; for rows of latencies one per time, of resources one per role."""
    for section, rows in groupby(_TABLE, lambda row: row.name.rpartition(".")[0]):
        found = list(rows)
        names = {
            "TIME": {time: f"latency, {term.label}" for time, term in TIMES.items()},
            "resources": {f"resources.{role}": f"resources, {role}" for role in ROLES},
            "driver": {f"driver.{INSTANCE}": "driver instances"},
        }.get(section, {section: section})
        documented = {"resources": "resources.ROLE", "driver": f"driver.{INSTANCE}"}
        for number, (name, group) in enumerate(names.items()):
            for row in found:
                last = row.name.rpartition(".")[2]
                yield Figure(
                    row.label,
                    _DEFINITIONS[row.name],
                    f"{name}.{last}".lstrip("."),
                    group or _GROUPS.get(last, "throughput"),
                    row.unit,
                    row.direction,
                    row.use,
                    # Short names stand for the event time, and for the system.
                    () if number else row.short_names,
                    f"{documented.get(section, section)}.{last}".lstrip("."),
                )


FIGURES = MappingProxyType({figure.name: figure for figure in _all_figures()})
"""Every figure by its name."""
SHORT_NAMES = MappingProxyType(
    {short: figure.name for figure in FIGURES.values() for short in figure.short_names}
)


def figures_for(use: Use) -> list[Figure]:
    """The figures with that use, in order."""
    return [figure for figure in FIGURES.values() if use & figure.use]


def figures_below(section: str) -> dict[str, Figure]:
    """The figures of a section by the last part of their names: `mean`, … of `event_time`."""
    prefix = f"{section}."
    return {
        name.removeprefix(prefix): figure
        for name, figure in FIGURES.items()
        if name.startswith(prefix)
    }


def figure_named(name: str) -> Figure:
    """A figure that a file names; an unknown one is written as a plain number."""
    return FIGURES.get(name) or Figure(name, name, name, "other", Unit.RATIO)


def find_figure(text: str, use: Use) -> Figure:
    """The figure with that name or short name; any other name is refused with a hint."""
    known = {figure.name: figure for figure in figures_for(use)}
    found = known.get(SHORT_NAMES.get(text, text))
    if found is not None:
        return found
    short = [short for short, name in SHORT_NAMES.items() if name in known]
    otherwise = (
        f"choose one of {', '.join(short)}, or a full name such as `processing_time.p99` "
        "(docs/metrics.md)"
    )
    raise UsageError(
        f"there is no figure `{text}`", fix=did_you_mean(text, [*short, *known], otherwise)
    )


def value_of(summary: Summary, name: str) -> float | None:
    """The value of a figure in a summary; None where it was not measured, or is no number."""
    found = _looked_up(summary, name)
    return None if isinstance(found, bool) or not isinstance(found, int | float) else float(found)


def _looked_up(summary: Summary, name: str) -> object:
    section, _, rest = name.partition(".")
    if not rest:
        return getattr(summary, section)
    if section in TIMES:
        statistics = getattr(summary.latency_ms, section)
        # Without results there are no statistics, and the count was not measured either.
        return getattr(statistics, rest) if statistics.count else None
    where, _, last = rest.rpartition(".")
    if section == "resources":
        return getattr(summary.resources.get(where), last, None)
    if section == "driver":
        instances = getattr(summary, "driver", [])
        return next((getattr(one, last) for one in instances if str(one.instance) == where), None)
    return getattr(getattr(summary, section, None), last, None)
