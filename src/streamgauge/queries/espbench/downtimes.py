"""The planned downtimes of the workplaces as a table of Spark that is read again in every batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from streamgauge.queries.espbench.database import open_database

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NAME = "espbench-downtimes"


class Downtimes(DataSource):
    """Asks the database whenever Spark runs a plan with it: in a stream, once per batch."""

    @classmethod
    def name(cls) -> str:
        return _NAME

    def schema(self) -> str:
        return "workplace INT, start TIMESTAMP, end TIMESTAMP"

    def reader(self, schema: Any) -> DataSourceReader:  # noqa: ARG002
        return _Reader(self.options["address"])


class _Reader(DataSourceReader):
    def __init__(self, address: str) -> None:
        self._address = address

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(0)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        with open_database(self._address) as database:
            yield from database.downtimes().to_batches()


def read_downtimes(spark: SparkSession, address: str) -> DataFrame:
    """Workplace, start and end of its planned downtime."""
    spark.dataSource.register(Downtimes)
    return spark.read.format(_NAME).option("address", address).load()
