"""Mean, deviation and confidence interval of repetitions, without SciPy."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from statistics import NormalDist, fmean, stdev

from streamgauge.measure.summary import Spread

CONFIDENCE = 0.95
_PRACTICALLY_NORMAL = 1e6
"""With so many degrees of freedom Student's quantile is the normal one to five digits."""


def spread_of(values: Sequence[float]) -> Spread:
    """One figure over its repetitions; a single one has neither deviation nor interval."""
    count, numbers = len(values), [float(value) for value in values]
    if not numbers:
        raise ValueError("a spread needs at least one value")
    if not all(map(math.isfinite, numbers)):
        raise ValueError(f"a spread needs finite values, not {numbers}")
    least, most = min(numbers), max(numbers)
    # Rounding must not move the mean out of the range of the values.
    mean = min(max(fmean(numbers), least), most)
    alone = Spread(count=count, mean=mean, min=least, max=most)
    if count == 1:
        return alone
    deviation = stdev(numbers)
    margin = student_quantile(CONFIDENCE, count - 1) * deviation / math.sqrt(count)
    interval = {"deviation": deviation, "low": mean - margin, "high": mean + margin}
    return alone.model_copy(update=interval)


def variation_of(spread: Spread) -> float | None:
    """The coefficient of variation: deviation by mean; None for a single value or a mean of 0."""
    if spread.deviation is None or not spread.mean:
        return None
    return spread.deviation / abs(spread.mean)


def repetitions_for(spread: Spread, margin: float, most: int) -> int:
    """How many repetitions of this variation have a mean that is known to ± `margin` of itself.

    At most `most`, whatever is needed.
    """
    variation = variation_of(spread) or 0.0

    def is_enough(count: int) -> bool:
        return student_quantile(CONFIDENCE, count - 1) * variation <= margin * math.sqrt(count)

    # The margin shrinks with every repetition.
    return 2 + bisect_left(range(2, most), True, key=is_enough)


def slowdown_of(times: Sequence[tuple[Spread, Spread]]) -> float:
    """The slowdown factor: the mean, over settings, of the mean time with by that without."""
    return fmean(slower.mean / plain.mean for plain, slower in times)


def student_quantile(confidence: float, degrees: float) -> float:
    """The t of Student's distribution: 0.95 with 2 degrees of freedom → 4.303.

    Both sides count. Welch's degrees of freedom are not whole numbers.
    """
    if not 0 < confidence < 1 or not degrees > 0:
        raise ValueError(f"no quantile for confidence {confidence} and {degrees} degrees")
    outside = 1 - confidence
    if degrees > _PRACTICALLY_NORMAL:
        return NormalDist().inv_cdf(1 - outside / 2)
    low, high = 0.0, 1.0
    while probability_beyond(high, degrees) > outside:
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        if probability_beyond(middle, degrees) > outside:
            low = middle
        else:
            high = middle
    return high


def probability_beyond(t: float, degrees: float) -> float:
    """The probability that Student's variable lies further than ±t from 0."""
    total = degrees + t * t
    return _incomplete_beta(degrees / total, t * t / total, degrees / 2, 0.5)


def _incomplete_beta(x: float, rest: float, a: float, b: float) -> float:
    """The regularised incomplete beta function at x; `rest` is 1 − x, without cancellation."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(logarithm + a * math.log(x) + b * math.log(rest))
    # The continued fraction converges quickly on this side of the distribution's mean only.
    if x < (a + 1) / (a + b + 2):
        return front * _continued_fraction(x, a, b) / a
    return 1 - front * _continued_fraction(rest, b, a) / b


def _continued_fraction(x: float, a: float, b: float) -> float:
    """Lentz's evaluation of the fraction of the incomplete beta function."""

    def not_zero(value: float) -> float:
        return value if abs(value) > 1e-300 else 1e-300

    c = 1.0
    d = 1 / not_zero(1 - (a + b) * x / (a + 1))
    value = d
    for step in range(1, 100_000):
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        for term in (even, odd):
            d = 1 / not_zero(1 + term * d)
            c = not_zero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value
