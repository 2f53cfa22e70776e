"""Rows as messages of the topics between segments: JSON, with times as whole microseconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructField, StructType

_DELAY = "spark.watermarkDelayMs"
# Inside of lists and objects, where times are texts; the default has milliseconds only.
_TIMES = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}


def as_text(columns: StructType) -> Column:
    """All columns of a row as one text."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.to_json(F.struct(*[_written(one) for one in columns]), _TIMES)


def as_rows(texts: DataFrame, columns: StructType, others: Sequence[str]) -> DataFrame:
    """The rows of the texts in `value`, with the watermarks that they had, and other columns."""
    from pyspark.sql import functions as F  # noqa: N812

    schema = ", ".join(f"`{one.name}` {_in_text(one)}" for one in columns)
    parsed = F.from_json(F.col("value").cast("string"), schema, _TIMES).alias("row")
    rows = texts.select(parsed, *others).select(*[_read(one) for one in columns], *others)
    for one in columns:
        if _DELAY in one.metadata:
            rows = rows.withWatermark(one.name, f"{one.metadata[_DELAY]} milliseconds")
    return rows


def _is_time(field: StructField) -> bool:
    return field.dataType.typeName() == "timestamp"


def _in_text(field: StructField) -> str:
    return "bigint" if _is_time(field) else field.dataType.simpleString()


def _written(field: StructField) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    column = F.col(f"`{field.name}`")
    return (F.unix_micros(column) if _is_time(field) else column).alias(field.name)


def _read(field: StructField) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    column = F.col(f"row.`{field.name}`")
    return (F.timestamp_micros(column) if _is_time(field) else column).alias(field.name)
