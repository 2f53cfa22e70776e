"""Results that arrived as texts, as columns of the types that the oracle has.

A time is whole microseconds since 1970, or a text of ISO 8601.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import DataType, StringType, StructField, StructType, TimestampType

from streamgauge.events.spec import ARRIVAL, BROKER_TIME, MESSAGE, OFFSET, PARTITION, PLACE
from streamgauge.queries.base import Query

_PARSED = "_parsed"
_SINK = (BROKER_TIME, PARTITION, OFFSET, ARRIVAL, PLACE)


def decoded(results: DataFrame, expected: StructType, query: Query) -> DataFrame:
    """The columns of the oracle and the times of the shape; those of the sink are kept."""
    shape = query.shape
    if shape.text is not None:
        return query.parsed(results)
    times = [
        StructField(name, TimestampType())
        for name in (shape.input_time, shape.output_time)
        if name not in (*expected.names, ARRIVAL, BROKER_TIME)
    ]
    fields = [*expected.fields, *times]
    raw = StructType([StructField(one.name, _raw(one.dataType)) for one in fields])
    parsed = results.select(F.from_json(MESSAGE, raw).alias(_PARSED), *_SINK)
    columns = [
        _typed(F.col(f"{_PARSED}.`{one.name}`"), one.dataType).alias(one.name) for one in fields
    ]
    return parsed.select(*columns, *_SINK)


def _raw(kind: DataType) -> DataType:
    """Times are read as texts, because their form is not known."""
    if isinstance(kind, StructType):
        return StructType([StructField(one.name, _raw(one.dataType)) for one in kind.fields])
    return StringType() if isinstance(kind, TimestampType) else kind


def _typed(column: Column, kind: DataType) -> Column:
    if isinstance(kind, StructType):
        fields = [_typed(column[one.name], one.dataType).alias(one.name) for one in kind.fields]
        return F.when(column.isNotNull(), F.struct(*fields))
    if isinstance(kind, TimestampType):
        micros = F.timestamp_micros(column.try_cast("bigint"))
        return F.coalesce(micros, column.try_cast("timestamp"))
    return column
