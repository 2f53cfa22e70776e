"""How the values of a column are distributed: whole numbers in [0, count), drawn by inverse CDF.

A 32-bit random number picks one of many equally likely slots of a table with its upper bits and,
where there are many values, a place inside the slot with its lower bits. Tables and arithmetic are
integers, so the same seed gives the same values on any machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

DistributionName = Literal["normal", "uniform", "zipf", "single"]
DISTRIBUTIONS: tuple[DistributionName, ...] = get_args(DistributionName)

SLOT_BITS = 16
SLOTS = 1 << SLOT_BITS
FRACTION_BITS = 16
DIRECT_BITS = 18
DIRECT_COUNT = 1 << 15
"""Up to this number of values one look-up in a table of 2^18 slots is enough, ten times as fast; a
value of less than 2^-18 probability may then never occur."""
NORMAL_WIDTH_SD = 3.0
"""A normal distribution over a range is cut at three standard deviations from its middle."""


@dataclass(frozen=True)
class Distribution:
    """A shape over [0, count); `zipf_s` is the exponent of Zipf's law, used by `zipf` only."""

    name: DistributionName
    count: int
    zipf_s: float = 1.0

    def draw(self, random: NDArray[np.uint32]) -> NDArray[np.int32]:
        """One value for each 32-bit random number."""
        if self.name == "single":
            return np.zeros(random.shape, dtype=np.int32)
        if self.name == "uniform":
            return ((random * np.uint64(self.count)) >> np.uint64(32)).astype(np.int32)
        if self.count <= DIRECT_COUNT:
            # `clip` avoids a check of the bounds, which hold by construction.
            return np.take(_values(self), random >> np.uint32(32 - DIRECT_BITS), mode="clip")
        return _interpolated(random, *_slots(self))


def _interpolated(
    random: NDArray[np.uint32], start: NDArray[np.int64], span: NDArray[np.int64]
) -> NDArray[np.int32]:
    slot = random >> np.uint32(32 - SLOT_BITS)
    inside = (random & np.uint32(SLOTS - 1)).astype(np.int64)
    inside *= span[slot]
    inside >>= FRACTION_BITS
    inside += start[slot]
    inside >>= FRACTION_BITS
    return inside.astype(np.int32)


@lru_cache(maxsize=64)
def _values(distribution: Distribution) -> NDArray[np.int32]:
    """The value of each slot of the large table: that of its middle."""
    middles = (np.arange(1 << DIRECT_BITS, dtype=np.uint64) << np.uint64(32 - DIRECT_BITS)) + (
        np.uint64(1) << np.uint64(31 - DIRECT_BITS)
    )
    return _interpolated(middles.astype(np.uint32), *_slots(distribution))


@lru_cache(maxsize=64)
def _slots(distribution: Distribution) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Start and span of each slot on the axis [0, count), in fixed point."""
    quantiles = _normal(distribution) if distribution.name == "normal" else _zipf(distribution)
    bounds = np.rint(quantiles * (1 << FRACTION_BITS)).astype(np.int64)
    return bounds[:-1], np.diff(bounds)


def _normal(distribution: Distribution) -> NDArray[np.float64]:
    normal = NormalDist()
    low, high = normal.cdf(-NORMAL_WIDTH_SD), normal.cdf(NORMAL_WIDTH_SD)
    inner = [normal.inv_cdf(low + (high - low) * slot / SLOTS) for slot in range(1, SLOTS)]
    deviations = np.array([-NORMAL_WIDTH_SD, *inner, NORMAL_WIDTH_SD])
    return (deviations / (2 * NORMAL_WIDTH_SD) + 0.5) * distribution.count


def _zipf(distribution: Distribution) -> NDArray[np.float64]:
    ranks = np.arange(1, distribution.count + 1, dtype=np.float64)
    mass = np.concatenate(([0.0], np.cumsum(ranks**-distribution.zipf_s)))
    shares = np.linspace(0.0, mass[-1], SLOTS + 1)
    return np.interp(shares, mass, np.arange(distribution.count + 1, dtype=np.float64))
