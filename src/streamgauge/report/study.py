"""The report of a study, that is of a sweep or a search."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from streamgauge import writing
from streamgauge.measure.figures import FIGURES
from streamgauge.measure.summary import MAXIMUM, StudySummary
from streamgauge.report import study_tables, tables, verdict
from streamgauge.report.cases import ONLY_CASE, case_label, mean_of, without_rate
from streamgauge.report.chart import Chart
from streamgauge.report.html import chart_figure, chart_grid, page, title_of, write_page
from streamgauge.report.ingestion import append_table, ingestion_table
from streamgauge.report.limits import study_limits
from streamgauge.report.markup import (
    EMPTY,
    Html,
    bar,
    cards,
    coded,
    element,
    joined,
    note,
    section,
    table,
)
from streamgauge.report.published import (
    latency_table,
    published_table,
    scale_text,
    throughput_table,
    two_times_table,
)
from streamgauge.report.queries import queries_figure
from streamgauge.report.recovery import recoveries
from streamgauge.report.study_charts import MOST_CHARTS, against_varied, case_charts, probe_chart
from streamgauge.report.systems import components_table, operations_table, systems_table

_MOST_LEFT_OUT = 10
_TITLES = {
    "throughput": "Maximum sustainable throughput",
    "latency": "Latency",
    "latency-over-time": "Latency over time",
    "two-times": "Event time against processing time",
    "resources": "CPU and network",
    "pull": "What the system pulled",
    "distributions": "How soon events are visible",
    "queries": "Queries",
    "ingestion": "Configured and achieved rates",
    "append-times": "Append times of consecutive messages",
    "systems": "Systems side by side",
    "components": "What the latency consists of",
    "operations": "Latency and paradigm of each operation",
    "cases": "What varies",
}
_TABLES: dict[str, Callable[[StudySummary], Html]] = {
    "throughput": throughput_table,
    "latency": latency_table,
    "two-times": two_times_table,
    "queries": queries_figure,
    "ingestion": ingestion_table,
    "append-times": append_table,
    "systems": systems_table,
    "components": components_table,
    "operations": operations_table,
}


def write_study_report(summary: StudySummary, run: Path, path: Path) -> Path:
    """Write the report of the study in the directory `run` to `path`."""
    return write_page(render_study(summary, run), path)


def render_study(summary: StudySummary, run: Path) -> str:
    """The report of a study, as the text of an HTML file; the trials are below `run`."""
    figure, figure_charts = _figure(summary, run)
    probes, probe_charts = _probes(summary)
    body = (
        verdict.heading(summary),
        verdict.banners(summary),
        verdict.verdict(summary),
        _maxima(summary),
        verdict.thresholds(summary.thresholds),
        figure,
        recoveries(summary),
        study_tables.cases(summary),
        study_tables.trials(summary, run),
        probes,
        study_limits(summary),
        tables.repeat(summary),
        tables.environment(summary),
        tables.phases(summary.phases_s),
    )
    return page(title_of(summary), body, (*figure_charts, *probe_charts))


def study_excerpt(summary: StudySummary, run: Path) -> str:
    """Figures and charts of a study, for a page that has its headline already."""
    figure, charts = _figure(summary, run)
    body = (
        _maxima(summary),
        verdict.thresholds(summary.thresholds),
        figure,
        study_tables.cases(summary),
    )
    return page(title_of(summary), body, charts)


def _maxima(summary: StudySummary) -> Html:
    """The maximum of each search, large; of a single search with its bracket."""
    searches = study_tables.searches(summary)
    if len(searches) > 1:
        found = [
            (
                name,
                _rate(search.maximum_sustainable_per_s),
                f"passed {_rate(search.passed)}, failed {_rate(search.failed)}",
            )
            for name, search in searches[:MOST_CHARTS]
        ]
        return section("Maximum sustainable throughput", cards(found, "headline searches"))
    for _, search in searches:
        bracket = cards(
            [
                ("maximum sustainable throughput", _rate(search.maximum_sustainable_per_s), ""),
                ("highest passed", _rate(search.passed), ""),
                ("lowest failed", _rate(search.failed), ""),
            ],
            "headline searches one-search",
        )
        confidence = element("p", coded(search.confidence), style="margin-top:8px")
        parts = (bracket, confidence if search.confidence else "")
        return element("section", *parts, aria_label="maximum")
    return EMPTY


def _rate(value: float | None) -> str:
    return "none found" if value is None else f"{writing.count(value)} events/s"


def _figure(summary: StudySummary, run: Path) -> tuple[Html, list[Chart]]:
    """The study in the form of a publication, and the published figures beside it."""
    drawn = case_charts(summary, run)
    charts = against_varied(summary) if summary.figure == "cases" else drawn.charts
    with_bars = summary.figure in ("throughput", "cases") and not charts
    parts = [
        chart_grid(*(chart_figure(chart) for chart in charts)) if charts else "",
        _left_out(drawn.left_out),
        _TABLES[summary.figure](summary) if summary.figure in _TABLES else "",
        _bars(summary) if with_bars else "",
        *(note(scale_text(one)) for one in summary.scales),
        published_table(summary.published),
    ]
    if not any(parts):
        return EMPTY, []
    title = summary.paper or _TITLES.get(summary.figure, "Figure")
    return section(title, *parts, id="figure"), charts


def _left_out(labels: list[str]) -> Html:
    if not labels:
        return EMPTY
    names = "; ".join(labels[:_MOST_LEFT_OUT]) + (" …" if len(labels) > _MOST_LEFT_OUT else "")
    return note(
        f"Not drawn here: {writing.count(len(labels))} more cases ({names}). "
        "The reports of their trials have the same charts."
    )


def _bars(summary: StudySummary) -> Html:
    """The main figure of each case as a bar."""
    searched = any(MAXIMUM in case.figures for case in summary.cases)
    figure = FIGURES[MAXIMUM if searched else "event_time.p99"]
    # Cases that differ only in their share of the maximum have one search, and one bar.
    values = {
        case_label(without_rate(case.varied) if searched else case.varied) or ONLY_CASE: mean
        for case in summary.cases
        if (mean := mean_of(case, figure.name)) is not None
    }
    if len(values) < 2:
        return EMPTY
    longest = max(values.values()) or 1.0
    rows = [
        (label, figure.write(value), bar(value / longest, class_="bar large"))
        for label, value in values.items()
    ]
    title = element("h3", f"{figure.full_label}, by case", style="margin-top:16px")
    return joined(title, table((), rows, class_="numbers phases"))


def _probes(summary: StudySummary) -> tuple[Html, list[Chart]]:
    """Every probe of each search, in a chart and in a table."""
    searches = study_tables.searches(summary)
    if not searches:
        return EMPTY, []
    charts: list[Chart] = []
    figures: list[Html] = []
    for number, (name, search) in enumerate(searches[:MOST_CHARTS], 1):
        charts.append(probe_chart(search.tries, number, name))
        figures.append(chart_figure(charts[-1]))
        figures.append(element("figure", study_tables.probes(search.tries), class_="chart"))
    more = "; ".join(name for name, _ in searches[MOST_CHARTS:])
    not_shown = note(f"Not shown: the probes of {more}.") if more else ""
    return section("Search", chart_grid(*figures), not_shown), charts
