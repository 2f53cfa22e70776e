"""Compares what a service holds besides the topic of the results with the expected results."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from streamgauge.measure.validation import compare, counts_of
from streamgauge.queries.base import Query

FAULTS = ("missing", "extra", "wrong")


def mirror_faults(
    spark: SparkSession, query: Query, folder: Path, expected: DataFrame
) -> dict[str, int]:
    """By field of `Validation`; a service that holds nothing lacks all of them."""
    shape = query.shape
    # A service holds no times of results.
    names = [one for one in expected.columns if one not in (shape.input_time, shape.output_time)]
    expected = expected.select(*names)
    parts = sorted(str(part) for part in folder.glob("part-*.parquet"))
    held = spark.read.parquet(*parts) if parts else spark.createDataFrame([], expected.schema)
    values = [name for name in names if name not in shape.keys]
    found = counts_of(compare(expected, held, list(shape.keys), values))
    return {f"mirror_{name}": found[name] for name in FAULTS}
