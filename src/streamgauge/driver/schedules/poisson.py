"""Poisson arrivals: independent, exponentially distributed gaps between events.

The gaps come from a counter-based generator, so that any block of them can be drawn again
without those before it; only the time at which each block begins is kept.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from streamgauge.driver.schedules import parameters
from streamgauge.driver.schedules.base import Schedule

BLOCK_BITS = 12
BLOCK = 1 << BLOCK_BITS
# Slots of the table of logarithms, and bits of the interpolation within a slot: the error is below
# 2e-7 of the mean gap.
SLOT_BITS = 10
WITHIN_BITS = 20
LOGARITHM_UNIT = 2**32
# A mean gap below 2**41 units keeps the longest possible block within 64 bits.
MEAN_BITS = 40
MIN_RATE_PER_S = 0.001
# Keeps the arrivals independent of events that are generated from the same seed.
STREAM = int.from_bytes(b"poisson", "big") << 64
# Every gap is drawn once at construction: some minutes for as many as this.
MAX_EXPECTED_EVENTS = 10**10


def poisson(*, duration_us: int, rate_per_s: float, seed: int = 0) -> Schedule:
    """Arrivals that are independent of each other, `rate_per_s` of them on average."""
    duration = parameters.duration_us(duration_us)
    rate = parameters.rate(rate_per_s, least=MIN_RATE_PER_S)
    key = parameters.whole("load.schedule.seed", seed, least=0, most=2**64 - 1)
    parameters.require_possible(math.ceil(rate * duration / 1_000_000), MAX_EXPECTED_EVENTS)
    return PoissonSchedule(rate, duration, key)


def logarithms() -> list[int]:
    """The natural logarithm at the borders of the slots of [1, 2], in units of 2**-32.

    None lies so near to a rounding boundary that two machines' `log` could round it
    differently (tested), so the arrivals are the same everywhere.
    """
    slots = 1 << SLOT_BITS
    return [round(math.log(1 + slot / slots) * LOGARITHM_UNIT) for slot in range(slots + 1)]


class PoissonSchedule(Schedule):
    """Event n is due after n + 1 gaps, rounded down to the microsecond.

    Gaps are whole numbers of units of 2**-k ns, with k such that the mean gap is a large
    number of them: rounding to nanoseconds would bias the rate of a fast load.
    """

    def __init__(self, rate: Fraction, duration_us: int, seed: int) -> None:
        mean_ns = 10**9 / rate
        self.duration_us = duration_us
        self._key = STREAM | seed
        self._shift = max(0, MEAN_BITS - int(mean_ns).bit_length())
        unit = mean_ns * 2**self._shift / LOGARITHM_UNIT
        self._logarithms = np.array([round(unit * value) for value in logarithms()], np.int64)
        self._slopes = np.diff(self._logarithms)
        self._starts_ns = self._block_starts_ns()

    def times_us(self, sequence: NDArray[np.int64]) -> NDArray[np.int64]:
        self._require_scheduled(sequence)
        if not sequence.size:
            return np.empty(0, dtype=np.int64)
        blocks, place = np.unique(sequence >> BLOCK_BITS, return_inverse=True)
        times_ns = np.stack([self._times_ns(int(block)) for block in blocks])
        due_ns: NDArray[np.int64] = times_ns[place, sequence & (BLOCK - 1)]
        return due_ns // 1_000

    def counts_before(self, times_us: NDArray[np.int64]) -> NDArray[np.int64]:
        times_ns = np.clip(times_us, 0, self.duration_us) * 1_000
        # The first block that ends at or after the time; all before it are over.
        holding = self._starts_ns[1:].searchsorted(times_ns, side="left")
        counts = holding << BLOCK_BITS
        order = holding.argsort(kind="stable")
        blocks, firsts = np.unique(holding[order], return_index=True)
        lasts = np.append(firsts, order.size)[1:]
        for block, first, last in zip(blocks, firsts, lasts, strict=True):
            here = order[first:last]
            counts[here] += self._times_ns(int(block)).searchsorted(times_ns[here], side="left")
        return counts

    def _block_starts_ns(self) -> NDArray[np.int64]:
        """When each block begins, up to the first that ends at or after the end of the load."""
        starts_ns = [0]
        while starts_ns[-1] < self.duration_us * 1_000:
            gaps = self._gaps(len(starts_ns) - 1)
            starts_ns.append(starts_ns[-1] + (int(gaps.sum()) >> self._shift))
        return np.array(starts_ns, dtype=np.int64)

    def _times_ns(self, block: int) -> NDArray[np.int64]:
        return int(self._starts_ns[block]) + (self._gaps(block).cumsum() >> self._shift)

    def _gaps(self, block: int) -> NDArray[np.int64]:
        """−ln(u) times the mean gap, for the block's own random u of (0, 1].

        Writing u as m · 2**−k with m of [1, 2), −ln(u) is k · ln 2 − ln m. Both parts can be
        read off the bits of u as a floating-point number, and the logarithm of m off a table.
        """
        # Each step of Philox's counter makes four numbers.
        random = np.random.Philox(key=self._key, counter=block * BLOCK // 4).random_raw(BLOCK)
        bits = ((random >> 11) + 1).astype(np.float64).view(np.int64)
        halvings = (1023 + 53) - (bits >> 52)
        slot = (bits >> (52 - SLOT_BITS)) & ((1 << SLOT_BITS) - 1)
        within = (bits >> (52 - SLOT_BITS - WITHIN_BITS)) & ((1 << WITHIN_BITS) - 1)
        logarithm = self._logarithms[slot] + (self._slopes[slot] * within >> WITHIN_BITS)
        return np.asarray(halvings * self._logarithms[-1] - logarithm, dtype=np.int64)
