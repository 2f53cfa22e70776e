"""The charts of a comparison: latency over time of single runs, figures over what is varied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streamgauge.compare.comparison import Comparison, Pair
from streamgauge.measure.figures import FIGURES, Figure
from streamgauge.measure.summary import MAXIMUM, Series
from streamgauge.measure.unit import Unit as FigureUnit
from streamgauge.report.chart import Axis, Band, Chart, ChartSeries, HorizontalAxis, Unit, aligned
from streamgauge.report.varied_axis import VariedAxis, varied_axis

_COLOURS = (1, 2, 3, 4, 6)
"""Of the base, then of the others in turn."""
_OVER_VARIED = (MAXIMUM, "drained_per_s", "event_time.p99")


def comparison_charts(comparison: Comparison, series: Mapping[str, Series]) -> list[Chart]:
    """What can be drawn; `series` are those of the runs by their names."""
    drawn = [
        (label, series[label])
        for label in (comparison.base.label, *(pair.other.label for pair in comparison.pairs))
        if label in series and series[label].latency.time_s
    ]
    over_time = [_over_time(drawn, quantile) for quantile in ("p50", "p99")] if drawn else []
    return [*over_time, *_over_varied(comparison)]


def _over_time(runs: Sequence[tuple[str, Series]], quantile: str) -> Chart:
    times = sorted({at for _, series in runs for at in series.latency.time_s})
    lines = []
    for number, (label, series) in enumerate(runs):
        column: list[float | None] = getattr(series.latency, f"event_time_{quantile}")
        known = dict(zip(series.latency.time_s, column, strict=False))
        lines.append((label, _colour(number), [known.get(at) for at in times]))
    # Seconds in which no window ended would tear the lines to pieces.
    kept = [
        row for row in range(len(times)) if any(values[row] is not None for *_, values in lines)
    ]
    warm_up = max(series.warm_up_s for _, series in runs)
    return Chart(
        id=f"latency-{quantile}",
        title=f"Event-time latency over time, {quantile}",
        definition=f"{quantile} of the latency of the results, by the second of their event time.",
        x=HorizontalAxis(
            label="time since the load started",
            unit="s",
            values=[round(times[row], 3) for row in kept],
        ),
        axes=[Axis(id="latency", label="latency", unit="ms")],
        series=[
            ChartSeries(
                label=label,
                axis="latency",
                values=aligned([values[row] for row in kept], len(kept)),
                colour=colour,
            )
            for label, colour, values in lines
        ],
        bands=[Band(start=0, end=warm_up, label="warm-up")] if warm_up else [],
        group="time",
        empty="no results arrived",
    )


def _over_varied(comparison: Comparison) -> list[Chart]:
    """One chart per figure for sweeps of one parameter whose values are numbers."""
    cases = [case for pair in comparison.pairs for case in pair.cases]
    keys = {tuple(case.varied) for case in cases}
    if len(keys) != 1 or any(len(one) != 1 for one in keys):
        return []
    axis = varied_axis([case.varied for case in cases])
    if axis is None:
        return []
    charts = [_figure_over(comparison, FIGURES[name], axis) for name in _OVER_VARIED]
    return [chart for chart in charts if chart.has_points]


def _figure_over(comparison: Comparison, figure: Figure, axis: VariedAxis) -> Chart:
    places = axis.places

    def line(pairs: Sequence[Pair], side: str) -> list[float | None]:
        found: dict[float, float] = {}
        for case in (case for pair in pairs for case in pair.cases):
            change = case.change(figure.name)
            value = getattr(change, side) if change else None
            if value is not None:
                found[axis.place_of(case.varied)] = value.mean
        return aligned([found.get(at) for at in places], len(places))

    lines = [(comparison.base.label, line(comparison.pairs, "base"))]
    lines += [(pair.other.label, line([pair], "other")) for pair in comparison.pairs]
    unit: Unit = "ms" if figure.unit is FigureUnit.MS else "per_s"
    return Chart(
        id=f"over-{figure.name}",
        title=f"{figure.label} over {axis.key}",
        definition=f"{figure.definition} Means of the repetitions of each case.",
        x=HorizontalAxis(label=axis.key, unit=axis.unit, values=places),
        axes=[Axis(id="figure", label=figure.label, unit=unit)],
        series=[
            ChartSeries(label=label, axis="figure", values=values, colour=_colour(number))
            for number, (label, values) in enumerate(lines)
        ],
    )


def _colour(number: int) -> int:
    return _COLOURS[number % len(_COLOURS)]
