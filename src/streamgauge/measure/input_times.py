"""The input times of results that do not carry them, found by the keys of the results."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from streamgauge.events.spec import EVENT_TIME
from streamgauge.measure.record import RunRecord
from streamgauge.queries.base import Query
from streamgauge.queries.own import batch_of


def carry_input_times(results: DataFrame, query: Query) -> bool:
    """Whether at least one result tells the time of its last input."""
    if query.shape.input_time not in results.columns:
        return False
    return not results.where(F.col(query.shape.input_time).isNotNull()).isEmpty()


def with_input_times(
    spark: SparkSession, query: Query, record: RunRecord, expected: DataFrame, results: DataFrame
) -> DataFrame:
    """Each result with the time of the expected result with its keys, or of the event with them.

    A result has none if its keys fit several, or if an update may be that of any of its inputs.
    """
    keys, time = list(query.shape.keys), query.shape.input_time
    if time in expected.columns:
        known = [expected.select(*keys, time)]
    else:
        streams = (batch_of(spark, record.replay, name) for name in record.load.streams)
        known = [
            events.select(*keys, F.col(EVENT_TIME).alias(time))
            for events in streams
            if keys and set(keys) <= set(events.columns)
        ]
    if not known or query.sends_updates:
        return results
    every = reduce(lambda left, right: left.unionByName(right), known)
    single = every.groupBy(*keys).agg(F.max(time).alias(time), F.count("*").alias("_inputs"))
    single = single.where("_inputs = 1").drop("_inputs")
    return results.drop(time).join(single, keys, "left")
