"""The middle of the page: rates, latency and validation in numbers."""

from __future__ import annotations

from streamgauge.measure.summary import LatencyStatistics, Summary, Validation
from streamgauge.report import units
from streamgauge.report.definitions import FIGURES, label, written
from streamgauge.report.markup import Html, element, joined, table

STATISTICS = ("count", "mean", "min", "p50", "p90", "p95", "p99", "p99_9", "max")
COUNTS = ("expected", "actual", "missing", "extra", "duplicate", "wrong", "late")
_FAULTS = frozenset({"missing", "extra", "duplicate", "wrong", "late"})


def figures(summary: Summary) -> Html:
    """The section of figures."""
    return element(
        "section",
        element("h2", "Figures"),
        _headline(summary),
        element(
            "div",
            _latency(summary.latency_ms.event_time, summary.latency_ms.processing_time),
            _validation(summary.validation),
            class_="columns",
        ),
    )


def _headline(summary: Summary) -> Html:
    event_time = summary.latency_ms.event_time
    latency = "event-time latency, growing" if event_time.growing else "event-time latency"
    cards = (
        (label("offered_per_s"), written("offered_per_s", summary.offered_per_s), "events"),
        (label("drained_per_s"), written("drained_per_s", summary.drained_per_s), _share(summary)),
        (label("p50"), _statistic("p50", event_time), latency),
        (label("p99"), _statistic("p99", event_time), latency),
    )
    return element(
        "dl",
        *(
            element(
                "div",
                element("dt", name),
                element("dd", value),
                element("dd", note, class_="note"),
            )
            for name, value, note in cards
        ),
        class_="headline",
    )


def _share(summary: Summary) -> str:
    offered, drained = summary.offered_per_s, summary.drained_per_s
    if not offered or drained is None:
        return "events"
    return f"{units.percent(100 * drained / offered)} of what was offered"


def _latency(event_time: LatencyStatistics, processing_time: LatencyStatistics) -> Html:
    rows = [
        (label(name), _statistic(name, event_time), _statistic(name, processing_time))
        for name in STATISTICS
    ]
    return element(
        "div",
        element("h3", "Latency"),
        table(("", label("event_time"), label("processing_time")), rows, class_="numbers"),
    )


def _statistic(name: str, statistics: LatencyStatistics) -> Html:
    if name == "mean" and statistics.growing:
        return _growing(statistics)
    value: float | None = getattr(statistics, name)
    return written(name, value, why_not="too few results")


def _growing(statistics: LatencyStatistics) -> Html:
    by = (
        f" by {FIGURES['growth_per_s'].write(statistics.growth_per_s)}"
        if statistics.growth_per_s is not None
        else ""
    )
    return element("span", f"growing{by}: a mean would mean nothing", class_="growing")


def _validation(validation: Validation) -> Html:
    rows: list[tuple[str, ...]] = [
        (label(name), _validation_count(name, getattr(validation, name))) for name in COUNTS
    ]
    same = {True: "✓ yes", False: "✗ no", None: "? unknown"}[validation.input_matches]
    kind = {True: "good", False: "bad", None: "open"}[validation.input_matches]
    rows.append((label("input_matches"), element("span", same, class_=kind)))
    oracle = validation.oracle or "nothing"
    return element(
        "div",
        element("h3", "Validation"),
        table((), rows, class_="numbers"),
        element("p", label("oracle"), ": ", oracle, class_="note"),
        _examples(validation.examples),
    )


def _validation_count(name: str, value: int | None) -> Html:
    if value is None or name not in _FAULTS:
        return written(name, value, why_not="nobody could count them")
    mark, kind = ("✗", "bad") if value else ("✓", "good")
    return element(
        "span", element("span", mark, class_="mark"), " ", written(name, value), class_=kind
    )


def _examples(examples: list[str]) -> Html:
    if not examples:
        return Html("")
    return element(
        "details",
        element("summary", f"examples ({units.count(len(examples))})"),
        element("pre", joined(f"{example}\n" for example in examples)),
    )
