"""Latencies that are arrays instead of a DataFrame: the same figures as `latency.py` makes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from streamgauge.measure.latency import BINS_PER_DECADE, statistics_from, with_growth
from streamgauge.measure.quantiles import QUANTILES
from streamgauge.measure.summary import Histogram, Latency, LatencySeries

_LEAST_MS = 0.1
Whole = NDArray[np.int32]
Real = NDArray[np.float64]


def event_time_latency(
    seconds: Whole, latency_ms: Real, warm_up_s: float
) -> tuple[Latency, LatencySeries, Histogram]:
    """`seconds` are those of the load in which each event was due."""
    settled = latency_ms[seconds >= warm_up_s]
    found = Latency()
    if len(settled):
        quantiles = [float(one) for one in np.quantile(settled, list(QUANTILES.values()))]
        mean, least, most = (float(one) for one in (settled.mean(), settled.min(), settled.max()))
        statistics = statistics_from(len(settled), mean, least, most, quantiles)
        found = Latency(event_time=statistics)
    drawn = _series(seconds, latency_ms)
    return with_growth(found, drawn, warm_up_s), drawn, _histogram(settled)


def _series(seconds: Whole, latency_ms: Real) -> LatencySeries:
    order = np.argsort(seconds, kind="stable")
    present, begins = np.unique(seconds[order], return_index=True)
    groups = np.split(latency_ms[order], begins[1:]) if len(present) else []

    def of(share: float) -> list[float | None]:
        return [round(float(np.quantile(group, share)), 3) for group in groups]

    nothing: list[float | None] = [None] * len(groups)
    return LatencySeries(
        time_s=[float(second) for second in present],
        event_time_p50=of(0.5),
        event_time_p99=of(0.99),
        event_time_max=of(1.0),
        processing_time_p50=nothing,
        processing_time_p99=nothing,
    )


def _histogram(latency_ms: Real) -> Histogram:
    if not len(latency_ms):
        return Histogram()
    places = np.floor(np.log10(np.maximum(latency_ms, _LEAST_MS)) * BINS_PER_DECADE).astype(int)
    first, last = int(places.min()), int(places.max())
    counts = [int(one) for one in np.bincount(places - first)]
    return Histogram(
        edges_ms=[round(10 ** (n / BINS_PER_DECADE), 4) for n in range(first, last + 2)],
        event_time=counts,
        processing_time=[0] * len(counts),
        visibility=[0] * len(counts),
    )
