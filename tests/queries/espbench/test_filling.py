"""The import by Spark: every task loads what it makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamgauge.events.factory.tables import TABLES
from streamgauge.queries.espbench.database import BusinessDatabase
from streamgauge.queries.espbench.filling import fill_with
from streamgauge.queries.espbench.parts import parts_of

from .conftest import SMALL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_spark_fills_the_database_and_replaces_what_was_there(
    spark: SparkSession, database: BusinessDatabase, server: str
) -> None:
    made = {table.name: table.batch(SMALL, 0, table.units(SMALL)).num_rows for table in TABLES}
    assert fill_with(spark, server, SMALL) == made
    assert {table.name: database.count(table) for table in TABLES} == made
    assert database.downtimes().num_rows == SMALL.workplaces


def test_the_parts_cover_every_table_once() -> None:
    for table in TABLES:
        parts = sorted((p.first, p.last) for p in parts_of(SMALL) if p.table == table.name)
        assert parts[0][0] == 0
        assert parts[-1][1] == table.units(SMALL)
        assert [last for _, last in parts[:-1]] == [first for first, _ in parts[1:]]
