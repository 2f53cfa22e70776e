"""Rows survive the text of a message."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

from streamgauge.dual.spark.rows import as_rows, as_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TIME = datetime.datetime(2026, 11, 18, 12, 0, 0, 123_456)


def test_rows_are_the_same_after_a_message(spark: SparkSession) -> None:
    schema = (
        "n bigint, part double, word string, at timestamp, raw binary, none string,"
        " inner struct<at: timestamp, words: array<string>>"
    )
    row = (7, 0.1 + 0.2, 'a "b" ä\n', TIME, b"\x00\xff", None, (TIME, ["x", "y"]))
    rows = spark.createDataFrame([row], schema)
    texts = rows.select(as_text(rows.schema).alias("value"), rows["n"].alias("hidden"))
    again = as_rows(texts, rows.schema, ["hidden"])
    assert again.columns == [*rows.columns, "hidden"]
    assert again.drop("hidden").collect() == rows.collect()


def test_a_watermark_goes_with_its_column(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load()
    rows = stream.select("timestamp").withWatermark("timestamp", "3 seconds")
    texts = stream.select(stream["value"].cast("string").alias("value"))
    again = as_rows(texts, rows.schema, [])
    assert again.schema["timestamp"].metadata == {"spark.watermarkDelayMs": 3000}
