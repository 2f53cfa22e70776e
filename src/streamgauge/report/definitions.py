"""What each figure of the report means, in one line, and how it is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

from streamgauge.report import units
from streamgauge.report.markup import Html, element


@dataclass(frozen=True)
class Figure:
    """A figure of the summary: its label, its definition and how its value is written."""

    label: str
    definition: str
    write: Callable[[float], str] = units.number


def _quantile(label: str, share: str) -> Figure:
    definition = f"{share} of the results after the warm-up had at most this latency (exact)."
    return Figure(label, definition, units.duration)


FIGURES = MappingProxyType(
    {
        "offered_per_s": Figure(
            "offered",
            "Events per second that the driver put into its queues, as the schedule demanded.",
            units.rate,
        ),
        "drained_per_s": Figure(
            "drained",
            "Events per second that the system pulled out of the driver's queues.",
            units.rate,
        ),
        "worked_off_per_s": Figure(
            "worked off",
            "Events per second after the warm-up that the system was through with when it came for "
            "more.",
            units.rate,
        ),
        "event_time": Figure(
            "event time",
            "From the scheduled time of a result's last contributing event to the result's arrival "
            "at the sink; waiting in the queue counts.",
        ),
        "processing_time": Figure(
            "processing time",
            "From the moment a result's last contributing event was handed to the system to the "
            "result's arrival at the sink; waiting in the queue does not count.",
        ),
        "count": Figure(
            "results", "Results after the warm-up; every one of them was measured.", units.count
        ),
        "mean": Figure("mean", "Mean latency of the results after the warm-up.", units.duration),
        "min": Figure("min", "The least latency of a result after the warm-up.", units.duration),
        "max": Figure("max", "The highest latency of a result after the warm-up.", units.duration),
        "p50": _quantile("p50", "Half"),
        "p90": _quantile("p90", "90 %"),
        "p95": _quantile("p95", "95 %"),
        "p99": _quantile("p99", "99 %"),
        "p99_9": _quantile("p99.9", "99.9 %"),
        "growth_per_s": Figure("growth", "Latency gained per second of the run.", units.growth),
        "expected": Figure(
            "expected",
            "Results that the oracle computed from the same input, counting only those that "
            "could be complete by the last event.",
            units.count,
        ),
        "actual": Figure("actual", "Results that arrived at the sink.", units.count),
        "missing": Figure("missing", "Expected results that never arrived.", units.count),
        "extra": Figure("extra", "Results that arrived and were not expected.", units.count),
        "duplicate": Figure("duplicate", "Results that arrived more than once.", units.count),
        "wrong": Figure(
            "wrong", "Results that were expected and arrived with another value.", units.count
        ),
        "late": Figure("late", "Results that arrived after the run had been closed.", units.count),
        "oracle": Figure("compared with", "Where the expected results come from."),
        "input_matches": Figure(
            "same input", "Did the oracle see the same input bytes as the system?"
        ),
        "instance": Figure(
            "instance", "A driver instance: one generator and one queue in one process."
        ),
        "stream": Figure("stream", "The input stream that the instance feeds."),
        "offered": Figure("offered", "Events the instance put into its queue.", units.count),
        "drained": Figure("drained", "Events the system pulled from it.", units.count),
        "queue_max": Figure(
            "longest queue",
            "The most events that waited in the queue at one time; the bar ends at q_n.",
            units.count,
        ),
        "queue_limits": Figure(
            "marks q_a, q_b, q_n",
            "Up to q_a the queue is fine, up to q_b it is tolerated for a while, above q_b the "
            "rate is not sustained; q_n is the room in memory.",
        ),
        "lag_p99_ms": Figure(
            "own lag p99",
            "How late the generator itself was against its schedule; too late makes a run void.",
            units.duration,
        ),
        "role": Figure("role", "The part of the station that was watched from outside."),
        "cpu_percent_mean": Figure(
            "CPU, mean", "Mean CPU use while the load ran; 100 % is one core.", units.percent
        ),
        "memory_mb_max": Figure(
            "memory, max", "The most memory in use while the load ran.", units.megabytes
        ),
        "disk_mb_written": Figure(
            "disk written", "Written to disk while the load ran.", units.megabytes
        ),
        "network_mb": Figure("network", "Sent and received while the load ran.", units.megabytes),
        "seed": Figure("seed", "Events are a pure function of seed, instance and number."),
        "input_hash": Figure(
            "input hash", "Hash of all input bytes; equal hashes mean identical input."
        ),
        "sustained": Figure(
            "sustained", "Did the system drain the offered rate for the whole run?"
        ),
        "verdict": Figure("verdict", "Can the results of the run be believed?"),
    }
)


def label(name: str) -> Html:
    """The label of a figure, its definition as a tooltip."""
    figure = FIGURES[name]
    return element("span", figure.label, class_="term", title=figure.definition)


def written(name: str, value: float | None, *, why_not: str = "not measured") -> Html:
    """The value of a figure in its unit, or a dash that says why there is none."""
    if value is None:
        return element("span", units.NOTHING, class_="nothing", title=why_not)
    return element("span", FIGURES[name].write(value), class_="value")
