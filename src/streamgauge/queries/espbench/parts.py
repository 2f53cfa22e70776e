"""The business data in parts, which the tasks of a Spark job make independently of each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from streamgauge.compute.tasks import spread
from streamgauge.events.factory.business import Business, Table
from streamgauge.events.factory.tables import TABLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_DONE = pa.schema([pa.field("table", pa.string()), pa.field("rows", pa.int64())])


@dataclass(frozen=True)
class Part:
    """The units [first, last) of a table."""

    table: str
    first: int
    last: int

    def make(self, business: Business) -> pa.RecordBatch:
        return table_called(self.table).batch(business, self.first, self.last)


def table_called(name: str) -> Table:
    return next(table for table in TABLES if table.name == name)


def parts_of(business: Business) -> list[Part]:
    """Parts of all tables; large ones and small ones are mixed, so that tasks take equally long."""
    found = [
        Part(table.name, first, last) for table in TABLES for first, last in table.parts(business)
    ]
    return sorted(found, key=lambda part: part.first / table_called(part.table).units(business))


def in_tasks(
    spark: SparkSession, business: Business, work: Callable[[Iterator[Part]], Iterator[int]]
) -> dict[str, int]:
    """Has all parts done by Spark; `work` says how many rows each had. The rows of the tables."""

    def report(parts: Iterator[Part]) -> Iterator[pa.RecordBatch]:
        given = list(parts)
        for part, rows in zip(given, work(iter(given)), strict=True):
            yield pa.record_batch([[part.table], [rows]], schema=_DONE)

    done = spread(spark, parts_of(business), report, _DONE)
    counted = done.groupBy("table").sum("rows").collect()
    return {row[0]: row[1] for row in counted}
