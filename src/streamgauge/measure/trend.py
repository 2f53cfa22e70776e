"""Does a series grow steadily? Then the system falls behind and a mean of the series lies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

MOST_POINTS = 600
LEAST_CONCORDANCE = 0.6
LEAST_CONCORDANCE_OF_FEW = {4: 1.0, 5: 0.8, 6: 0.7}
"""Windows of several seconds leave few points. So few in any order would rise as often as that in
less than one case of twenty; below four they always could."""
LEAST_GROWTH = 0.3
"""Growth over the series, as a share of its median, below which it is not worth a word."""


def growth_of(times_s: Sequence[float], values: Sequence[float]) -> float | None:
    """The growth per second when the series grows steadily, None otherwise.

    Kendall's tau says whether it is steady, Theil–Sen's slope how strong it is: neither is misled
    by single outliers.
    """
    if len(times_s) < min(LEAST_CONCORDANCE_OF_FEW):
        return None
    # All pairs are compared, so a long series is thinned out.
    step = -(-len(times_s) // MOST_POINTS)
    t, v = np.asarray(times_s, dtype=float)[::step], np.asarray(values, dtype=float)[::step]
    earlier, later = np.triu_indices(len(t), k=1)
    rises = v[later] - v[earlier]
    tau = np.sign(rises).mean()
    slope = float(np.median(rises / (t[later] - t[earlier])))
    growth = slope * (t[-1] - t[0])
    least = LEAST_CONCORDANCE_OF_FEW.get(len(t), LEAST_CONCORDANCE)
    # A share of pairs such as 8 of 10 is not exact in floating point.
    if tau < least - 1e-9 or growth < LEAST_GROWTH * abs(float(np.median(v))):
        return None
    return slope
