"""Tries a query and its oracle on no events and on a few, so that a mistake is found at once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from streamgauge.compute.failures import explained
from streamgauge.driver.config import LoadConfig
from streamgauge.errors import ExperimentError
from streamgauge.events.sources import Source
from streamgauge.events.spec import EVENT_TIME
from streamgauge.queries.base import Query
from streamgauge.queries.replay import Replay
from streamgauge.systems.spark.system import SparkBase

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EVENTS = 100
"""Of each driver instance: a mistake in a Python function shows with any of them."""


def check_query(spark: SparkSession, query: Query, load: LoadConfig) -> None:
    """Spark must accept the query as a stream, and its oracle must work for the first events."""
    try:
        fixed = query.fixed_inputs(spark.createDataFrame)
        streams = {name: _empty_stream(spark, source) for name, source in query.streams.items()}
        results: DataFrame = query.implementation(SparkBase.kind)(**streams, **fixed)
        writer = results.writeStream.format("noop").outputMode(query.output_mode)
        writer.start().stop()
        first = tuple(min(EVENTS, feed.times.total) for feed in load.build().feeds)
        expected = query.expected(spark, Replay(load, time.time_ns() // 1_000, first))
        expected.write.format("noop").mode("overwrite").save()
    except Exception as error:
        raise explained(error, query.file, query.result_line) from error
    lacking = [name for name in expected.columns if name not in results.columns]
    if lacking:
        raise ExperimentError(
            "workload.query",
            f"the oracle returns {', '.join(lacking)}, which the query does not return; "
            f"it returns {', '.join(results.columns)}",
            fix="give both the same columns",
        )


def _empty_stream(spark: SparkSession, source: Source) -> DataFrame:
    """A stream with the columns of the source that never has an event."""
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.pandas.types import from_arrow_schema

    clock = spark.readStream.format("rate").load().where("false")
    columns = [
        (F.col("timestamp") if one.name == EVENT_TIME else F.lit(None).cast(one.dataType)).alias(
            one.name
        )
        for one in from_arrow_schema(source.schema)
    ]
    return clock.select(columns).withWatermark(EVENT_TIME, "0 seconds")
