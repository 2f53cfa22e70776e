"""The columns of an event: what a user may declare, and how random numbers become values."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from streamgauge.events.distributions import Distribution, DistributionName

MAX_COUNT = 1 << 30
"""Columns hold 32-bit integers; the upper half of the range is for keys that must not match."""


class _Column(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    distribution: DistributionName = "uniform"
    zipf_s: float = Field(default=1.0, gt=0, le=10)

    @property
    def count(self) -> int:
        """How many different values there are."""
        raise NotImplementedError

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.int32()

    def draw(self, lanes: NDArray[np.uint32]) -> NDArray[np.int32]:
        """The whole numbers behind the values, one for each random number."""
        return Distribution(self.name_of_shape, self.count, self.zipf_s).draw(lanes)

    @property
    def name_of_shape(self) -> DistributionName:
        return self.distribution

    def decode(self, drawn: NDArray[np.int32]) -> pa.Array:
        """The values as the system under test sees them."""
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

    def draw(self, lanes: NDArray[np.uint32]) -> NDArray[np.int32]:
        drawn = super().draw(lanes)
        if self.outside > 0.0:
            # A second, independent-looking number from the same lane: an odd multiplier permutes
            # the 32-bit numbers, so the share is exact and needs no further random bits.
            mixed = (lanes ^ (lanes >> np.uint32(15))) * np.uint32(0x2C1B3C6D)
            mixed = (mixed ^ (mixed >> np.uint32(12))) * np.uint32(0x297A2D39)
            limit = np.uint64(round(self.outside * 2**32))
            drawn[mixed < limit] += np.int32(self.size)
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

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.float64()

    def decode(self, drawn: NDArray[np.int32]) -> pa.Array:
        scale = 10**self.decimals
        return pa.array((drawn + round(self.low * scale)) / np.float64(scale), type=pa.float64())


class Choice(_Column):
    """One of some texts; with `zipf` the first is the most frequent."""

    kind: Literal["choice"] = "choice"
    values: tuple[str, ...] = Field(min_length=1)

    @property
    def count(self) -> int:
        return len(self.values)

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.string()

    def decode(self, drawn: NDArray[np.int32]) -> pa.Array:
        return pa.array(self.values, type=pa.string()).take(pa.array(drawn))


Column = Annotated[Keys | Whole | Real | Choice, Field(discriminator="kind")]
