"""The middle of the page: rates, latency and validation in numbers."""

from __future__ import annotations

from streamgauge import writing
from streamgauge.measure.figures import FIGURES, TIMES, Figure, figures_below
from streamgauge.measure.summary import FAULTS, LatencyStatistics, TrialSummary, Validation
from streamgauge.report.cells import answer_cell, heading, value_cell
from streamgauge.report.markup import Html, element, joined, table

GROWTH = FIGURES["event_time.growth_per_s"]
STATISTICS = {
    name: figure for name, figure in figures_below("event_time").items() if figure is not GROWTH
}
"""The figures of a latency by the names of their fields; both kinds of time have the same."""
COUNTS = {
    name: figure for name, figure in figures_below("validation").items() if figure.unit.is_number
}


def figures(summary: TrialSummary) -> Html:
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


def _headline(summary: TrialSummary) -> Html:
    event_time = summary.latency_ms.event_time
    latency = "event-time latency, growing" if event_time.growing else "event-time latency"
    offered, drained = FIGURES["offered_per_s"], FIGURES["drained_per_s"]
    cards = (
        (heading(offered), value_cell(offered, summary.offered_per_s), "events"),
        (heading(drained), value_cell(drained, summary.drained_per_s), _share(summary)),
        *(
            (heading(STATISTICS[name]), _statistic(name, event_time), latency)
            for name in ("p50", "p99")
        ),
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


def _share(summary: TrialSummary) -> str:
    offered, drained = summary.offered_per_s, summary.drained_per_s
    if not offered or drained is None:
        return "events"
    return f"{writing.percent(100 * drained / offered)} of what was offered"


def _latency(event_time: LatencyStatistics, processing_time: LatencyStatistics) -> Html:
    rows = [
        (heading(figure), _statistic(name, event_time), _statistic(name, processing_time))
        for name, figure in STATISTICS.items()
    ]
    return element(
        "div",
        element("h3", "Latency"),
        table(("", *(heading(time) for time in TIMES.values())), rows, class_="numbers"),
    )


def _statistic(name: str, statistics: LatencyStatistics) -> Html:
    if name == "mean" and statistics.growing:
        return _growing(statistics)
    value: float | None = getattr(statistics, name)
    return value_cell(STATISTICS[name], value, why_not="too few results")


def _growing(statistics: LatencyStatistics) -> Html:
    growth = statistics.growth_per_s
    by = "" if growth is None else f" by {GROWTH.write(growth)}"
    return element("span", f"growing{by}: a mean would mean nothing", class_="growing")


def _validation(validation: Validation) -> Html:
    rows: list[tuple[str, ...]] = [
        (heading(figure), _validation_count(figure, name, getattr(validation, name)))
        for name, figure in COUNTS.items()
    ]
    same = FIGURES["validation.input_matches"]
    rows.append((heading(same), answer_cell(validation.input_matches)))
    oracle = validation.oracle or "nothing"
    return element(
        "div",
        element("h3", "Validation"),
        table((), rows, class_="numbers"),
        element("p", heading(FIGURES["validation.oracle"]), ": ", oracle, class_="note"),
        _examples(validation.examples),
    )


def _validation_count(figure: Figure, name: str, value: int | None) -> Html:
    if value is None or name not in FAULTS:
        return value_cell(figure, value, why_not="they were not counted")
    mark, kind = ("✗", "bad") if value else ("✓", "good")
    return element(
        "span", element("span", mark, class_="mark"), " ", value_cell(figure, value), class_=kind
    )


def _examples(examples: list[str]) -> Html:
    if not examples:
        return Html("")
    return element(
        "details",
        element("summary", f"examples ({writing.count(len(examples))})"),
        element("pre", joined(f"{example}\n" for example in examples)),
    )
