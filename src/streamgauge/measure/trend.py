"""Steady growth of a series: then the system falls behind, and the mean has no meaning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

MOST_POINTS = 600
LEAST_CONCORDANCE = 0.6
LEAST_CONCORDANCE_OF_FEW = {4: 1.0, 5: 0.8, 6: 0.7}
"""For series of few points, such as windows of several seconds: less than 5 % of all orders of the
points are that concordant. With fewer than four points no threshold excludes chance."""
LEAST_GROWTH = 0.3
"""Growth over the whole series, as a share of its median."""


def growth_of(times_s: Sequence[float], values: Sequence[float]) -> float | None:
    """The growth per second if the series grows steadily, None otherwise.

    Kendall's tau shows whether it is steady, the slope of Theil and Sen how strong it is: both are
    robust against outliers.
    """
    if len(times_s) < min(LEAST_CONCORDANCE_OF_FEW):
        return None
    # All pairs are compared, so a long series is sampled.
    step = -(-len(times_s) // MOST_POINTS)
    t, v = np.asarray(times_s, dtype=float)[::step], np.asarray(values, dtype=float)[::step]
    earlier, later = np.triu_indices(len(t), k=1)
    rises = v[later] - v[earlier]
    tau = np.sign(rises).mean()
    slope = float(np.median(rises / (t[later] - t[earlier])))
    growth = slope * (t[-1] - t[0])
    least = LEAST_CONCORDANCE_OF_FEW.get(len(t), LEAST_CONCORDANCE)
    # The margin is for rounding: a share such as 8 of 10 is not exact.
    if tau < least - 1e-9 or growth < LEAST_GROWTH * abs(float(np.median(v))):
        return None
    return slope
