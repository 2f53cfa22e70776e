"""The report of a run: one HTML file that needs neither network nor server."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from string import Template

from streamgauge.measure.summary import Series, Summary, TrialSummary
from streamgauge.report import figures, limits, recovery, tables, verdict
from streamgauge.report.chart import Chart
from streamgauge.report.ingestion import ingestion_charts
from streamgauge.report.markup import Html, element, escaped, joined, note, section
from streamgauge.report.paradigms import paradigm_section
from streamgauge.report.run_charts import load_charts, resource_charts
from streamgauge.report.setting import what_runs
from streamgauge.version import __version__


def write_report(summary: TrialSummary, series: Series, path: Path) -> Path:
    return write_page(render_report(summary, series), path)


def render_report(summary: TrialSummary, series: Series) -> str:
    """The report of a run, as the text of an HTML file."""
    load = [*ingestion_charts(series), *load_charts(series)]
    resources = resource_charts(series)
    body = (
        verdict.heading(summary),
        verdict.banners(summary),
        verdict.verdict(summary),
        verdict.thresholds(summary.thresholds),
        figures.figures(summary),
        recovery.recovery(summary),
        limits.limits(summary),
        chart_section("Latency and load", load),
        paradigm_section(summary),
        chart_section("Resources", resources, tables.resources(summary)),
        tables.instances(summary.driver),
        tables.repeat(summary),
        tables.environment(summary),
        tables.phases(summary.phases_s),
    )
    return page(title_of(summary), body, (*load, *resources))


def excerpt(summary: TrialSummary, series: Series) -> str:
    """Figures and charts of a run, for a page that has its headline already."""
    charts = load_charts(series)
    body = (verdict.thresholds(summary.thresholds), figures.figures(summary))
    return page(title_of(summary), (*body, chart_section("Latency and load", charts)), charts)


def title_of(summary: Summary) -> str:
    """`quickstart: gaming.aggregation on spark at 100,000/s · 2026-01-02-1-quickstart`."""
    name = ": ".join(filter(None, (summary.name, what_runs(summary))))
    return f"{name} · {summary.run}"


def write_page(text: str, path: Path) -> Path:
    # A name may hold bytes that are no UTF-8; a report with a `?` is better than none.
    path.write_text(text, encoding="utf-8", errors="replace")
    return path


def page(title: str, body: Iterable[Html], charts: Iterable[Chart], styles: str = "") -> str:
    """A whole page: the body, a footer, and the scripts that draw the charts."""
    footer = element(
        "footer",
        f"Made by streamgauge {__version__}. This file needs no other file. "
        "Charts: uPlot 1.6.32 (MIT). Drag in a chart to zoom, double-click to return.",
    )
    data = {"charts": [one.model_dump() for one in charts if one.has_points]}
    return Template(_asset("assets/page.html")).substitute(
        title=escaped(f"{title} · streamgauge"),
        styles=_asset("vendor/uplot/uPlot.min.css") + _asset("assets/report.css") + styles,
        body=joined(*body, footer),
        # Without `<` the data cannot end the script element around them.
        data=json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"),
        library_licence=_asset("vendor/uplot/LICENSE"),
        library=_asset("vendor/uplot/uPlot.iife.min.js"),
        charts_script=_asset("assets/charts.js"),
        page_script=_asset("assets/report.js"),
    )


def chart_section(title: str, charts: Iterable[Chart], *after: Html) -> Html:
    return section(title, chart_grid(*(chart_figure(chart) for chart in charts)), *after)


def chart_grid(*figures: Html) -> Html:
    """Charts and the like, side by side."""
    return element("div", *figures, class_="charts")


def chart_figure(chart: Chart) -> Html:
    """The place of one chart, or the reason why there is none."""
    term = element("span", chart.title, class_="term", title=chart.definition)
    if chart.has_points:
        content = element("div", class_="plot", data_chart=chart.id)
    else:
        content = element("p", chart.empty, class_="empty", data_empty=chart.id)
    class_ = "chart wide" if chart.wide else "chart"
    below = note(chart.note) if chart.note and chart.has_points else ""
    return element("figure", element("figcaption", term), content, below, class_=class_)


def _asset(name: str) -> str:
    return files("streamgauge.report").joinpath(name).read_text(encoding="utf-8")
