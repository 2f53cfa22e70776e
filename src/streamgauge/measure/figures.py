"""The registry of figures: name, label, unit, direction, definition and value of each.

Thresholds, reports, comparisons, the command line and `docs/metrics.md` derive from it. Its order
is the order in which a report shows the figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, Flag, auto
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

from streamgauge.errors import UsageError
from streamgauge.hints import did_you_mean
from streamgauge.measure.quantiles import results_needed
from streamgauge.measure.summary import FAULTS, MAXIMUM, Summary
from streamgauge.measure.unit import Unit

ROLES = ("system", "driver", "sink")
INSTANCE = "INSTANCE"
"""In names of figures, for the number of a driver instance."""


class Direction(str, Enum):
    """Which values of a figure are better."""

    LOWER = "lower"
    HIGHER = "higher"
    NEITHER = "neither"


class Use(Flag):
    """Uses of a figure besides the report of a trial."""

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
    label: str
    definition: str


@dataclass(frozen=True)
class Figure(Term):
    name: str
    """Full name: `event_time.p99`, `drained_per_s`, `resources.system.cpu_percent_mean`."""
    group: str
    unit: Unit
    direction: Direction = Direction.NEITHER
    use: Use = Use.NONE
    short_names: tuple[str, ...] = ()
    documented_name: str = ""
    """One name for figures that differ in the time, the role or the instance: `TIME.p99`."""

    @property
    def time(self) -> str:
        """`event_time` or `processing_time` for a latency, else empty."""
        section = self.name.partition(".")[0]
        return section if section in TIMES else ""

    @property
    def full_label(self) -> str:
        """The label with the time: `event time p99`."""
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
        "visibility": Term(
            "visibility",
            "From the scheduled time of an input event to the arrival of the first result that "
            "reflects it; counted per event, so that systems that send results at different "
            "moments can be compared.",
        ),
    }
)
ROLE = Term("role", "The part of the station that was sampled from outside.")
TWO_TIMES = ("event_time", "processing_time")
"""The latencies that every run has."""
MEAN_LATENCIES = tuple(f"{time}.mean" for time in TWO_TIMES)
"""Without a meaning if the latency grows steadily."""


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
    _Row("ingestion.configured_per_s", "configured", Unit.PER_S),
    _Row("ingestion.achieved_per_s", "achieved", Unit.PER_S, _HIGHER, Use.ALL, ("achieved",)),
    _Row("ingestion.peak_per_s", "best second", Unit.PER_S, _HIGHER, Use.ALL),
    _Row("ingestion.mb_per_s", "volume", Unit.MB_PER_S, _HIGHER, Use.ALL),
    _Row("ingestion.variation_percent", "variation", Unit.PERCENT, _LOWER, Use.ALL),
    _Row("ingestion.records_per_step", "records per step", Unit.RATIO, _NEITHER, Use.ALL),
    _Row("ingestion.step_ms", "step", Unit.MS, _NEITHER, Use.ALL),
    _Row("paradigms.switch_count", "switches", Unit.COUNT, _NEITHER, Use.ALL, ("switches",)),
    _Row("paradigms.longest_gap_ms", "longest gap", Unit.MS, _LOWER, Use.ALL, ("gap",)),
    _Row("paradigms.operation_stream_percent", "operation stream", Unit.PERCENT, _NEITHER, Use.ALL),
    _Row("components.outside_wait_ms", "outside wait", Unit.MS, _LOWER, Use.ALL),
    _Row("components.process_ms", "process", Unit.MS, _LOWER, Use.ALL),
    _Row("components.wait_ms", "wait", Unit.MS, _LOWER, Use.ALL),
    _Row("components.schedule_ms", "schedule", Unit.MS, _LOWER, Use.ALL),
    _Row("components.network_ms", "network", Unit.MS, _LOWER, Use.ALL),
    _Row("components.total_ms", "whole latency", Unit.MS, _LOWER, Use.ALL),
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
    _Row("validation.updates", "updates", Unit.COUNT),
    _Row("validation.wrong_updates", "wrong updates", Unit.COUNT, _LOWER),
    _Row("validation.disordered", "out of order", Unit.COUNT, _LOWER),
    _Row("validation.times_back", "broker's time went back", Unit.COUNT, _LOWER),
    _Row("validation.mirror_missing", "missing in the service", Unit.COUNT, _LOWER),
    _Row("validation.mirror_extra", "extra in the service", Unit.COUNT, _LOWER),
    _Row("validation.mirror_wrong", "wrong in the service", Unit.COUNT, _LOWER),
    _Row("validation.input_matches", "same input", Unit.YES_NO),
    _Row("validation.oracle", "compared with", Unit.TEXT),
    _Row("recovery.recovery_ms", "recovery", Unit.MS, _LOWER, Use.ALL, ("recovery",)),
    _Row("recovery.detection_ms", "detection", Unit.MS, _LOWER, Use.ALL),
    _Row("recovery.outage_ms", "outage", Unit.MS, _LOWER, Use.ALL, ("outage",)),
    _Row("recovery.reload_ms", "reload", Unit.MS, _LOWER, Use.ALL, ("reload",)),
    _Row("recovery.replay_ms", "replay", Unit.MS, _LOWER, Use.ALL, ("replay",)),
    _Row("recovery.catch_up_ms", "catch-up", Unit.MS, _LOWER, Use.ALL),
    _Row("recovery.throughput_back_ms", "throughput back", Unit.MS, _LOWER, Use.ALL),
    _Row("recovery.p99_back_ms", "p99 back in its band", Unit.MS, _LOWER, Use.ALL),
    _Row("recovery.longest_gap_ms", "longest gap in the results", Unit.MS, _LOWER, Use.ALL),
    _Row("recovery.backlog_max", "highest backlog", Unit.COUNT, _LOWER, Use.ALL),
    _Row("recovery.catch_up_per_s", "speed of the catch-up", Unit.PER_S, _HIGHER, Use.ALL),
    _Row("recovery.late_results", "results above the band", Unit.COUNT, _LOWER, Use.ALL),
    _Row("recovery.not_recovered", "faults without recovery", Unit.COUNT, _LOWER, _LIMITED),
    _Row("recovery.restarts", "restarts of the program", Unit.COUNT, _LOWER, _LIMITED),
    _Row("recovery.guarantee_shown", "delivery shown", Unit.TEXT),
    _Row("recovery.guarantee_claimed", "delivery claimed", Unit.TEXT),
    _Row("resources.ROLE.cpu_percent_mean", "CPU, mean", Unit.PERCENT, _LOWER, _LIMITED, ("cpu",)),
    _Row("resources.ROLE.memory_mb_max", "memory, max", Unit.MB, _LOWER, _LIMITED, ("memory",)),
    _Row("resources.ROLE.disk_mb_written", "disk written", Unit.MB, _LOWER, _LIMITED),
    _Row("resources.ROLE.network_mb", "network", Unit.MB, _NEITHER, _LIMITED),
    _Row("monitor.cpu_percent", "monitor CPU", Unit.PERCENT, _LOWER),
    _Row("monitor.samples", "monitor samples", Unit.COUNT),
    _Row("driver.INSTANCE.instance", "instance", Unit.TEXT),
    _Row("driver.INSTANCE.stream", "stream", Unit.TEXT),
    _Row("driver.INSTANCE.offered", "offered", Unit.COUNT),
    _Row("driver.INSTANCE.drained", "drained", Unit.COUNT),
    _Row("driver.INSTANCE.queue_max", "longest queue", Unit.COUNT, _LOWER),
    _Row("driver.INSTANCE.queue_limits", "marks q_a, q_b, q_n", Unit.COUNT),
    _Row("driver.INSTANCE.lag_p99_ms", "own lag p99", Unit.MS, _LOWER),
    _Row("seed", "seed", Unit.TEXT),
    _Row("input_hash", "input hash", Unit.TEXT),
)
_AT_MOST = "of the results after the warm-up had at most this latency (exact)."
_DEFINITIONS = {
    "verdict": "Whether the results of the run are right.",
    "sustained": "Whether the system kept up with the offered rate for the whole run.",
    MAXIMUM: "The highest rate that a search confirmed as sustained.",
    "passed": "The highest rate that passed a probe.",
    "failed": "The lowest rate that failed a probe.",
    "offered_per_s": "Events per second that the driver put into its queues by its schedule.",
    "drained_per_s": "Events per second that the system pulled from the driver's queues.",
    "processed_per_s": "Events per second after the warm-up that the system finished processing.",
    "ingestion.configured_per_s": "Messages per second that the senders were asked for.",
    "ingestion.achieved_per_s": "Messages per second that the broker appended, by its own times: "
    "the mean of the whole seconds after the warm-up.",
    "ingestion.peak_per_s": "Messages that the broker appended in the best second.",
    "ingestion.mb_per_s": "Bytes of these messages per second, without keys and framing.",
    "ingestion.variation_percent": "Standard deviation of the messages per second, as a share of "
    "their mean: a low one means a stable rate.",
    "ingestion.records_per_step": "Consecutive messages with the same append time, on average; the "
    "broker's times are whole milliseconds.",
    "ingestion.step_ms": "From one append time to the next, on average.",
    "paradigms.switch_count": "Switches of a segment from one paradigm to the other during the "
    "load.",
    "paradigms.longest_gap_ms": "The longest time from the last result of a segment in the old "
    "paradigm to its first in the new one.",
    "paradigms.operation_stream_percent": "Share of the load during which an operation was an "
    "operation stream (micro-batches), mean of all operations.",
    "components.outside_wait_ms": "The backlog above its lowest level, divided by the rate that "
    "was drained: waiting in front of a system that does not keep up.",
    "components.process_ms": "Processing of one record, as the system reports it: the time of a "
    "micro-batch by its records, or 1 by the speed of each segment.",
    "components.wait_ms": "For the beginning of its micro-batch, half of the interval, and until "
    "all of it is computed; 0 in a data stream. As the system reports it.",
    "components.schedule_ms": "Offsets, plan and logs of a micro-batch; 0 in a data stream. As the "
    "system reports it.",
    "components.network_ms": "The rest of the whole latency: on the way to, between and from the "
    "operations.",
    "components.total_ms": "The mean visibility latency, measured from outside.",
    "TIME.count": "Results after the warm-up; all of them were measured.",
    "TIME.mean": "Mean latency of the results after the warm-up.",
    "TIME.min": "The lowest latency of a result after the warm-up.",
    "TIME.p50": f"Half {_AT_MOST}",
    "TIME.p90": f"90 % {_AT_MOST}",
    "TIME.p95": f"95 % {_AT_MOST}",
    "TIME.p99": f"99 % {_AT_MOST}",
    "TIME.p99_9": f"99.9 % {_AT_MOST}",
    "TIME.max": "The highest latency of a result after the warm-up.",
    "TIME.growth_per_s": "Latency gained per second of the run.",
    "validation.expected": "Results of the oracle that could be complete by the last event.",
    "validation.actual": "Results that arrived at the sink.",
    "validation.missing": "Expected results that never arrived.",
    "validation.extra": "Results that arrived and were not expected.",
    "validation.duplicate": "Results that arrived more than once.",
    "validation.wrong": "Expected results that arrived with another value.",
    "validation.late": "Results that arrived after the end of the run.",
    "validation.updates": "Updates that were compared with the prefixes of their input.",
    "validation.wrong_updates": "Updates that no prefix of their input gives, in event-time order.",
    "validation.disordered": "Results that came after a later one, if an order was asked for.",
    "validation.times_back": "Messages whose broker time is before that of the one before.",
    "validation.mirror_missing": "Expected results that the service beside the topic lacks.",
    "validation.mirror_extra": "Results in the service that were not expected.",
    "validation.mirror_wrong": "Expected results that the service has with another value.",
    "validation.input_matches": "Whether oracle and system had the same input bytes.",
    "validation.oracle": "The source of the expected results.",
    "recovery.recovery_ms": "From the fault until throughput and latency were in the band of the "
    "time before it, and stayed there; the longest of all faults.",
    "recovery.detection_ms": "From the fault until the supervisor noticed that the program was "
    "dead.",
    "recovery.outage_ms": "The first time after the fault without results that was longer than any "
    "before it.",
    "recovery.reload_ms": "From the fault until the system took input again.",
    "recovery.replay_ms": "From then until it was where it had been before the fault.",
    "recovery.catch_up_ms": "From the first result after the outage until the backlog was as "
    "before the fault.",
    "recovery.throughput_back_ms": "From the fault until the system took as much as was offered.",
    "recovery.p99_back_ms": "From the fault until p99 of the event-time latency was in its band.",
    "recovery.longest_gap_ms": "The longest time without a result after a fault.",
    "recovery.backlog_max": "The highest number of events that waited after a fault.",
    "recovery.catch_up_per_s": "Events per second that the system took while it caught up.",
    "recovery.late_results": "Results after faults whose latency was above the band of the time "
    "before.",
    "recovery.not_recovered": "Faults that the system did not recover from within the run.",
    "recovery.restarts": "How often the supervisor started the program again.",
    "recovery.guarantee_shown": "The strongest delivery guarantee that the results do not "
    "contradict.",
    "recovery.guarantee_claimed": "The delivery guarantee that the system claims on this channel.",
    "resources.ROLE.cpu_percent_mean": "Mean CPU use while the load ran; 100 % is one core.",
    "resources.ROLE.memory_mb_max": "The highest memory use while the load ran.",
    "resources.ROLE.disk_mb_written": "Written to disk while the load ran.",
    "resources.ROLE.network_mb": "Sent and received while the load ran.",
    "monitor.cpu_percent": "CPU time of the monitor itself; 100 % is one core.",
    "monitor.samples": "Samples that the monitor took of all processes.",
    "driver.INSTANCE.instance": "A driver instance: one generator and one queue in one process.",
    "driver.INSTANCE.stream": "The input stream that the instance feeds.",
    "driver.INSTANCE.offered": "Events that the instance put into its queue.",
    "driver.INSTANCE.drained": "Events that the system pulled from the instance.",
    "driver.INSTANCE.queue_max": "The highest number of events in the queue; the bar ends at q_n.",
    "driver.INSTANCE.queue_limits": "Up to q_a the queue is fine, up to q_b it is tolerated for a "
    "while, above q_b the rate is not sustained; q_n is the room in memory.",
    "driver.INSTANCE.lag_p99_ms": "How late the generator was against its schedule; a high lag "
    "makes a run void.",
    "seed": "Events are a pure function of seed, instance and number.",
    "input_hash": "Hash of all input bytes; equal hashes mean identical input.",
}
NOT_MEASURED = "not measured"
_WHY_NOT = {
    "processed_per_s": "fewer than three pulls",
    "validation": "the results were not checked",
    "resources": "not sampled",
    "components": "the system does not report them, or the latency grows",
    "paradigms": "the system has no paradigms to choose from",
    "paradigms.longest_gap_ms": "nothing was switched",
    "recovery": "there was no fault, or the system did not recover",
    "ingestion": "there was a system, or no whole second after the warm-up",
    MAXIMUM: "no rate was sustained",
}
"""Why a figure has no value, by its name or its section."""
_GROUPS = {"sustained": "verdict", "verdict": "verdict", "seed": "input", "input_hash": "input"}
_VARIANTS = {
    "TIME": {time: f"latency, {term.label}" for time, term in TIMES.items()},
    "resources.ROLE": {role: f"resources, {role}" for role in ROLES},
    "driver.INSTANCE": {"": "driver instances"},
}
"""By section of the table: the values of `TIME` or `ROLE`, each with its group."""


def _all_figures() -> Iterator[Figure]:
    for section, section_rows in groupby(_TABLE, lambda row: row.name.rpartition(".")[0]):
        rows = list(section_rows)
        variants = _VARIANTS.get(section, {"": section or "throughput"})
        for number, (variant, group) in enumerate(variants.items()):
            for row in rows:
                yield Figure(
                    row.label,
                    _DEFINITIONS[row.name],
                    re.sub("TIME|ROLE", variant, row.name),
                    _GROUPS.get(row.name) or group,
                    row.unit,
                    row.direction,
                    row.use,
                    # Short names are those of the event time and of the system.
                    () if number else row.short_names,
                    documented_name=row.name,
                )


FIGURES = MappingProxyType({figure.name: figure for figure in _all_figures()})
"""Every figure by its name."""
SHORT_NAMES = MappingProxyType(
    {short: figure.name for figure in FIGURES.values() for short in figure.short_names}
)


def figures_for(use: Use) -> list[Figure]:
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
    """The figure that a file names; an unknown one is written as a plain number."""
    return FIGURES.get(name) or Figure(name, name, name, "other", Unit.RATIO)


def find_figure(text: str, use: Use) -> Figure:
    """The figure with that name or short name."""
    known = {figure.name: figure for figure in figures_for(use)}
    found = known.get(SHORT_NAMES.get(text, text))
    if found is None:
        short = [short for short, name in SHORT_NAMES.items() if name in known]
        full = "or a full name such as `processing_time.p99` (docs/metrics.md)"
        fix = did_you_mean(text, [*short, *known], f"choose one of {', '.join(short)}, {full}")
        raise UsageError(f"there is no figure `{text}`", fix=fix)
    return found


def value_of(summary: Summary, name: str) -> float | None:
    """The value of a figure in a summary; None if it was not measured, or is not a number."""
    found = _find(summary, name)
    return None if isinstance(found, bool) or not isinstance(found, int | float) else float(found)


def why_not(summary: Summary, name: str) -> str:
    """Why a figure has no value: `54 results; p99 needs 1,000`."""
    figure = figure_named(name)
    if figure.time:
        return too_few(figure, getattr(summary.latency_ms, figure.time).count)
    section = name.partition(".")[0]
    return _WHY_NOT.get(name) or _WHY_NOT.get(section, NOT_MEASURED)


def too_few(figure: Figure, count: int) -> str:
    """Why so many results are not enough for a figure of their latency."""
    if not count:
        return "no results after the warm-up"
    needed = results_needed(figure.name.rpartition(".")[2])
    if count >= needed:
        return NOT_MEASURED
    plural = "" if count == 1 else "s"
    return f"{count:,} result{plural}; {figure.label} needs {needed:,}"


def times_of(summary: Summary) -> list[str]:
    """The latencies to show: both of the results, and visibility where it was measured."""
    return [*TWO_TIMES, *(["visibility"] if summary.latency_ms.visibility.count else [])]


def _find(summary: Summary, name: str) -> object:
    section, _, rest = name.partition(".")
    if not rest:
        return getattr(summary, section)
    if section in TIMES:
        statistics = getattr(summary.latency_ms, section)
        # Without results the count was not measured either.
        return getattr(statistics, rest) if statistics.count else None
    where, _, last = rest.rpartition(".")
    if section == "resources":
        return getattr(summary.resources.get(where), last, None)
    if section == "driver":
        instances = getattr(summary, "driver", [])
        return next((getattr(one, last) for one in instances if str(one.instance) == where), None)
    return getattr(getattr(summary, section, None), last, None)
