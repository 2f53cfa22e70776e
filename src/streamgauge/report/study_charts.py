"""The charts of a study: of its cases over time, against what is varied, and of its probes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from streamgauge.measure.figures import FIGURES
from streamgauge.measure.summary import MAXIMUM, Case, Series, StudySummary, Try
from streamgauge.report.cases import case_label
from streamgauge.report.chart import Axis, Band, Chart, ChartSeries, HorizontalAxis, Unit, aligned
from streamgauge.report.run_charts import load_charts, resource_charts
from streamgauge.report.study_tables import PROBE_MARKS
from streamgauge.report.varied_axis import VariedAxis, varied_axis

MOST_CHARTS = 12
EVENT_TIME = ("event time p50", "event time p99", "event time max")
TWO_TIMES = ("event time p50", "processing time p50")
_MISSING = "the series of this trial cannot be read"
_MOST_LINES = 6
_FEWEST_PLACES = 10
"""So many places for probes make the ticks of the axis whole numbers."""
_STEPS = 20
"""Places between two probes: so dense that no dots are drawn on the lines."""
_HALF = 0.4
"""Of the width of a probe's column."""
_PROBE_COLOURS = {"passed": 4, "failed": 6, "doubtful": 2}


@dataclass(frozen=True)
class CaseCharts:
    """What is drawn of the cases, and the labels of those for which there was no room."""

    charts: list[Chart]
    left_out: list[str]


def case_charts(summary: StudySummary, run: Path) -> CaseCharts:
    """The charts of every case in the form of the figure; none for a form without time."""
    charts_of = _FORMS.get(summary.figure)
    if charts_of is None:
        return CaseCharts([], [])
    room = MOST_CHARTS // len(charts_of(Series()))
    charts: list[Chart] = []
    for number, case in enumerate(summary.cases[:room], 1):
        series = _series_of(case, summary, run)
        for chart in charts_of(series or Series()):
            charts.append(_of_case(chart, number, case_label(case.varied), missing=series is None))
    if len(charts) == 1:
        charts = [charts[0].model_copy(update={"wide": True})]
    return CaseCharts(charts, [case_label(case.varied) for case in summary.cases[room:]])


def _series_of(case: Case, summary: StudySummary, run: Path) -> Series | None:
    """Of the first trial that has one."""
    for place in (summary.trials[index].run for index in case.trials):
        if not place:
            continue
        try:
            return Series.model_validate_json((run / place / "series.json").read_bytes())
        except (OSError, ValueError):
            continue
    return None


def _of_case(chart: Chart, number: int, label: str, *, missing: bool) -> Chart:
    return chart.model_copy(
        update={
            "id": f"{chart.id}-{number}",
            "title": f"{chart.title}: {label}" if label else chart.title,
            "wide": False,
            "empty": _MISSING if missing else chart.empty,
        }
    )


def _drawn_of_load(series: Series, chart_id: str) -> Chart:
    return next(chart for chart in load_charts(series) if chart.id == chart_id)


def _only(chart: Chart, labels: Sequence[str], title: str) -> Chart:
    lines = [line for line in chart.series if line.label in labels]
    return chart.model_copy(update={"series": lines, "title": title})


def _latency(series: Series) -> list[Chart]:
    return [_only(_drawn_of_load(series, "latency"), EVENT_TIME, "Event-time latency")]


def _two_times(series: Series) -> list[Chart]:
    title = "Event time and processing time"
    return [_only(_drawn_of_load(series, "latency"), TWO_TIMES, title)]


def _pull(series: Series) -> list[Chart]:
    return [_drawn_of_load(series, "pull")]


def _resources(series: Series) -> list[Chart]:
    cpu = next(chart for chart in resource_charts(series) if chart.id == "cpu")
    lines = [
        line.model_copy(
            update={
                "axis": "network",
                "values": aligned(
                    series.resources.roles[line.label].network_mb_per_s, len(cpu.x.values)
                ),
            }
        )
        for line in cpu.series
    ]
    network = cpu.model_copy(
        update={
            "id": "network",
            "title": "Network",
            "definition": "Sent and received per second, by each role or node.",
            "axes": [Axis(id="network", label="MB per second", unit="mb")],
            "series": lines,
        }
    )
    return [_with_dashes(cpu), _with_dashes(network)]


def _with_dashes(chart: Chart) -> Chart:
    """A cluster has more nodes than there are colours: a repeated colour is a dashed line."""
    seen: set[int] = set()
    lines = []
    for line in chart.series:
        lines.append(line.model_copy(update={"dashed": line.colour in seen}))
        seen.add(line.colour)
    return chart.model_copy(update={"series": lines})


_FORMS: dict[str, Callable[[Series], list[Chart]]] = {
    "latency-over-time": _latency,
    "two-times": _two_times,
    "resources": _resources,
    "pull": _pull,
}


def against_varied(summary: StudySummary) -> list[Chart]:
    """The main figures against a setting that is a number; none where no setting is one."""
    axis = varied_axis([case.varied for case in summary.cases])
    if axis is None:
        return []
    plots: list[tuple[str, str, Unit, list[str]]]
    if any(MAXIMUM in case.figures for case in summary.cases):
        plots = [("maximum", "Maximum sustainable throughput", "per_s", [MAXIMUM])]
    else:
        latencies = ["event_time.p50", "event_time.p99"]
        plots = [
            ("latency", "Event-time latency", "ms", latencies),
            ("rates", "Throughput", "per_s", ["drained_per_s", "offered_per_s"]),
        ]
    return [
        _against(summary.cases, axis, f"{name}-by-case", title, unit, figures)
        for name, title, unit, figures in plots
    ]


def _against(
    cases: Sequence[Case],
    axis: VariedAxis,
    chart_id: str,
    title: str,
    unit: Unit,
    figures: list[str],
) -> Chart:
    xs = axis.places
    lines: dict[str, dict[float, Case]] = {}
    for case in cases:
        others = {key: value for key, value in case.varied.items() if key != axis.key}
        lines.setdefault(case_label(others), {})[axis.place_of(case.varied)] = case
    series = [
        ChartSeries(
            label=", ".join(filter(None, (FIGURES[name].full_label, others))),
            axis="figure",
            values=aligned([_mean(by_place.get(at), name) for at in xs], len(xs)),
            colour=1 + line if len(lines) > 1 else 1 + 2 * number,
            dashed=number > 0,
        )
        for line, (others, by_place) in enumerate(list(lines.items())[:_MOST_LINES])
        for number, name in enumerate(figures)
    ]
    beyond = len(lines) - _MOST_LINES
    return Chart(
        id=chart_id,
        title=f"{title}, the first {_MOST_LINES} of {len(lines)} lines" if beyond > 0 else title,
        definition="Mean over the trials of each case.",
        x=HorizontalAxis(label=axis.key, unit=axis.unit, values=xs),
        axes=[Axis(id="figure", label=title.lower(), unit=unit)],
        series=series,
        group="cases",
        wide=len(figures) == 1,
    )


def _mean(case: Case | None, name: str) -> float | None:
    spread = case.figures.get(name) if case else None
    return spread.mean if spread else None


def probe_chart(tries: Sequence[Try], number: int, label: str) -> Chart:
    """The rates that a search tried, one after the other, and how the bracket closes.

    A probe is a column with its mark above it. A saturation probe offers far more than the system
    drains, so its column is what was drained.
    """
    places = [step / _STEPS for step in range(_STEPS * (max(_FEWEST_PLACES, len(tries)) + 1))]
    narrowing = [None if one.kind == "saturate" else one for one in tries]
    columns = [
        _columns(
            f"{mark} {verdict}",
            [one.rate_per_s if one and one.verdict == verdict else None for one in narrowing],
            _PROBE_COLOURS[verdict],
            places,
        )
        for verdict, mark in PROBE_MARKS.items()
    ]
    drained = [one.drained_per_s if one.kind == "saturate" else None for one in tries]
    columns.append(_columns("drained when saturated", drained, 1, places))
    bracket = [
        _held("highest passed", _so_far(narrowing, "passed", max), 4, places),
        _held("lowest failed", _so_far(narrowing, "failed", min), 6, places),
    ]
    return Chart(
        id=f"probes-{number}",
        title=f"Probes: {label}" if label else "Probes",
        definition="The rate of every probe of the search and its outcome; the lines are the "
        "bracket: the highest rate that had passed and the lowest that had failed.",
        x=HorizontalAxis(label="probe", unit="results", values=places),
        axes=[Axis(id="rate", label="events per second", unit="per_s")],
        series=[line for line in (*columns, *bracket) if any(line.values)],
        bands=[
            Band(start=at - _HALF, end=at + _HALF, label=PROBE_MARKS.get(one.verdict, "?"))
            for at, one in enumerate(tries, 1)
        ],
        empty="nothing was tried",
    )


def _columns(
    label: str, values: Sequence[float | None], colour: int, places: Sequence[float]
) -> ChartSeries:
    beside = [abs(at - round(at)) <= _HALF for at in places]
    drawn = [
        value if near else None
        for value, near in zip(_by_place(values, places), beside, strict=True)
    ]
    return ChartSeries(
        label=label,
        axis="rate",
        values=aligned(drawn, len(places)),
        colour=colour,
        style="area",
    )


def _held(
    label: str, values: Sequence[float | None], colour: int, places: Sequence[float]
) -> ChartSeries:
    return ChartSeries(
        label=label,
        axis="rate",
        values=aligned(_by_place(values, places), len(places)),
        colour=colour,
        dashed=True,
    )


def _by_place(values: Sequence[float | None], places: Sequence[float]) -> list[float | None]:
    """The value of the probe nearest to each place; the first probe is 1."""
    numbers = [math.floor(at + 0.5) for at in places]
    return [values[number - 1] if 0 < number <= len(values) else None for number in numbers]


def _so_far(
    tries: Iterable[Try | None], verdict: str, better: Callable[[float, float], float]
) -> list[float | None]:
    rates = (one.rate_per_s if one and one.verdict == verdict else None for one in tries)

    def best(held: float | None, new: float | None) -> float | None:
        return held if new is None else new if held is None else better(held, new)

    return list(accumulate(rates, best))
