"""Spark's end of the channel: its own file source, and a file for each batch of results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
from pyspark.sql.pandas.types import from_arrow_schema

from streamgauge.events.spec import EVENT_TIME
from streamgauge.systems.spark.connector import SparkConnector

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter


class ParquetConnector(SparkConnector):
    """Reads the folder of each stream; the watermark is delayed by the disorder of the load."""

    def read(self, stream: str) -> DataFrame:
        load = self.assignment.load
        schema = from_arrow_schema(load.streams[stream].source.schema)
        folder = f"{self.assignment.offer['folder']}/{stream}"
        events = self.session.readStream.schema(schema).parquet(folder)
        return events.withWatermark(EVENT_TIME, f"{load.watermark_delay_us} microseconds")

    def write(self, results: DataFrame) -> DataStreamWriter:
        folder = Path(self.assignment.offer["folder"])

        def deliver(batch: DataFrame, number: int) -> None:
            rows = batch.toArrow()
            if rows.num_rows:
                unfinished = folder / f"results-{number}.unfinished"
                pq.write_table(rows, unfinished)
                unfinished.rename(folder / "results" / f"{number:08d}.parquet")

        return results.writeStream.foreachBatch(deliver)
