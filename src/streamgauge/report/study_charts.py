"""The charts of a study: of its cases over time, against what is varied, and of its probes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from streamgauge.measure.figures import FIGURES
from streamgauge.measure.summary import MAXIMUM, Case, Series, StudySummary, Try
from streamgauge.report.cases import case_label, mean_of
from streamgauge.report.chart import (
    Axis,
    Band,
    Chart,
    ChartSeries,
    HorizontalAxis,
    Unit,
    over_decades,
)
from streamgauge.report.distributions import distribution_chart
from streamgauge.report.ingestion import append_charts, rate_charts
from streamgauge.report.run_charts import latency_chart, pull_chart, resource_chart
from streamgauge.report.study_tables import PROBE_MARKS
from streamgauge.report.systems import system_charts
from streamgauge.report.varied_axis import VariedAxis, varied_axis

MOST_CHARTS = 12
_LATENCY_FORMS = {
    "latency-over-time": (
        "Event-time latency",
        ("event time p50", "event time p99", "event time max"),
    ),
    "two-times": ("Event time and processing time", ("event time p50", "processing time p50")),
}
_MISSING = "the series of this trial cannot be read"
_MOST_LINES = 6
_FEWEST_PLACES = 10
"""With this many places for probes the ticks of the axis are whole numbers."""
_STEPS = 20
"""Places between two probes: so dense that no dots are drawn on the lines."""
_HALF = 0.4
"""Of the width of a probe's column."""
_PROBE_COLOURS = {"passed": 4, "failed": 6, "doubtful": 2}


class CaseCharts(NamedTuple):
    charts: list[Chart]
    left_out: list[str]
    """Labels of the cases that are not drawn."""


def case_charts(summary: StudySummary, run: Path) -> CaseCharts:
    """The charts of every case in the form of the figure; none for a form without time."""
    if summary.figure == "distributions":
        drawn = [(case, _series_of(case, summary, run)) for case in summary.cases]
        found = [(case_label(case.varied), one.histogram) for case, one in drawn if one]
        return CaseCharts([distribution_chart(found)], [])
    if summary.figure == "systems":
        drawn = [(case, _series_of(case, summary, run)) for case in summary.cases]
        charts = system_charts([(case, series) for case, series in drawn if series is not None])
        return CaseCharts(charts[:MOST_CHARTS], [chart.title for chart in charts[MOST_CHARTS:]])
    if summary.figure in ("ingestion", "append-times"):
        return _of_the_broker(summary, run)
    per_case = len(_charts_of(summary.figure, Series()))
    most_cases = MOST_CHARTS // per_case if per_case else 0
    charts = []
    for number, case in enumerate(summary.cases[:most_cases], 1):
        series = _series_of(case, summary, run)
        label = case_label(case.varied)
        for chart in _charts_of(summary.figure, series or Series()):
            changes = {
                "id": f"{chart.id}-{number}",
                "title": f"{chart.title}: {label}" if label else chart.title,
                "wide": per_case == len(summary.cases) == 1,
                "empty": _MISSING if series is None else chart.empty,
            }
            charts.append(chart.model_copy(update=changes))
    left_out = summary.cases[most_cases:] if per_case else []
    return CaseCharts(charts, [case_label(case.varied) for case in left_out])


def _of_the_broker(summary: StudySummary, run: Path) -> CaseCharts:
    drawn = [(case, _series_of(case, summary, run)) for case in summary.cases]
    found = [(case, series) for case, series in drawn if series is not None]
    if summary.figure == "ingestion":
        return CaseCharts(rate_charts(summary, found), [])
    most = MOST_CHARTS // 2
    left_out = [case_label(case.varied) for case, _ in found[most:]]
    return CaseCharts(append_charts(found[:most]), left_out)


def _charts_of(form: str, series: Series) -> list[Chart]:
    if form == "resources":
        return [resource_chart(series, "cpu"), resource_chart(series, "network")]
    if form == "pull":
        return [pull_chart(series)]
    if form not in _LATENCY_FORMS:
        return []
    title, labels = _LATENCY_FORMS[form]
    chart = latency_chart(series)
    lines = [line for line in chart.series if line.label in labels]
    return [chart.model_copy(update={"series": lines, "title": title})]


def _series_of(case: Case, summary: StudySummary, run: Path) -> Series | None:
    """Of the first trial that has one."""
    for trial in (summary.trials[index] for index in case.trials):
        try:
            return Series.model_validate_json((run / trial.run / "series.json").read_bytes())
        except (OSError, ValueError):
            continue
    return None


def against_varied(summary: StudySummary) -> list[Chart]:
    """The main figures against a setting that is a number; none where no setting is one."""
    axis = varied_axis([case.varied for case in summary.cases])
    if axis is None:
        return []
    if any(MAXIMUM in case.figures for case in summary.cases):
        title = "Maximum sustainable throughput"
        return [_against(summary.cases, axis, "maximum", title, "per_s", MAXIMUM)]
    if any("recovery.reload_ms" in case.figures for case in summary.cases):
        parts = ("recovery.reload_ms", "recovery.replay_ms")
        whole = ("recovery.recovery_ms", "recovery.outage_ms")
        return [
            _against(summary.cases, axis, "recovery", "Reload and replay", "ms", *parts),
            _against(summary.cases, axis, "outage", "Recovery and outage", "ms", *whole),
        ]
    latencies, rates = ("event_time.p50", "event_time.p99"), ("drained_per_s", "offered_per_s")
    return [
        _against(summary.cases, axis, "latency", "Event-time latency", "ms", *latencies),
        _against(summary.cases, axis, "rates", "Throughput", "per_s", *rates),
    ]


def _against(
    cases: Sequence[Case], axis: VariedAxis, name: str, title: str, unit: Unit, *figures: str
) -> Chart:
    lines: dict[str, dict[float, Case]] = {}
    for case in cases:
        others = {key: value for key, value in case.varied.items() if key != axis.key}
        lines.setdefault(case_label(others), {})[axis.place_of(case.varied)] = case
    series = [
        ChartSeries(
            label=", ".join(filter(None, (FIGURES[figure].full_label, others))),
            values=[mean_of(by_place.get(at), figure) for at in axis.places],
            colour=1 + line if len(lines) > 1 else 1 + 2 * number,
            dashed=number > 0,
        )
        for line, (others, by_place) in enumerate(list(lines.items())[:_MOST_LINES])
        for number, figure in enumerate(figures)
    ]
    series = [line for line in series if any(line.values)]
    drawn = f", the first {_MOST_LINES} of {len(lines)} lines" if len(lines) > _MOST_LINES else ""
    return Chart(
        id=f"{name}-by-case",
        title=title + drawn,
        definition="Mean over the trials of each case.",
        x=axis.axis,
        axes=[rate_axis(title.lower(), unit, series)],
        series=series,
        group="cases",
        wide=len(figures) == 1,
    )


def rate_axis(label: str, unit: Unit, series: Sequence[ChartSeries]) -> Axis:
    """Rates over decades have a log axis."""
    log = unit == "per_s" and over_decades(value for one in series for value in one.values)
    return Axis(label=f"{label} (log scale)" if log else label, unit=unit, log=log)


def probe_chart(tries: Sequence[Try], number: int, label: str) -> Chart:
    """The rate of every probe of a search, and how the bracket closes.

    A probe is a column with its mark above it. A saturation probe offers far more than the system
    drains, so its column is what was drained.
    """
    places = [step / _STEPS for step in range(_STEPS * (max(_FEWEST_PLACES, len(tries)) + 1))]
    saturated = [one.drained_per_s if one.kind == "saturate" else None for one in tries]
    rates = {
        verdict: [
            one.rate_per_s if one.kind != "saturate" and one.verdict == verdict else None
            for one in tries
        ]
        for verdict in PROBE_MARKS
    }
    highest, lowest = _so_far(rates["passed"], max), _so_far(rates["failed"], min)
    lines = [
        *(
            _probe_line(f"{mark} {verdict}", rates[verdict], _PROBE_COLOURS[verdict], places)
            for verdict, mark in PROBE_MARKS.items()
        ),
        _probe_line("drained when saturated", saturated, 1, places),
        _probe_line("highest passed", highest, _PROBE_COLOURS["passed"], places, columns=False),
        _probe_line("lowest failed", lowest, _PROBE_COLOURS["failed"], places, columns=False),
    ]
    return Chart(
        id=f"probes-{number}",
        title=f"Probes: {label}" if label else "Probes",
        definition="The rate of every probe of the search and its outcome; the lines are the "
        "bracket: the highest rate that had passed and the lowest that had failed.",
        x=HorizontalAxis(label="probe", unit="results", values=places),
        axes=[Axis(label="events per second", unit="per_s")],
        series=[line for line in lines if any(line.values)],
        bands=[
            Band(start=at - _HALF, end=at + _HALF, label=PROBE_MARKS.get(one.verdict, "?"))
            for at, one in enumerate(tries, 1)
        ],
        empty="no probe was made",
    )


def _probe_line(
    label: str,
    values: Sequence[float | None],
    colour: int,
    places: Sequence[float],
    *,
    columns: bool = True,
) -> ChartSeries:
    """At each place the value of the nearest probe, as columns or as a dashed line."""
    drawn: list[float | None] = []
    for at in places:
        probe = math.floor(at + 0.5)
        is_drawn = 0 < probe <= len(values) and not (columns and abs(at - probe) > _HALF)
        drawn.append(values[probe - 1] if is_drawn else None)
    return ChartSeries(
        label=label,
        values=drawn,
        colour=colour,
        style="area" if columns else "line",
        dashed=not columns,
    )


def _so_far(rates: Sequence[float | None], best: Callable[..., float]) -> list[float | None]:
    """The best of the rates up to each probe."""
    known = [[rate for rate in rates[:end] if rate is not None] for end in range(1, len(rates) + 1)]
    return [best(found) if found else None for found in known]
