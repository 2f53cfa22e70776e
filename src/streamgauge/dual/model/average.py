"""An average that forgets: the one estimator for rates, speeds, ratios and times."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Average:
    """Amount per unit, the younger the heavier; between the least and the largest sample.

    A sample is weighed by its units: a micro-batch of many records counts more than one of few.
    """

    memory_s: float
    """After this time of further samples an old one counts for a third (1/e)."""
    amount: float = 0.0
    units: float = 0.0

    @property
    def value(self) -> float | None:
        """Amount per unit, None before the first sample."""
        return self.amount / self.units if self.units else None

    def updated(self, amount: float, units: float, elapsed_s: float) -> Average:
        """With one more sample, which took `elapsed_s`; a sample without units says nothing."""
        if units <= 0:
            return self
        kept = math.exp(-elapsed_s / self.memory_s)
        return Average(self.memory_s, self.amount * kept + amount, self.units * kept + units)
