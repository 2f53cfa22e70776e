"""The charts of one run, composed from its series."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from statistics import median
from typing import Literal

from streamgauge.measure.summary import Histogram, LatencySeries, ResourceSeries, Series
from streamgauge.report.chart import Axis, Band, Chart, ChartSeries, HorizontalAxis, Unit, aligned

_TIME = "time since the load started"
_NO_RESULTS = "no results arrived"
_ROLE_COLOURS = {"system": 1, "driver": 2, "sink": 4}
_SPARE_COLOURS = (3, 6, 5)


def load_charts(series: Series) -> list[Chart]:
    """What the load did: latency, its histogram, and the queues."""
    warm_up = _warm_up(series)
    return [_latency(series, warm_up), _histogram(series.histogram), _pull(series, warm_up)]


def resource_charts(series: Series) -> list[Chart]:
    """What each role used."""
    cpu = _resource(
        series,
        chart_id="cpu",
        title="CPU",
        definition="CPU use of each role over time; 100 % is one core.",
        axis=Axis(id="cpu", label="% of one core", unit="percent"),
    )
    memory = _resource(
        series,
        chart_id="memory",
        title="Memory",
        definition="Memory in use by each role over time.",
        axis=Axis(id="memory", label="memory", unit="mb"),
    )
    return [cpu, memory]


def _warm_up(series: Series) -> list[Band]:
    return [Band(start=0, end=series.warm_up_s, label="warm-up")] if series.warm_up_s else []


def _time_axis(time_s: Sequence[float]) -> HorizontalAxis:
    return HorizontalAxis(label=_TIME, unit="s", values=[round(at, 3) for at in time_s])


def _latency(series: Series, bands: list[Band]) -> Chart:
    latency = series.latency
    at = _drawn_rows(latency)
    times = [latency.time_s[row] for row in at]
    lines = (
        ("event time p50", latency.event_time_p50, 1, False, False),
        ("event time p99", latency.event_time_p99, 3, False, False),
        ("event time max", latency.event_time_max, 5, False, True),
        ("processing time p50", latency.processing_time_p50, 4, False, False),
        ("processing time p99", latency.processing_time_p99, 4, True, False),
    )
    return Chart(
        id="latency",
        title="Latency over time",
        definition="Latency of the results, by the second of their event time.",
        x=_time_axis(times),
        axes=[Axis(id="latency", label="latency", unit="ms")],
        series=[
            ChartSeries(
                label=label,
                axis="latency",
                values=aligned(
                    [value for row in at for value in values[row : row + 1]], len(times)
                ),
                colour=colour,
                dashed=dashed,
                thin=thin,
            )
            for label, values, colour, dashed, thin in lines
        ],
        bands=bands,
        group="time",
        empty=_NO_RESULTS,
    )


def _drawn_rows(latency: LatencySeries) -> list[int]:
    """Seconds with results, and one second of every stretch in which results failed to come.

    A window that slides by 4 s has results in every fourth second only: its line must not fall
    to pieces, and a line must not be drawn over a pause.
    """
    columns = (latency.event_time_p50, latency.event_time_p99, latency.event_time_max)
    filled = [
        row
        for row in range(len(latency.time_s))
        if any(column[row : row + 1] not in ([], [None]) for column in columns)
    ]
    steps = [later - row for row, later in pairwise(filled)]
    if not steps:
        return filled
    usual = median(steps)
    pauses = [row + 1 for row, step in zip(filled, steps, strict=False) if step > 2.5 * usual]
    return sorted(filled + pauses)


def _histogram(histogram: Histogram) -> Chart:
    edges, first, last = _filled_part(histogram)
    log = bool(edges) and edges[0] > 0
    middles = [(low * high) ** 0.5 if log else (low + high) / 2 for low, high in pairwise(edges)]
    kinds = (
        ("event time", histogram.event_time, 1),
        ("processing time", histogram.processing_time, 4),
    )
    return Chart(
        id="histogram",
        title="Latency histogram",
        definition="How many results after the warm-up had which latency.",
        x=HorizontalAxis(
            label="latency (log scale)" if log else "latency",
            unit="ms",
            values=middles,
            edges=edges,
            log=log,
        ),
        axes=[Axis(id="results", label="results", unit="results")],
        series=[
            ChartSeries(
                label=label,
                axis="results",
                values=aligned(counts[first:last], len(middles)),
                colour=colour,
                style="bars",
            )
            for label, counts, colour in kinds
        ],
        empty=_NO_RESULTS,
    )


def _filled_part(histogram: Histogram) -> tuple[list[float], int, int]:
    """The edges around the counts that are not zero, and the range of those counts.

    On a log axis a first edge of zero has no place: it is drawn as far from the second edge as
    the second is from the third.
    """
    bars = max(0, len(histogram.edges_ms) - 1)
    counts = [
        index
        for index in range(bars)
        if any(kind[index : index + 1] not in ([], [0]) for kind in _kinds(histogram))
    ]
    if not counts:
        return [], 0, 0
    first, last = counts[0], counts[-1] + 1
    edges = histogram.edges_ms[first : last + 1]
    if edges[0] == 0:
        growth = edges[2] / edges[1] if len(edges) > 2 else 2.0
        edges = [edges[1] / growth, *edges[1:]]
    return edges, first, last


def _kinds(histogram: Histogram) -> tuple[list[int], list[int]]:
    return histogram.event_time, histogram.processing_time


def _pull(series: Series, bands: list[Band]) -> Chart:
    pull = series.pull
    drained = _mean_over_a_second(pull.time_s, pull.drained_per_s)
    offered = _mean_over_a_second(pull.time_s, pull.offered_per_s)
    lines: tuple[tuple[str, str, list[float], int, Literal["line", "area"]], ...] = (
        ("queued", "events", pull.queued, 5, "area"),
        ("drained", "rate", drained, 1, "line"),
        ("offered", "rate", offered, 2, "line"),
    )
    return Chart(
        id="pull",
        title="Offered, drained and queued",
        definition="What the driver offered, what the system pulled (both as means over the last "
        "second) and what waited between them, all driver instances together.",
        x=_time_axis(pull.time_s),
        axes=[
            Axis(id="rate", label="events per second", unit="per_s"),
            Axis(id="events", label="events queued", unit="events", side="right"),
        ],
        series=[
            ChartSeries(
                label=label,
                axis=axis,
                values=aligned(values, len(pull.time_s)),
                colour=colour,
                style=style,
            )
            for label, axis, values, colour, style in lines
        ],
        bands=bands,
        group="time",
        wide=True,
    )


def _mean_over_a_second(time_s: Sequence[float], values: Sequence[float]) -> list[float]:
    """The mean of the last second at every sample.

    A system that pulls once per micro-batch takes everything in one sample: its spikes would
    press the offered rate flat against the axis.
    """
    length = min(len(time_s), len(values))
    first, last = (time_s[0], time_s[length - 1]) if length else (0.0, 0.0)
    window = max(1, round((length - 1) / (last - first))) if last > first else 1
    sums = [0.0, *accumulate(values)]
    return [
        (sums[index + 1] - sums[max(0, index + 1 - window)]) / min(window, index + 1)
        for index in range(length)
    ]


def _resource(series: Series, *, chart_id: str, title: str, definition: str, axis: Axis) -> Chart:
    resources = series.resources
    spare = iter(_SPARE_COLOURS * len(resources.roles))
    return Chart(
        id=chart_id,
        title=title,
        definition=definition,
        x=_time_axis(resources.time_s),
        axes=[axis],
        series=[
            ChartSeries(
                label=role,
                axis=axis.id,
                values=aligned(_measured(use, axis.unit), len(resources.time_s)),
                colour=_ROLE_COLOURS.get(role) or next(spare),
            )
            for role, use in resources.roles.items()
        ],
        bands=_warm_up(series),
        group="time",
    )


def _measured(use: ResourceSeries, unit: Unit) -> list[float]:
    return use.cpu_percent if unit == "percent" else use.memory_mb
