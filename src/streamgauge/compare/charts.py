"""The charts of a comparison: latency over time of single runs, figures over what is varied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streamgauge.compare.comparison import Comparison, Pair
from streamgauge.measure.figures import FIGURES, Figure
from streamgauge.measure.summary import MAXIMUM, Series
from streamgauge.measure.unit import Unit
from streamgauge.report.chart import Axis, Chart, ChartSeries
from streamgauge.report.run_charts import NO_RESULTS, over_time
from streamgauge.report.study_charts import rate_axis
from streamgauge.report.varied_axis import VariedAxis, varied_axis

_COLOURS = (1, 2, 3, 4, 6)
"""Of the base, then of the others in turn."""
_OVER_VARIED = (MAXIMUM, "drained_per_s", "event_time.p99")


def comparison_charts(comparison: Comparison, series: Mapping[str, Series]) -> list[Chart]:
    """The charts of a comparison; `series` are those of the runs by their names."""
    labels = (comparison.base.label, *(pair.other.label for pair in comparison.pairs))
    drawn = {
        label: series[label] for label in labels if label in series and series[label].latency.time_s
    }
    latencies = [_latency(drawn, quantile) for quantile in ("p50", "p99")] if drawn else []
    return [*latencies, *_over_varied(comparison)]


def _lines(values: Sequence[tuple[str, list[float | None]]]) -> list[ChartSeries]:
    return [
        ChartSeries(label=label, values=line, colour=_COLOURS[number % len(_COLOURS)])
        for number, (label, line) in enumerate(values)
    ]


def _latency(runs: Mapping[str, Series], quantile: str) -> Chart:
    by_run: dict[str, dict[float, float]] = {}
    for label, series in runs.items():
        column = getattr(series.latency, f"event_time_{quantile}")
        found = zip(series.latency.time_s, column, strict=False)
        by_run[label] = {at: value for at, value in found if value is not None}
    # Seconds in which no window ended are left out: they would break the lines.
    times = sorted({at for known in by_run.values() for at in known})
    return Chart(
        id=f"latency-{quantile}",
        title=f"Event-time latency over time, {quantile}",
        definition=f"{quantile} of the latency of the results, by the second of their event time.",
        axes=[Axis(label="latency", unit="ms")],
        series=_lines(
            [(label, [known.get(at) for at in times]) for label, known in by_run.items()]
        ),
        empty=NO_RESULTS,
        **over_time(times, max(series.warm_up_s for series in runs.values())),
    )


def _over_varied(comparison: Comparison) -> list[Chart]:
    """One chart per figure for sweeps of one parameter whose values are numbers."""
    cases = [case.varied for pair in comparison.pairs for case in pair.cases]
    keys = {tuple(varied) for varied in cases}
    axis = varied_axis(cases) if len(keys) == 1 and len(keys.pop()) == 1 else None
    if axis is None:
        return []
    charts = [_figure_over(comparison, FIGURES[name], axis) for name in _OVER_VARIED]
    return [chart for chart in charts if chart.has_points]


def _figure_over(comparison: Comparison, figure: Figure, axis: VariedAxis) -> Chart:
    def line(pairs: Sequence[Pair], side: str) -> list[float | None]:
        found: dict[float, float] = {}
        for case in (case for pair in pairs for case in pair.cases):
            value = getattr(case.change(figure.name), side, None)
            if value is not None:
                found[axis.place_of(case.varied)] = value.mean
        return [found.get(at) for at in axis.places]

    lines = [(comparison.base.label, line(comparison.pairs, "base"))]
    lines += [(pair.other.label, line([pair], "other")) for pair in comparison.pairs]
    series = _lines(lines)
    return Chart(
        id=f"over-{figure.name}",
        title=f"{figure.label} over {axis.key}",
        definition=f"{figure.definition} Means of the repetitions of each case.",
        x=axis.axis,
        axes=[rate_axis(figure.label, "ms" if figure.unit is Unit.MS else "per_s", series)],
        series=series,
    )
