"""The section of figures of a run: rates, latency and validation."""

from __future__ import annotations

from streamgauge import writing
from streamgauge.measure.figures import FIGURES, TIMES, Figure, figures_below, times_of, too_few
from streamgauge.measure.quantiles import results_needed
from streamgauge.measure.summary import FAULTS, LatencyStatistics, TrialSummary, Validation
from streamgauge.report.cells import answer_cell, heading, value_cell
from streamgauge.report.ingestion import ingestion_figures
from streamgauge.report.markup import (
    EMPTY,
    Html,
    bullets,
    cards,
    element,
    folded,
    note,
    section,
    table,
)

GROWTH = FIGURES["event_time.growth_per_s"]
STATISTICS = {
    name: figure for name, figure in figures_below("event_time").items() if figure is not GROWTH
}
"""The figures of a latency by the names of their fields; both kinds of time have the same."""
COUNTS = {
    name: figure for name, figure in figures_below("validation").items() if figure.unit.is_number
}


def figures(summary: TrialSummary) -> Html:
    columns = (
        ingestion_figures(summary),
        _latency(summary),
        _validation(summary.validation),
    )
    return section("Figures", _headline(summary), element("div", *columns, class_="columns"))


def _headline(summary: TrialSummary) -> Html:
    event_time = summary.latency_ms.event_time
    latency = "event-time latency, growing" if event_time.growing else "event-time latency"
    share = "events"
    if summary.offered_per_s and summary.drained_per_s is not None:
        percent = 100 * summary.drained_per_s / summary.offered_per_s
        share = f"{writing.percent(percent)} of what was offered"
    offered, drained = FIGURES["offered_per_s"], FIGURES["drained_per_s"]
    return cards(
        [
            (heading(offered), value_cell(offered, summary.offered_per_s), "events"),
            (heading(drained), value_cell(drained, summary.drained_per_s), share),
            *(
                (heading(figure), value_cell(figure, value), latency)
                if (value := getattr(event_time, name)) is not None
                else (heading(figure), writing.NOTHING, too_few(figure, event_time.count))
                for name, figure in STATISTICS.items()
                if name in ("p50", "p99")
            ),
        ]
    )


def _latency(summary: TrialSummary) -> Html:
    times = times_of(summary)
    found = [getattr(summary.latency_ms, time) for time in times]
    rows = [
        (heading(figure), *(_statistic(name, statistics) for statistics in found))
        for name, figure in STATISTICS.items()
    ]
    head = ("", *(heading(TIMES[time]) for time in times))
    return element("div", element("h3", "Latency"), table(head, rows, class_="numbers"))


def _statistic(name: str, statistics: LatencyStatistics) -> Html:
    if name == "mean" and statistics.growing:
        growth = statistics.growth_per_s
        by = "" if growth is None else f" by {GROWTH.write(growth)}"
        return element("span", f"growing{by}: a mean has no meaning", class_="growing")
    figure, value = STATISTICS[name], getattr(statistics, name)
    if value is None and statistics.count:
        needed = f"needs {writing.count(results_needed(name))} results"
        return element("span", needed, class_="nothing", title=too_few(figure, statistics.count))
    return value_cell(figure, value, why_not=too_few(figure, statistics.count))


_MIRROR = ("mirror_missing", "mirror_extra", "mirror_wrong")
_OPTIONAL = ("updates", "wrong_updates", "disordered", "times_back", *_MIRROR)


def counts_of(validation: Validation) -> list[tuple[str, Figure]]:
    """Those to show; updates, order and broker times are counted only where they can be."""
    hidden = {name for name in _OPTIONAL if getattr(validation, name) is None}
    return [(name, figure) for name, figure in COUNTS.items() if name not in hidden]


def _validation(validation: Validation) -> Html:
    rows = [
        (heading(figure), _count(name, getattr(validation, name)))
        for name, figure in counts_of(validation)
    ]
    same = FIGURES["validation.input_matches"]
    rows.append((heading(same), answer_cell(validation.input_matches)))
    examples = validation.examples
    return element(
        "div",
        element("h3", "Validation"),
        table((), rows, class_="numbers"),
        note(heading(FIGURES["validation.oracle"]), ": ", validation.oracle or "nothing"),
        folded(
            f"examples ({writing.count(len(examples))})",
            bullets(examples, "examples"),
        )
        if examples
        else EMPTY,
    )


def _count(name: str, value: int | None) -> Html:
    cell = value_cell(COUNTS[name], value, why_not="not counted")
    if value is None or name not in FAULTS:
        return cell
    mark, kind = ("✗", "bad") if value else ("✓", "good")
    return element("span", element("span", mark, class_="mark"), " ", cell, class_=kind)
