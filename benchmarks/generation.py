"""How fast one core makes gaming events."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.results import Figure
from streamgauge.driver.schedules.instance import InstanceSchedule
from streamgauge.driver.schedules.rates import constant
from streamgauge.events.gaming import GamingDataSet
from streamgauge.events.stream import BLOCK, EventStream

BLOCKS = 40
ROUNDS = 7


def measure_generation(_: Path) -> Iterator[Figure]:
    """Generation of gaming events, one core, with event times and fingerprint."""
    schedule = constant(duration_us=3_600_000_000, rate_per_s=1_000_000)
    clock = InstanceSchedule(schedule, 0, 2)
    stream = EventStream(GamingDataSet.of().streams["purchases"], clock, seed=1, instance=0)

    def ours(block: int) -> None:
        stream.batch_and_fingerprint(block * BLOCK, (block + 1) * BLOCK, 0)

    def plain(block: int) -> None:
        """The same number of values from NumPy alone: two normal and two uniform columns."""
        generator = np.random.Generator(np.random.Philox(block))
        generator.standard_normal(2 * BLOCK, dtype=np.float32)
        generator.integers(0, 1_000, 2 * BLOCK, dtype=np.int32)

    rates = [(_rate(ours), _rate(plain)) for _ in range(ROUNDS)]
    typical = statistics.median(rate for rate, _ in rates)
    ratio = statistics.median(own / other for own, other in rates)
    yield Figure(
        "million events per second and core (median of rounds)", typical / 1e6, "M/s", least=10
    )
    yield Figure("ratio to NumPy drawing bare columns (median of rounds)", ratio, "×")


def _rate(work: Callable[[int], None]) -> float:
    began = time.perf_counter()
    for block in range(BLOCKS):
        work(block)
    return BLOCKS * BLOCK / (time.perf_counter() - began)
