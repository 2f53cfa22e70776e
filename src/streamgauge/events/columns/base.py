"""What every column is: values that are made of random numbers.

A value is made in two steps. `draw` turns random numbers into the whole numbers that decide the
values, which are hashed; `decode` turns these into what the system under test receives.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field

from streamgauge.events.distributions import Distribution, DistributionName
from streamgauge.models import StrictModel

MAX_COUNT = 1 << 30
"""Columns hold 32-bit integers; the upper half of the range is for keys that must not match."""


class BaseColumn(StrictModel):
    """A column, with or without columns of its own."""

    @property
    @abstractmethod
    def arrow_type(self) -> pa.DataType:
        """Of the values."""

    @property
    @abstractmethod
    def leaves(self) -> tuple[Leaf, ...]:
        """The columns inside it whose values are drawn."""

    @abstractmethod
    def build(self, drawn: Iterator[NDArray[Any]]) -> pa.Array:
        """The values, of the next arrays that its leaves have drawn."""


class Leaf(BaseColumn):
    """A column without columns of its own."""

    @property
    def numbers(self) -> int:
        """How many random numbers each value is made of."""
        return 1

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return (self,)

    def build(self, drawn: Iterator[NDArray[Any]]) -> pa.Array:
        return self.decode(next(drawn))

    @abstractmethod
    def draw(self, random: NDArray[np.uint32]) -> NDArray[Any]:
        """A row for each event, of the random numbers of all events one after the other."""

    def moved(self, drawn: NDArray[Any], first: int) -> NDArray[Any]:  # noqa: ARG002
        """What was drawn, by the number of the first event, if its distribution moves."""
        return drawn

    @abstractmethod
    def decode(self, drawn: NDArray[Any]) -> pa.Array:
        """The values that the system under test receives."""


class Distributed(Leaf):
    """One of so many values, which are numbered from 0, with a distribution."""

    distribution: DistributionName = "uniform"
    zipf_s: float = Field(default=1.0, gt=0, le=10)

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of different values."""

    @property
    def shape(self) -> Distribution:
        return Distribution(self.distribution, self.count, self.zipf_s)

    def draw(self, random: NDArray[np.uint32]) -> NDArray[Any]:
        return self.shape.draw(random)
