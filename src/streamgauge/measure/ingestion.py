"""What a broker appended over time: rates, how stable they are, and steps of the append times.

`times_us` are the broker's times in microseconds since the load began.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from streamgauge.measure.summary import Ingestion, IngestionSeries

FIRST_RECORDS = 500
"""So many append times are kept for a chart."""
_SECOND_US = 1_000_000
Whole = NDArray[np.int64]


class PerSecond:
    """Messages and bytes in every second of the load."""

    def __init__(self) -> None:
        self.messages: Whole = np.zeros(0, np.int64)
        self.bytes: Whole = np.zeros(0, np.int64)

    def add(self, times_us: Whole, sizes: Whole) -> None:
        """Messages that came before the load, which a clock that goes back may cause, are none."""
        seconds = times_us // _SECOND_US
        during = seconds >= 0
        if not during.any():
            return
        seconds, sizes = seconds[during], sizes[during]
        length = max(len(self.messages), int(seconds.max()) + 1)
        self.messages = _longer(self.messages, length) + np.bincount(seconds, minlength=length)
        found = np.bincount(seconds, weights=sizes, minlength=length).astype(np.int64)
        self.bytes = _longer(self.bytes, length) + found

    def series(self, end_us: int) -> IngestionSeries:
        """The whole seconds of the load; what came after its end is not drawn."""
        length = end_us // _SECOND_US
        return IngestionSeries(
            time_s=[float(second) for second in range(length)],
            messages_per_s=[float(one) for one in _longer(self.messages, length)[:length]],
            mb_per_s=[round(float(one) / 1e6, 3) for one in _longer(self.bytes, length)[:length]],
        )


def _longer(values: Whole, length: int) -> Whole:
    return np.pad(values, (0, max(0, length - len(values))))


def rates(series: IngestionSeries, warm_up_us: int, configured_per_s: float) -> Ingestion:
    """The mean, the best second and the variation of the whole seconds after the warm-up."""
    first = math.ceil(warm_up_us / _SECOND_US)
    messages = np.array(series.messages_per_s[first:])
    if not len(messages):
        return Ingestion(configured_per_s=configured_per_s)
    mean = float(messages.mean())
    variation = None
    if len(messages) > 1 and mean > 0:
        variation = round(100 * float(messages.std(ddof=1)) / mean, 2)
    return Ingestion(
        configured_per_s=configured_per_s,
        achieved_per_s=round(mean, 1),
        peak_per_s=float(messages.max()),
        mb_per_s=round(float(np.mean(series.mb_per_s[first:])), 3),
        variation_percent=variation,
    )


def append_steps(times_us: Whole) -> tuple[float | None, float | None]:
    """Records with the same append time, and milliseconds from one append time to the next.

    The first and the last step may be cut off, so that they are left out where there are others.
    """
    if not len(times_us):
        return None, None
    places, counts = np.unique(times_us, return_counts=True)
    inner = counts[1:-1] if len(counts) > 2 else counts
    step_ms = float(np.diff(places).mean()) / 1_000 if len(places) > 1 else None
    return round(float(inner.mean()), 2), None if step_ms is None else round(step_ms, 3)
