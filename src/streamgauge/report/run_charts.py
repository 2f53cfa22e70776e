"""The charts of one run, composed from its series."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from statistics import median
from typing import Any, Literal

from streamgauge import writing
from streamgauge.measure.summary import Histogram, LatencySeries, Series
from streamgauge.report.chart import Axis, Band, Chart, ChartSeries, HorizontalAxis
from streamgauge.report.paradigms import operation_stream_bands, paradigm_charts

NO_RESULTS = "no results arrived"
ONLY_WARM_UP = "all results arrived in the warm-up, which is not counted"
_LEAST_DRAWN_MS = 0.1
"""A logarithmic axis has no 0, which a broker whose clock counts milliseconds often shows."""
_ROLE_COLOURS = {"system": 1, "driver": 2, "sink": 4}
_SPARE_COLOURS = (3, 6, 5)
_RESOURCES = {
    "cpu": (
        "CPU",
        "CPU use of each role over time; 100 % is one core.",
        Axis(label="% of one core", unit="percent"),
        "cpu_percent",
    ),
    "memory": (
        "Memory",
        "Memory in use by each role over time.",
        Axis(label="memory", unit="mb"),
        "memory_mb",
    ),
    "network": (
        "Network",
        "Sent and received per second, by each role or node.",
        Axis(label="MB per second", unit="mb"),
        "network_mb_per_s",
    ),
}
"""Title, definition, axis, and the field of `ResourceSeries`."""


def load_charts(series: Series) -> list[Chart]:
    charts = [latency_chart(series), _histogram(series), pull_chart(series)]
    charts += paradigm_charts(series)
    # A run of an earlier version has no single latencies.
    return [*charts, singles_chart(series)] if series.singles.time_s else charts


def resource_charts(series: Series) -> list[Chart]:
    return [resource_chart(series, "cpu"), resource_chart(series, "memory")]


def over_time(
    time_s: Sequence[float], warm_up_s: float, bands: Sequence[Band] = ()
) -> dict[str, Any]:
    """What all charts over time have in common."""
    values = [round(at, 3) for at in time_s]
    return {
        "x": HorizontalAxis(label="time since the load started", unit="s", values=values),
        "bands": [
            *([Band(start=0, end=warm_up_s, label="warm-up")] if warm_up_s else []),
            *bands,
        ],
        "group": "time",
    }


def _over_the_load(time_s: Sequence[float], series: Series) -> dict[str, Any]:
    faults = [Band(start=one.start_s, end=one.end_s, label=one.label) for one in series.faults]
    bands = [*operation_stream_bands(series.paradigms), *faults]
    return over_time(time_s, series.warm_up_s, bands)


def latency_chart(series: Series) -> Chart:
    latency = series.latency
    rows = _drawn_rows(latency)

    def line(name: str, colour: int, *, dashed: bool = False, thin: bool = False) -> ChartSeries:
        column: list[float | None] = getattr(latency, name.replace(" ", "_"))
        values = [column[row] if row < len(column) else None for row in rows]
        return ChartSeries(label=name, values=values, colour=colour, dashed=dashed, thin=thin)

    return Chart(
        id="latency",
        title="Latency over time",
        definition="Latency of the results, by the second of their event time.",
        axes=[Axis(label="latency", unit="ms")],
        series=[
            line("event time p50", 1),
            line("event time p99", 3),
            line("event time max", 5, thin=True),
            line("processing time p50", 4),
            line("processing time p99", 4, dashed=True),
        ],
        empty=NO_RESULTS,
        **_over_the_load([latency.time_s[row] for row in rows], series),
    )


def singles_chart(series: Series) -> Chart:
    """Every point a result; a logarithmic axis shows quick and slow ones alike."""
    singles = series.singles
    shown, count, every = map(
        writing.count, (len(singles.latency_ms), singles.count, singles.every)
    )
    text = f"{shown} of {count} results, one in {every}"
    if singles.every == 1:
        text = f"All {shown} results"
    return Chart(
        id="singles",
        title="Single latencies",
        definition="Event-time latency of single results, by the time of their input.",
        axes=[Axis(label="latency", unit="ms", log=True)],
        series=[
            ChartSeries(
                label="event time",
                values=[max(value, _LEAST_DRAWN_MS) for value in singles.latency_ms],
                colour=1,
                style="points",
            )
        ],
        note=f"{text} in the order of their input; latencies.parquet has them all. Latencies below "
        f"{_LEAST_DRAWN_MS:g} ms are drawn there.",
        wide=True,
        **_over_the_load(singles.time_s, series),
    )


def _drawn_rows(latency: LatencySeries) -> list[int]:
    """Seconds with results, and one second of every pause in the results.

    A window that slides by 4 s has results in every fourth second only: its line must not be
    broken, and no line may be drawn over a pause.
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


def _histogram(series: Series) -> Chart:
    histogram = series.histogram
    edges, drawn = _filled_part(histogram)
    log = bool(edges) and edges[0] > 0
    middles = [(low * high) ** 0.5 if log else (low + high) / 2 for low, high in pairwise(edges)]

    def bars(label: str, counts: Sequence[int], colour: int) -> ChartSeries:
        return ChartSeries(label=label, values=counts[drawn], colour=colour, style="bars")

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
        axes=[Axis(label="results", unit="results")],
        series=[
            bars("event time", histogram.event_time, 1),
            bars("processing time", histogram.processing_time, 4),
        ],
        empty=ONLY_WARM_UP if series.latency.time_s else NO_RESULTS,
    )


def _filled_part(histogram: Histogram) -> tuple[list[float], slice]:
    """The edges around the counts that are not zero, and the range of those counts.

    On a log axis a first edge of zero has no place: it is drawn as far from the second edge as
    the second is from the third.
    """
    columns = (histogram.event_time, histogram.processing_time)
    filled = [
        index
        for index in range(len(histogram.edges_ms) - 1)
        if any(column[index : index + 1] not in ([], [0]) for column in columns)
    ]
    if not filled:
        return [], slice(0)
    first, last = filled[0], filled[-1] + 1
    edges = histogram.edges_ms[first : last + 1]
    if edges[0] == 0:
        growth = edges[2] / edges[1] if len(edges) > 2 else 2.0
        edges = [edges[1] / growth, *edges[1:]]
    return edges, slice(first, last)


def pull_chart(series: Series) -> Chart:
    pull = series.pull
    drained = _mean_over_a_second(pull.time_s, pull.drained_per_s)
    offered = _mean_over_a_second(pull.time_s, pull.offered_per_s)
    return Chart(
        id="pull",
        title="Offered, drained and queued",
        definition="Events that the driver offered, events that the system pulled (both as means "
        "over the last second) and events in the queues, all driver instances together.",
        axes=[
            Axis(label="events per second", unit="per_s"),
            Axis(label="events queued", unit="events", side="right"),
        ],
        series=[
            ChartSeries(label="queued", values=pull.queued, colour=5, axis="right", style="area"),
            ChartSeries(label="drained", values=drained, colour=1),
            ChartSeries(label="offered", values=offered, colour=2),
        ],
        wide=True,
        **_over_the_load(pull.time_s, series),
    )


def _mean_over_a_second(time_s: Sequence[float], values: Sequence[float]) -> list[float]:
    """The mean of the last second at every sample.

    A system that pulls once per micro-batch takes everything in one sample: at the scale of its
    spikes the offered rate would be a flat line.
    """
    length = min(len(time_s), len(values))
    first, last = (time_s[0], time_s[length - 1]) if length else (0.0, 0.0)
    window = max(1, round((length - 1) / (last - first))) if last > first else 1
    sums = [0.0, *accumulate(values)]
    return [
        (sums[end] - sums[max(0, end - window)]) / min(window, end) for end in range(1, length + 1)
    ]


def resource_chart(series: Series, name: Literal["cpu", "memory", "network"]) -> Chart:
    """The use of one resource by each role; a colour that is used again is a dashed line."""
    title, definition, axis, field = _RESOURCES[name]
    roles = series.resources.roles
    spare = iter(_SPARE_COLOURS * len(roles))
    lines: list[ChartSeries] = []
    for role, use in roles.items():
        colour = _ROLE_COLOURS.get(role) or next(spare)
        dashed = any(line.colour == colour for line in lines)
        if values := getattr(use, field):
            lines.append(ChartSeries(label=role, values=values, colour=colour, dashed=dashed))
    return Chart(
        id=name,
        title=title,
        definition=definition,
        axes=[axis],
        series=lines,
        **_over_the_load(series.resources.time_s, series),
    )
