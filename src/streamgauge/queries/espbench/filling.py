"""Fills the database with the business data: a Spark job, each task loads what it makes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from streamgauge.errors import ComponentError
from streamgauge.events.factory.business import Business
from streamgauge.events.factory.tables import TABLES
from streamgauge.queries.espbench.database import open_database
from streamgauge.queries.espbench.parts import Part, in_tasks, table_called
from streamgauge.references import revealed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def fill(
    spark: SparkSession, database_address: str, *, seed: int, scale: int, now_us: int
) -> dict[str, int]:
    """Replaces the business data by that of a seed and scale; the number of rows by table."""
    return fill_with(spark, database_address, Business(seed, scale, now_us))


def fill_with(spark: SparkSession, database_address: str, business: Business) -> dict[str, int]:
    # An executor on another machine cannot look up what the address refers to.
    address = revealed(database_address)

    def load(parts: Iterator[Part]) -> Iterator[int]:
        with open_database(address) as connection:
            for part in parts:
                batch = part.make(business)
                connection.copy(table_called(part.table), [batch])
                yield batch.num_rows

    with open_database(address) as database:
        database.create(TABLES)
        made = in_tasks(spark, business, load)
        for table in TABLES:
            found = database.count(table)
            if found != made[table.name]:
                raise ComponentError(
                    f"the table {table.name} has {found:,} rows instead of {made[table.name]:,}",
                    fix="see that nobody else fills the same database, and fill it again",
                )
        database.loaded(TABLES)
    return made
