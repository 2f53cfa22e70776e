"""The report of a study, that is of a sweep or a search: one page in the form of the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from streamgauge import writing
from streamgauge.measure.figures import FIGURES, MEAN_LATENCIES, TIMES
from streamgauge.measure.summary import MAXIMUM, Case, Published, StudySummary, Summary
from streamgauge.report import study_tables, tables, verdict
from streamgauge.report.cases import (
    ONLY_CASE,
    RATE,
    SEARCH,
    case_label,
    setting_text,
    without_rate,
)
from streamgauge.report.cells import heading
from streamgauge.report.chart import Chart
from streamgauge.report.html import chart_figure, chart_grid, page, run_title, write_page
from streamgauge.report.markup import Html, element, joined, table
from streamgauge.report.published import capitalised, published_table, system_and_setting
from streamgauge.report.study_charts import (
    MOST_CHARTS,
    against_varied,
    case_charts,
    probe_chart,
)

_HERE = "this machine"
_MOST_REASONS = 20
_MOST_LEFT_OUT = 10
_TITLES = {
    "throughput": "Maximum sustainable throughput",
    "latency": "Latency",
    "latency-over-time": "Latency over time",
    "two-times": "Event time against processing time",
    "resources": "CPU and network",
    "pull": "What the system pulled",
    "cases": "What varies",
}
_LATENCY_CELL = ("mean", "min", "max", "p90", "p95", "p99")


def write_study_report(summary: StudySummary, run: Path, path: Path) -> Path:
    """Write the report of the study in the directory `run` to `path`."""
    return write_page(render_study(summary, run), path)


def render_study(summary: StudySummary, run: Path) -> str:
    """The report of a study, as the text of an HTML file; `run` holds the trials."""
    figure, figure_charts = _figure(summary, run)
    probes, probe_charts = _probes(summary)
    body = (
        verdict.heading(summary),
        verdict.banners(summary),
        verdict.verdict(_with_fewer_reasons(summary)),
        _answer(summary),
        verdict.thresholds(summary.thresholds),
        figure,
        study_tables.cases(summary),
        study_tables.trials(summary, run),
        probes,
        study_tables.limits(summary),
        tables.repeat(summary),
        tables.surroundings(summary),
        tables.phases(summary.phases_s),
    )
    return page(run_title(summary), body, (*figure_charts, *probe_charts))


def _with_fewer_reasons(summary: StudySummary) -> StudySummary:
    more = len(summary.reasons) - _MOST_REASONS
    if more <= 0:
        return summary
    shown = [*summary.reasons[:_MOST_REASONS], f"{more} more, see the trials"]
    return summary.model_copy(update={"reasons": shown})


def _answer(summary: StudySummary) -> Html:
    """What a search found, large; of several searches each one."""
    searches = study_tables.searches(summary)
    if not searches:
        return Html("")
    if len(searches) > 1:
        shown = searches[:MOST_CHARTS]
        cards = [_card(name, search, "25px", _bracket(search)) for name, search in shown]
        return element("section", element("h2", "Maximum sustainable throughput"), _cards(cards))
    _, search = searches[0]
    cards = [
        _card("maximum sustainable throughput", search, "30px", ""),
        *(
            element("div", element("dt", name), element("dd", _rate(rate)))
            for name, rate in (("highest passed", search.passed), ("lowest failed", search.failed))
        ),
    ]
    return element(
        "section",
        _cards(cards),
        element("p", search.confidence, style="margin-top:8px") if search.confidence else "",
        aria_label="maximum",
    )


def _cards(cards: Iterable[Html]) -> Html:
    columns = "grid-template-columns:repeat(auto-fit,minmax(min(300px,100%),1fr))"
    return element("dl", *cards, class_="headline", style=columns)


def _card(name: str, search: Summary, size: str, note: str) -> Html:
    return element(
        "div",
        element("dt", name),
        element(
            "dd",
            _rate(search.maximum_sustainable_per_s),
            style=f"font-size:{size};white-space:nowrap",
        ),
        element("dd", note, class_="note") if note else "",
    )


def _bracket(search: Summary) -> str:
    return f"passed {_rate(search.passed)}, failed {_rate(search.failed)}"


def _rate(value: float | None) -> str:
    return "none found" if value is None else f"{writing.count(value)} events/s"


def _figure(summary: StudySummary, run: Path) -> tuple[Html, list[Chart]]:
    """The study in the form of the paper, and the published figures beside it."""
    drawn = case_charts(summary, run)
    charts = against_varied(summary) if summary.figure == "cases" else drawn.charts
    in_form = _IN_FORM.get(summary.figure)
    parts = [
        chart_grid(charts) if charts else "",
        _left_out(drawn.left_out),
        in_form(summary) if in_form else "",
        _bars(summary) if summary.figure in ("throughput", "cases") and not charts else "",
        published_table(summary.published),
    ]
    if not any(parts):
        return Html(""), []
    title = summary.paper or _TITLES.get(summary.figure, "Figure")
    return element("section", element("h2", title), *parts, id="figure"), charts


def _left_out(labels: list[str]) -> Html:
    if not labels:
        return Html("")
    names = "; ".join(labels[:_MOST_LEFT_OUT]) + (" …" if len(labels) > _MOST_LEFT_OUT else "")
    return element(
        "p",
        f"Not drawn here, for want of room: {writing.count(len(labels))} more cases ({names}). "
        "The reports of their trials have the same charts.",
        class_="note",
    )


def _bars(summary: StudySummary) -> Html:
    """The main figure of each case as a bar."""
    searched = any(MAXIMUM in case.figures for case in summary.cases)
    name = MAXIMUM if searched else "event_time.p99"
    found = [
        (case_label(without_rate(case.varied) if searched else case.varied), case.figures[name])
        for case in summary.cases
        if name in case.figures
    ]
    # Cases that differ only in their share of the maximum have one search, and one bar.
    values = {label or ONLY_CASE: spread.mean for label, spread in found}
    if len(values) < 2:
        return Html("")
    longest = max(values.values()) or 1.0
    figure = FIGURES[name]
    rows = [(label, figure.write(value), _bar(value / longest)) for label, value in values.items()]
    return joined(
        (
            element("h3", f"{figure.full_label}, by case", style="margin-top:16px"),
            table((), rows, class_="numbers phases"),
        )
    )


def _bar(share: float) -> Html:
    fill = f"width:{100 * max(0.0, share):.2f}%;background:var(--series-1)"
    return element(
        "span",
        element("i", class_="fill", style=fill),
        class_="bar",
        style="height:12px",
        aria_hidden="true",
    )


def _ours(summary: StudySummary, share: str = "") -> str:
    system = capitalised(str(summary.parameters.get("system.name", "system")))
    return " ".join(filter(None, (system, share, "(ours)")))


_Cells = dict[str, dict[str, str]]
"""Row, then column."""


def _paper_table(rows: _Cells) -> Html:
    """One row per system, and a column for every setting that any of them has."""
    columns = list(dict.fromkeys(column for cells in rows.values() for column in cells))
    body = [(name, *(cells.get(column, "") for column in columns)) for name, cells in rows.items()]
    return table(("", *columns), body, class_="numbers")


def _throughput(summary: StudySummary) -> Html:
    rows: _Cells = {}
    for one in summary.published:
        if one.figure == MAXIMUM:
            system, setting = system_and_setting(one)
            note = f" ({one.note})" if one.note else ""
            rows.setdefault(system, {})[setting] = writing.count(one.value) + note
    ours = rows.setdefault(_ours(summary), {})
    for case in summary.cases:
        spread = case.figures.get(MAXIMUM)
        place = case_label(without_rate(case.varied)) or _HERE
        ours[place] = writing.count(spread.mean) if spread else "none found"
    return joined((_caption("events per second"), _paper_table(rows)))


def _latency(summary: StudySummary) -> Html:
    rows: _Cells = {}
    for case in summary.cases:
        row = _ours(summary, _share(case))
        place = case_label(without_rate(case.varied)) or _HERE
        rows.setdefault(row, {})[place] = _latency_cell(_means(case), growing=case.growing)
    for (system, setting), values in _by_setting(summary.published).items():
        rows.setdefault(system, {})[setting] = _latency_cell(values)
    caption = "event-time latency in ms: avg, min, max, (p90, p95, p99)"
    return joined((_caption(caption), _paper_table(rows)))


def _share(case: Case) -> str:
    rate = case.varied.get(RATE)
    return "" if rate in (None, SEARCH) else setting_text(rate)


def _latency_cell(values: Mapping[str, float], *, growing: bool = False) -> str:
    """Exactly as the paper writes it: `3673, 2537, 8596, (4603, 4953, 5990)`."""
    names = [f"event_time.{statistic}" for statistic in _LATENCY_CELL]
    cells = [f"{values[name]:.0f}" if name in values else writing.NOTHING for name in names]
    if growing:
        cells[0] = "growing"
    mean, least, most, *quantiles = cells
    return f"{mean}, {least}, {most}, ({', '.join(quantiles)})"


def _means(case: Case) -> dict[str, float]:
    return {name: spread.mean for name, spread in case.figures.items()}


def _by_setting(published: Iterable[Published]) -> dict[tuple[str, str], dict[str, float]]:
    found: dict[tuple[str, str], dict[str, float]] = {}
    for one in published:
        found.setdefault(system_and_setting(one), {})[one.figure] = one.value
    return found


def _two_times(summary: StudySummary) -> Html:
    rows = [
        _two_means(case_label(case.varied) or _ours(summary), _means(case), growing=case.growing)
        for case in summary.cases
    ]
    rows += [
        _two_means(", ".join(filter(None, where)), values)
        for where, values in _by_setting(summary.published).items()
        if any(name in values for name in MEAN_LATENCIES)
    ]
    head = ("mean latency", *(heading(time) for time in TIMES.values()), "event / processing")
    return table(head, rows, class_="numbers")


def _two_means(name: str, values: Mapping[str, float], *, growing: bool = False) -> tuple[str, ...]:
    if growing:
        return (name, "growing", "growing", writing.NOTHING)
    event, processing = (values.get(name) for name in MEAN_LATENCIES)
    texts = [
        writing.NOTHING if one is None else writing.duration(one) for one in (event, processing)
    ]
    ratio = f"{event / processing:.1f} ×" if event is not None and processing else writing.NOTHING
    return (name, *texts, ratio)


def _caption(text: str) -> Html:
    return element("p", text, class_="note", style="margin:0 0 8px")


_IN_FORM: dict[str, Callable[[StudySummary], Html]] = {
    "throughput": _throughput,
    "latency": _latency,
    "two-times": _two_times,
}


def _probes(summary: StudySummary) -> tuple[Html, list[Chart]]:
    """How each search went: every probe, in a chart and in a table."""
    found = study_tables.searches(summary)
    searches = found[:MOST_CHARTS]
    charts = [
        probe_chart(search.tries, number, name) for number, (name, search) in enumerate(searches, 1)
    ]
    if not searches:
        return Html(""), []
    pairs = [
        part
        for chart, (_, search) in zip(charts, searches, strict=True)
        for part in (chart_figure(chart), _probe_card(search))
    ]
    more = [name for name, _ in found[MOST_CHARTS:]]
    note = element("p", f"Not shown: the probes of {'; '.join(more)}.", class_="note")
    grid = element("div", *pairs, class_="charts")
    return element("section", element("h2", "Search"), grid, note if more else ""), charts


def _probe_card(search: Summary) -> Html:
    return element("figure", study_tables.probes(search.tries), class_="chart")
