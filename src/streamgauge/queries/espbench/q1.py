"""Q1, check sensor status: average, least, greatest and number of mf01 in every second."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa

from streamgauge.events.sources import LINE
from streamgauge.events.spec import (
    BROKER_TIME,
    EVENT_TIME,
    LATEST_EVENT_TIME,
    MESSAGE,
    MESSAGE_KEY,
)
from streamgauge.queries.base import Input, ResultShape
from streamgauge.queries.espbench.base import (
    MF01,
    RECORD,
    SINK,
    EspbenchQuery,
    field,
    log_of,
    numbers,
)
from streamgauge.queries.replay import Replay

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SECOND_US = 1_000_000
_TIMES = ("window_start", LATEST_EVENT_TIME)
"""In the key of a message; the latter only in update mode."""
_VALUES = ("average", "least", "greatest", "count")
_PARTIAL = pa.schema(
    [
        ("second", pa.int64()),
        ("total", pa.int64()),
        ("least", pa.int64()),
        ("greatest", pa.int64()),
        ("count", pa.int64()),
    ]
)


class StatusQuery(EspbenchQuery):
    """Q1, check sensor status: average, least, greatest and number of mf01 in every second."""

    functions: ClassVar[tuple[str, ...]] = ("windowing", "transformation", "aggregation")

    @property
    def inputs(self) -> Mapping[str, Input]:
        return {"sensors": self.sensor_stream(1)}

    @property
    def shape(self) -> ResultShape:
        # A window is complete at its end; an update of it is as new as its latest record.
        input_time = "window_end" if self.output_mode == "append" else LATEST_EVENT_TIME
        return ResultShape(
            keys=("window_start",),
            closes="window_end",
            text=RECORD,
            input_time=input_time,
            output_time=BROKER_TIME,
        )

    def on_spark(self, sensors: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        mf01 = field(MF01).cast("bigint")
        found = sensors.groupBy(F.window(EVENT_TIME, "1 second")).agg(
            F.avg(mf01).alias("average"),
            F.min(mf01).alias("least"),
            F.max(mf01).alias("greatest"),
            F.count("*").alias("count"),
            F.max(EVENT_TIME).alias(LATEST_EVENT_TIME),
        )
        return found.select(
            F.col("window.start").alias("window_start"),
            F.col("window.end").alias("window_end"),
            LATEST_EVENT_TIME,
            F.concat_ws(",", *_VALUES).alias(RECORD),
        )

    def parsed(self, messages: DataFrame) -> DataFrame:
        """Which window a result is of is in the key of its message."""
        from pyspark.sql import functions as F  # noqa: N812

        schema = ", ".join(f"{name} BIGINT" for name in _TIMES)
        key, parts = F.from_json(MESSAGE_KEY, schema), F.split(MESSAGE, ",")
        return messages.select(
            *[F.timestamp_micros(key[name]).alias(name) for name in _TIMES],
            F.timestamp_micros(key["window_start"] + SECOND_US).alias("window_end"),
            F.get(parts, F.lit(0)).try_cast("double").alias("average"),
            *[
                F.get(parts, F.lit(place)).try_cast("bigint").alias(name)
                for place, name in enumerate(_VALUES[1:], 1)
            ],
            *SINK,
        )

    def expected(self, spark: SparkSession, replay: Replay) -> DataFrame:
        """Sums per second and part of the log with NumPy; a window without records has none."""
        from pyspark.sql import functions as F  # noqa: N812
        from pyspark.sql.pandas.types import from_arrow_schema

        events = log_of(spark, replay, "sensors").select(
            F.unix_micros(EVENT_TIME).alias("time_us"), LINE
        )
        partial = events.mapInArrow(_sums, from_arrow_schema(_PARTIAL))
        start = F.timestamp_micros(F.col("second") * SECOND_US).alias("window_start")
        end = F.timestamp_micros((F.col("second") + 1) * SECOND_US).alias("window_end")
        return (
            partial.groupBy("second")
            .agg(
                (F.sum("total") / F.sum("count")).alias("average"),
                F.min("least").alias("least"),
                F.max("greatest").alias("greatest"),
                F.sum("count").alias("count"),
            )
            .select(start, end, *_VALUES)
        )


def _sums(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        seconds = batch.column("time_us").to_numpy() // SECOND_US
        values = numbers(batch.column(LINE), MF01)
        for second in np.unique(seconds):
            inside = values[seconds == second]
            row = (second, inside.sum(), inside.min(), inside.max(), len(inside))
            yield pa.record_batch([[int(value)] for value in row], schema=_PARTIAL)
