"""Where a queue is going to be: the slope of the arrival rate and what follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from streamgauge.dual.model.latency import Quantities
from streamgauge.dual.model.limits import limits

FEWEST_POINTS = 5
LATEST_POINTS = 3
RECENT_POINTS = 8
STANDARD_ERRORS = 3.0
"""How far below the fitted slope the certain one lies."""


def certain_slope(points: Sequence[tuple[float, float]]) -> float | None:
    """The slope, in units of value per second, that points (time in s, value) certainly have.

    It is the fitted slope less three standard errors. None if the points are too few to tell.
    """
    if len(points) < FEWEST_POINTS:
        return None
    times, values = np.asarray(points, dtype=float).T
    times, values = times - times.mean(), values - values.mean()
    spread = float(times @ times)
    if spread == 0:
        return None
    slope = float(times @ values) / spread
    rest = values - slope * times
    error = float(np.sqrt(rest @ rest / (len(points) - 2) / spread))
    return slope - STANDARD_ERRORS * error


def certain_rise(points: Sequence[tuple[float, float]]) -> float | None:
    """The slope of all points or of the latest ones, whichever is steeper: a ramp that has just
    begun is hidden in the calm before it."""
    slopes = [certain_slope(points), certain_slope(points[-RECENT_POINTS:])]
    return max((slope for slope in slopes if slope is not None), default=None)


def certain_fall(points: Sequence[tuple[float, float]]) -> float | None:
    """By how much the value certainly falls, per second; None if it does not, or is not known."""
    slope = certain_rise([(time, -value) for time, value in points])
    return slope if slope is not None and slope > 0 else None


def latest_arrival(points: Sequence[tuple[float, float]]) -> float:
    """V of the last few looks: an average over a longer time lags behind a ramp."""
    latest = [value for _, value in points[-LATEST_POINTS:]]
    return sum(latest) / len(latest) if latest else 0.0


def arrival_after(arrival_per_s: float, slope_per_s2: float, seconds: float) -> float:
    """V after some time, in records per second, never negative."""
    return max(0.0, arrival_per_s + slope_per_s2 * seconds)


def queue_after(
    queue: float, arrival_per_s: float, slope_per_s2: float, speed_per_s: float, seconds: float
) -> float:
    """L after some time, in records, if the arrival rate keeps its slope and nothing changes."""
    surplus = arrival_per_s - speed_per_s
    if slope_per_s2 > 0 > surplus:
        # The queue shrinks, at most to nothing, until the arrivals have caught up.
        falling_s = min(seconds, -surplus / slope_per_s2)
        left = max(0.0, queue + surplus * falling_s + slope_per_s2 * falling_s**2 / 2)
        return left + slope_per_s2 * (seconds - falling_s) ** 2 / 2
    ending_s = seconds
    if slope_per_s2 < 0:
        # The arrivals end, and do not become negative.
        ending_s = min(seconds, arrival_per_s / -slope_per_s2)
    left = max(0.0, queue + surplus * ending_s + slope_per_s2 * ending_s**2 / 2)
    return max(0.0, left - speed_per_s * (seconds - ending_s))


def crosses_within(
    quantities: Quantities, queue: float, slope_per_s2: float, hysteresis: float, seconds: float
) -> bool:
    """Whether after that time the queue of a data stream is longer than L_up will be then."""
    arrival_per_s = arrival_after(quantities.arrival_per_s, slope_per_s2, seconds)
    later = replace(quantities, arrival_per_s=arrival_per_s)
    speed_per_s = quantities.data_speed_per_s
    length = queue_after(queue, quantities.arrival_per_s, slope_per_s2, speed_per_s, seconds)
    return length > limits(later, hysteresis).up
