"""When each input event became visible, and whether every update was right when it was sent.

A system in real-time mode sends an update per event, one in micro-batches an update per key and
batch, so latencies over results are over different populations. Visibility latency is over the
input events, which are the same for every system: from an event's time to the arrival of the first
result that reflects it.

Both need to know which result the input up to an event gives: `Query.prefixes`.
"""

from __future__ import annotations

from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from streamgauge.events.spec import EVENT_TIME
from streamgauge.measure.latency import VISIBILITY, micros
from streamgauge.measure.record import RunRecord
from streamgauge.measure.validation import same_value
from streamgauge.queries.base import EVENT, Query
from streamgauge.queries.own import batch_of

MOST_EVENTS = 500_000
"""About so many events are followed; of more, all those of a random part of the results."""
_SHARES = 1_000


def prefixes_of(spark: SparkSession, query: Query, record: RunRecord) -> DataFrame | None:
    """The result that each prefix of the input gives; None if the query does not define it."""
    streams = {
        name: batch_of(spark, record.replay, name).withColumn(
            EVENT, F.monotonically_increasing_id()
        )
        for name in record.load.streams
    }
    prefixes = query.prefixes(**streams)
    events = sum(instance.offered for instance in record.instances)
    if prefixes is None or events <= MOST_EVENTS:
        return prefixes
    place = F.pmod(F.xxhash64(*query.shape.keys), F.lit(_SHARES))
    return prefixes.where(place < F.lit(max(1, _SHARES * MOST_EVENTS // events)))


def visibility(prefixes: DataFrame, results: DataFrame, query: Query, start_us: int) -> DataFrame:
    """One row per event that became visible: second of the load, and latency in milliseconds."""
    shape = query.shape
    keys = list(shape.keys)
    seen = results.select(
        *keys,
        micros(results, shape.input_time).alias("time_us"),
        micros(results, shape.output_time).alias("arrived_us"),
        F.lit(None).cast("bigint").alias(EVENT),
    )
    events = prefixes.select(
        *keys,
        micros(prefixes, shape.input_time).alias("time_us"),
        F.lit(None).cast("bigint").alias("arrived_us"),
        EVENT,
    )
    # A result reflects an event if the latest of its inputs is not before it.
    not_before = Window.partitionBy(*keys).orderBy(F.col("time_us").desc())
    first = F.min("arrived_us").over(not_before).alias("visible_us")
    followed = events.unionByName(seen).select("time_us", EVENT, first)
    of_event = followed.where(f"{EVENT} IS NOT NULL").groupBy(EVENT, "time_us")
    visible = of_event.agg(F.min("visible_us").alias("visible_us")).where("visible_us IS NOT NULL")
    return visible.select(
        F.floor((F.col("time_us") - start_us) / 1_000_000).alias("second"),
        ((F.col("visible_us") - F.col("time_us")) / 1_000).alias(VISIBILITY),
    )


def wrong_updates(prefixes: DataFrame, results: DataFrame, query: Query) -> tuple[int, int]:
    """Updates that were compared, and those that no prefix of their input gives."""
    shape = query.shape
    keys = [*shape.keys, shape.input_time]
    values = [name for name in prefixes.columns if name not in (*keys, EVENT, EVENT_TIME)]
    # Several where an event changes a result more than once: a line that has a word twice, say.
    right = prefixes.groupBy(*keys).agg(F.collect_set(F.struct(*(values or keys))).alias("right"))
    # Only updates of results that are followed.
    followed = results.join(prefixes.select(*shape.keys).distinct(), list(shape.keys))
    joined = followed.join(right, keys, "left")
    types = dict(prefixes.dtypes)

    def gives(prefix: Column) -> Column:
        checks = [same_value(F.col(name), prefix[name], types[name]) for name in values]
        return reduce(and_, checks, F.lit(True))

    same = F.coalesce(F.exists("right", gives), F.lit(False))
    row = joined.agg(F.count("*").alias("all"), F.count_if(~same).alias("wrong")).collect()[0]
    return int(row["all"]), int(row["wrong"])
