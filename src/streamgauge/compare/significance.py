"""The noise margin of a change: Welch's test over repetitions, or the precision of a search."""

from __future__ import annotations

import math
from dataclasses import dataclass

from streamgauge.compare.measured import Bracket
from streamgauge.measure.spread import CONFIDENCE, student_quantile
from streamgauge.measure.summary import Spread


@dataclass(frozen=True)
class Noise:
    """A change of no more than `margin` may be noise; None: the noise is unknown."""

    margin: float | None
    source: str
    """Where the margin comes from, or why there is none."""


def noise_of_means(base: Spread, other: Spread) -> Noise:
    """Half the 95 % interval of the difference of two means, by Welch's test.

    Its variances need not be equal, and a change is significant when it is larger.
    """
    if base.count < 2 or other.count < 2:
        if base.count < 2 and other.count < 2:
            return Noise(None, "one run each: the noise is unknown")
        side = "base" if base.count < 2 else "other"
        return Noise(None, f"one run of the {side}: its noise is unknown")
    return Noise(
        _welch_margin(base, other),
        f"Welch's test at 95 %, {base.count} and {other.count} repetitions",
    )


def _welch_margin(base: Spread, other: Spread) -> float:
    # The square of the standard error of each mean.
    errors = [(one.deviation or 0.0) ** 2 / one.count for one in (base, other)]
    total = sum(errors)
    if total == 0:
        return 0.0
    # Shares first: squares of small errors would vanish.
    degrees = 1 / sum(
        (error / total) ** 2 / (one.count - 1)
        for error, one in zip(errors, (base, other), strict=True)
    )
    return student_quantile(CONFIDENCE, degrees) * math.sqrt(total)


def noise_of_searches(base: Bracket | None, other: Bracket | None) -> Noise:
    """The wider of the two gaps between the rate that passed and the one that failed."""
    if base is None or other is None:
        source = "the precision of a side is unknown: it was published, or no rate failed"
        return Noise(None, source)
    return Noise(
        max(failed - passed for passed, failed in (base, other)),
        "precision of the searches: from the rate that passed to the rate that failed; differences "
        "of the machine between two searches are not included",
    )
