"""Runs work in parallel on Spark: a list of pieces in, Arrow record batches out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Piece = TypeVar("Piece")
TASKS_PER_CORE = 4


def spread(
    spark: SparkSession,
    pieces: Sequence[Piece],
    work: Callable[[Iterator[Piece]], Iterator[pa.RecordBatch]],
    schema: pa.Schema,
) -> DataFrame:
    """A DataFrame of the record batches that `work` makes of the pieces."""
    from pyspark.sql.pandas.types import from_arrow_schema

    tasks = max(1, min(len(pieces), TASKS_PER_CORE * spark.sparkContext.defaultParallelism))

    def partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from work(pieces[number] for number in batch.column(0).to_pylist())

    numbers = spark.range(0, len(pieces), 1, tasks)
    return numbers.mapInArrow(partition, from_arrow_schema(schema))
