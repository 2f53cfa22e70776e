"""Columns of numbers, truth values and times."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from math import gcd
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from streamgauge.events.columns.base import MAX_COUNT, Distributed, Leaf
from streamgauge.events.distributions import DistributionName
from streamgauge.units import DurationUs, Share

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Keys(Distributed):
    """Whole numbers from 0 to size − 1; a share of them may lie outside, where nothing matches."""

    kind: Literal["keys"] = "keys"
    size: int = Field(ge=1, le=MAX_COUNT)
    outside: float = Field(default=0.0, ge=0.0, le=1.0)
    distribution: DistributionName = "normal"
    moves_every: int = Field(default=0, ge=0)
    """After so many events of a driver instance the frequent keys are others. 0: never."""

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.int32()

    @property
    def count(self) -> int:
        return self.size

    def draw(self, random: NDArray[np.uint32]) -> NDArray[Any]:
        drawn = super().draw(random)
        if self.outside > 0.0:
            # A second, independent-looking number from the same bits: an odd multiplier permutes
            # the 32-bit numbers, so the share is exact and needs no further random bits.
            mixed = (random ^ (random >> np.uint32(15))) * np.uint32(0x2C1B3C6D)
            mixed = (mixed ^ (mixed >> np.uint32(12))) * np.uint32(0x297A2D39)
            drawn[mixed < np.uint64(round(self.outside * 2**32))] += np.int32(self.size)
        return drawn

    def moved(self, drawn: NDArray[Any], first: int) -> NDArray[Any]:
        if not self.moves_every:
            return drawn
        moves = np.arange(first, first + len(drawn), dtype=np.int64) // self.moves_every
        inside = (drawn + moves % self.size * self._stride) % self.size
        return np.where(drawn < self.size, inside, drawn).astype(np.int32)

    @property
    def _stride(self) -> int:
        """How far the keys move: far from where they were, and in the end to every place."""
        golden = max(round(self.size * 0.618), 1)
        return next(one for one in range(golden, 0, -1) if gcd(one, self.size) == 1)

    def decode(self, drawn: NDArray[Any]) -> pa.Array:
        return pa.array(drawn, type=self.arrow_type)


class Whole(Distributed):
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
    def arrow_type(self) -> pa.DataType:
        return pa.int32()

    @property
    def count(self) -> int:
        return self.high - self.low + 1

    def decode(self, drawn: NDArray[Any]) -> pa.Array:
        return pa.array(drawn + np.int32(self.low), type=self.arrow_type)


class Real(Distributed):
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
    def arrow_type(self) -> pa.DataType:
        return pa.float64()

    @property
    def count(self) -> int:
        return round((self.high - self.low) * 10.0**self.decimals) + 1

    def decode(self, drawn: NDArray[Any]) -> pa.Array:
        scale = 10**self.decimals
        return pa.array((drawn + round(self.low * scale)) / np.float64(scale), self.arrow_type)


class Time(Distributed):
    """Times from low to high, both included, in steps; without a time zone they are UTC."""

    kind: Literal["time"] = "time"
    low: datetime
    high: datetime
    step: DurationUs = Field(default=1_000_000, gt=0)

    @field_validator("low", "high")
    @classmethod
    def _in_utc(cls, time: datetime) -> datetime:
        return time if time.tzinfo else time.replace(tzinfo=timezone.utc)

    @model_validator(mode="after")
    def _ordered(self) -> Time:
        if not (self.low <= self.high and self.count <= MAX_COUNT):
            raise ValueError("low must not be after high, with at most 2^30 steps between them")
        return self

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.timestamp("us", tz="UTC")

    @property
    def count(self) -> int:
        return (self.high - self.low) // timedelta(microseconds=self.step) + 1

    def decode(self, drawn: NDArray[Any]) -> pa.Array:
        low_us = (self.low - _EPOCH) // timedelta(microseconds=1)
        return pa.array(drawn * np.int64(self.step) + np.int64(low_us), type=self.arrow_type)


class Flag(Leaf):
    """Truth values, of which a share is true."""

    kind: Literal["flag"] = "flag"
    share: Share = 0.5

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.bool_()

    def draw(self, random: NDArray[np.uint32]) -> NDArray[Any]:
        return random < np.uint64(round(self.share * 2**32))

    def decode(self, drawn: NDArray[Any]) -> pa.Array:
        return pa.array(drawn, type=self.arrow_type)
