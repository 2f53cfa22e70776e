"""Which quantiles of a latency are shown, and how many results each of them needs."""

from __future__ import annotations

import math

QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99_9": 0.999}
BEYOND = 10
"""A quantile is shown if at least this many results lie beyond it."""


def results_needed(statistic: str) -> int:
    """1,000 for `p99`; one for a mean, a minimum or a maximum."""
    share = QUANTILES.get(statistic)
    return 1 if share is None else math.ceil(round(BEYOND / (1 - share), 6))
