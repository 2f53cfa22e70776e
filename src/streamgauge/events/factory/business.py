"""What the tables of the factory's database have in common, and the size of the factory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from streamgauge.errors import ExperimentError
from streamgauge.events.factory.draws import draw, whole
from streamgauge.events.factory.texts import ALPHANUMERIC, texts

HIGHEST_SCALE = 1_000
"""Ids are 32-bit numbers."""
MOMENT = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True)
class Business:
    """The factory that all tables are a function of."""

    seed: int
    scale: int
    """Warehouses."""
    now_us: int
    """The time of the import: all orders were entered then, and downtimes lie around it."""
    items: int = 100_000
    districts: int = 10
    per_district: int = 3_000
    """Customers, and orders."""
    undelivered: int = 900
    """The newest orders of a district, which nobody has delivered yet."""

    def __post_init__(self) -> None:
        if not 1 <= self.scale <= HIGHEST_SCALE:
            raise ExperimentError(
                "scale",
                f"a factory has no {self.scale} warehouses",
                fix=f"give a whole number from 1 to {HIGHEST_SCALE:,}",
            )

    @property
    def workplaces(self) -> int:
        return 10 * self.scale + 1

    @property
    def orders(self) -> int:
        """As many as customers."""
        return self.scale * self.districts * self.per_district

    def ids(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The ids of customers or orders, which are counted from 0 on."""
        place, local = np.divmod(numbers, self.per_district)
        warehouse, district = np.divmod(place, self.districts)
        ids: NDArray[np.int64] = (local + 1) + 10_000 * (district + 1) + 1_000_000 * (warehouse + 1)
        return ids

    def draw(self, column: str, first: int, last: int) -> NDArray[np.uint64]:
        return draw(self.seed, column, first, last)

    def whole(self, column: str, first: int, last: int, low: int, high: int) -> NDArray[np.int64]:
        """From low to high, both included."""
        return whole(self.seed, column, first, last, low, high)

    def text(
        self, column: str, first: int, last: int, low: int, high: int, alphabet: str = ALPHANUMERIC
    ) -> pa.Array:
        return texts(self.seed, column, first, last, length=(low, high), alphabet=alphabet)

    def now(self, count: int) -> pa.Array:
        return pa.repeat(pa.scalar(self.now_us, MOMENT), count)


@dataclass(frozen=True)
class Column:
    """A column; its type in standard SQL and in Arrow."""

    name: str
    sql: str
    type: pa.DataType


@dataclass(frozen=True)
class Table:
    """A table of the business data, made in parts: each is a range of its units."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    units: Callable[[Business], int]
    """How many units a factory has: items, workplaces, customers or orders."""
    make: Callable[[Business, int, int], list[pa.Array]]
    """The columns of the units [first, last)."""
    per_part: int = 3_000
    """Units that are made at once."""
    changes: bool = False
    """Its rows are updated while a query runs."""

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([pa.field(one.name, one.type) for one in self.columns])

    def batch(self, business: Business, first: int, last: int) -> pa.RecordBatch:
        """The rows of the units [first, last), the same in whatever parts they are made."""
        arrays = self.make(business, first, last)
        schema = self.schema
        if len(arrays) != len(schema):
            raise ValueError(f"{self.name}: {len(arrays)} columns made, {len(schema)} wanted")
        columns = [array.cast(field.type) for array, field in zip(arrays, schema, strict=True)]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def parts(self, business: Business) -> Iterator[tuple[int, int]]:
        """The ranges of units that make up the table; they do not depend on who makes them."""
        units = self.units(business)
        for first in range(0, units, self.per_part):
            yield first, min(first + self.per_part, units)


def integer(name: str) -> Column:
    return Column(name, "integer", pa.int32())


def decimal(name: str, precision: int, digits: int) -> Column:
    return Column(name, f"numeric({precision}, {digits})", pa.decimal128(precision, digits))


def text(name: str, longest: int) -> Column:
    return Column(name, f"varchar({longest})", pa.string())


def moment(name: str) -> Column:
    return Column(name, "timestamp with time zone", MOMENT)


def decimals(numbers: NDArray[np.int64], precision: int, digits: int) -> pa.Array:
    """Decimals of whole numbers of their last digit: 1234 with two digits is 12.34."""
    pairs = np.empty((len(numbers), 2), dtype="<i8")
    pairs[:, 0] = numbers
    pairs[:, 1] = numbers >> 63
    buffers = [None, pa.py_buffer(pairs)]
    return pa.Array.from_buffers(pa.decimal128(precision, digits), len(numbers), buffers)


def constant(value: object, kind: pa.DataType, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(value, kind), count)
