"""The report of a run: one HTML file that needs neither network nor server."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from string import Template

from streamgauge.measure.summary import Series, Summary, TrialSummary
from streamgauge.report import figures, limits, tables, verdict
from streamgauge.report.chart import Chart
from streamgauge.report.markup import Html, element, escaped, joined
from streamgauge.report.run_charts import load_charts, resource_charts
from streamgauge.version import __version__


def write_report(summary: TrialSummary, series: Series, path: Path) -> Path:
    """Write the report of a run to `path`."""
    return write_page(render_report(summary, series), path)


def render_report(summary: TrialSummary, series: Series) -> str:
    """The report of a run, as the text of an HTML file."""
    load, resources = load_charts(series), resource_charts(series)
    body = (
        verdict.heading(summary),
        verdict.banners(summary),
        verdict.verdict(summary),
        verdict.thresholds(summary.thresholds),
        figures.figures(summary),
        limits.limits(summary),
        chart_section("Latency and load", load),
        chart_section("Resources", resources, tables.resources(summary)),
        tables.instances(summary.driver),
        tables.repeat(summary),
        tables.surroundings(summary),
        tables.phases(summary.phases_s),
    )
    return page(run_title(summary), body, (*load, *resources))


def run_title(summary: Summary) -> str:
    return f"{summary.name} · {summary.run}"


def write_page(text: str, path: Path) -> Path:
    """Write a page to `path`."""
    # A name may hold bytes that are no UTF-8; a report with a `?` is better than none.
    path.write_text(text, encoding="utf-8", errors="replace")
    return path


def page(title: str, body: Iterable[Html], charts: Iterable[Chart], styles: str = "") -> str:
    """A whole page: the body, a footer, and what draws the charts that the body has places for."""
    footer = element(
        "footer",
        f"Made by streamgauge {__version__}. This file is complete in itself. "
        "Charts: uPlot 1.6.32 (MIT). Drag in a chart to zoom, double-click to return.",
    )
    return Template(_asset("assets/page.html")).substitute(
        title=escaped(f"{title} · streamgauge"),
        styles=_asset("vendor/uplot/uPlot.min.css") + _asset("assets/report.css") + styles,
        body=joined((*body, footer)),
        data=_json_for_script({"charts": [one.model_dump() for one in charts if one.has_points]}),
        library_licence=_asset("vendor/uplot/LICENSE"),
        library=_asset("vendor/uplot/uPlot.iife.min.js"),
        charts_script=_asset("assets/charts.js"),
        page_script=_asset("assets/report.js"),
    )


def chart_section(title: str, charts: Iterable[Chart], *after: Html) -> Html:
    """A section with charts, and what comes below them."""
    return element("section", element("h2", title), chart_grid(charts), *after)


def chart_grid(charts: Iterable[Chart]) -> Html:
    """Places for charts, side by side."""
    return element("div", *(chart_figure(chart) for chart in charts), class_="charts")


def chart_figure(chart: Chart) -> Html:
    """The place of one chart, or the reason why there is none."""
    caption = element(
        "figcaption", element("span", chart.title, class_="term", title=chart.definition)
    )
    if chart.has_points:
        content = element("div", class_="plot", data_chart=chart.id)
    else:
        content = element("p", chart.empty, class_="empty", data_empty=chart.id)
    return element("figure", caption, content, class_="chart wide" if chart.wide else "chart")


def _asset(name: str) -> str:
    return files("streamgauge.report").joinpath(name).read_text(encoding="utf-8")


def _json_for_script(data: object) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
