"""The columns of an event: what a user may declare, and how random numbers become values."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field, model_validator

from streamgauge.events.distributions import Distribution, DistributionName
from streamgauge.models import StrictModel

MAX_COUNT = 1 << 30
"""Columns hold 32-bit integers; the upper half of the range is for keys that must not match."""


class _Column(StrictModel):
    arrow_type: ClassVar[pa.DataType] = pa.int32()

    distribution: DistributionName = "uniform"
    zipf_s: float = Field(default=1.0, gt=0, le=10)

    @property
    def count(self) -> int:
        """The number of different values."""
        raise NotImplementedError

    def draw(self, random: NDArray[np.uint32]) -> NDArray[np.int32]:
        """A whole number in [0, count) for each random number."""
        return Distribution(self.distribution, self.count, self.zipf_s).draw(random)

    def decode(self, drawn: NDArray[np.int32]) -> pa.Array:
        """The values that the system under test receives."""
        return pa.array(drawn, type=pa.int32())


class Keys(_Column):
    """Whole numbers from 0 to size − 1; a share of them may lie outside, where nothing matches."""

    kind: Literal["keys"] = "keys"
    size: int = Field(ge=1, le=MAX_COUNT)
    outside: float = Field(default=0.0, ge=0.0, le=1.0)
    distribution: DistributionName = "normal"

    @property
    def count(self) -> int:
        return self.size

    def draw(self, random: NDArray[np.uint32]) -> NDArray[np.int32]:
        drawn = super().draw(random)
        if self.outside > 0.0:
            # A second, independent-looking number from the same bits: an odd multiplier permutes
            # the 32-bit numbers, so the share is exact and needs no further random bits.
            mixed = (random ^ (random >> np.uint32(15))) * np.uint32(0x2C1B3C6D)
            mixed = (mixed ^ (mixed >> np.uint32(12))) * np.uint32(0x297A2D39)
            drawn[mixed < np.uint64(round(self.outside * 2**32))] += np.int32(self.size)
        return drawn


class Whole(_Column):
    """Whole numbers from low to high, both included."""

    kind: Literal["whole"] = "whole"
    low: int
    high: int

    @model_validator(mode="after")
    def _ordered(self) -> Whole:
        if not self.low <= self.high < self.low + MAX_COUNT or abs(self.low) > MAX_COUNT:
            raise ValueError("low must not exceed high, and both must fit 30 bits")
        return self

    @property
    def count(self) -> int:
        return self.high - self.low + 1

    def decode(self, drawn: NDArray[np.int32]) -> pa.Array:
        return pa.array(drawn + np.int32(self.low), type=pa.int32())


class Real(_Column):
    """Decimal numbers from low to high in steps of one unit of the last decimal place."""

    arrow_type: ClassVar[pa.DataType] = pa.float64()

    kind: Literal["real"] = "real"
    low: float
    high: float
    decimals: int = Field(default=2, ge=0, le=6)

    @model_validator(mode="after")
    def _ordered(self) -> Real:
        if not (self.low <= self.high and self.count <= MAX_COUNT):
            raise ValueError("low must not exceed high, with at most 2^30 steps between them")
        return self

    @property
    def count(self) -> int:
        return round((self.high - self.low) * 10.0**self.decimals) + 1

    def decode(self, drawn: NDArray[np.int32]) -> pa.Array:
        scale = 10**self.decimals
        return pa.array((drawn + round(self.low * scale)) / np.float64(scale), type=pa.float64())


class Choice(_Column):
    """One of some texts; with `zipf` the first is the most frequent."""

    arrow_type: ClassVar[pa.DataType] = pa.string()

    kind: Literal["choice"] = "choice"
    values: tuple[str, ...] = Field(min_length=1)

    @property
    def count(self) -> int:
        return len(self.values)

    def decode(self, drawn: NDArray[np.int32]) -> pa.Array:
        return pa.array(self.values, type=pa.string()).take(pa.array(drawn))


Column = Annotated[Keys | Whole | Real | Choice, Field(discriminator="kind")]
