"""How fast one core selects the outliers of a window, beside the bisection that defines them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.results import Figure
from streamgauge.queries.espbench.sos import outlier_probabilities
from streamgauge.queries.espbench.sos_reference import reference_probabilities

Floats = NDArray[np.float64]
WINDOW = 500
WINDOWS = 10
ROUNDS = 5


def measure_outliers(_: Path) -> Iterator[Figure]:
    """Outliers of windows of 500 points, one core, beside 50 rounds of bisection."""
    random = np.random.default_rng(1)
    shape = (WINDOWS, WINDOW, 2)
    walks = np.cumsum(random.normal(0, 1, shape), axis=1) + random.normal(0, 3, shape)
    windows = np.round(np.array((13_050, 14_380)) + walks)
    pairs = [
        (_seconds(outlier_probabilities, windows), _seconds(reference_probabilities, windows))
        for _ in range(ROUNDS)
    ]
    ratio = statistics.median(reference / ours for ours, reference in pairs)
    typical = statistics.median(ours for ours, _ in pairs)
    yield Figure("windows per second and core (median of rounds)", WINDOWS / typical, "/s")
    yield Figure("speed beside the bisection (median of rounds)", ratio, "×", least=3)


def _seconds(select: Callable[[Floats], Floats], windows: Floats) -> float:
    began = time.process_time()
    for window in windows:
        select(window)
    return time.process_time() - began
