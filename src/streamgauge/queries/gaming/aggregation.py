"""Q1: the average price per gem pack over a window, or over all gem packs (global windows)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import gcd
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from streamgauge.compute.tasks import spread
from streamgauge.events.spec import EVENT_TIME, LATEST_EVENT_TIME
from streamgauge.queries.base import EVENT, Input, ResultShape
from streamgauge.queries.gaming.windows import WindowedQuery, moments
from streamgauge.queries.replay import Columns, Replay, Slice

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PANES = pa.schema(
    [
        ("pane_us", pa.int64()),
        ("gem_pack", pa.int32()),
        ("total", pa.int64()),
        ("count", pa.int64()),
        ("latest_us", pa.int64()),
    ]
)


class AggregationQuery(WindowedQuery):
    """Q1: the average price per gem pack over a window, or over all of them (global windows)."""

    windows: Literal["partitioned", "global"] = Field(
        default="partitioned", description="one window per key, or one over all keys"
    )

    @property
    def inputs(self) -> Mapping[str, Input]:
        return self.gaming_streams("purchases", reads=self._reads)

    @property
    def shape(self) -> ResultShape:
        return ResultShape(keys=("window_start", *self._key), closes="window_end")

    @property
    def _key(self) -> tuple[str, ...]:
        return ("gem_pack",) if self.windows == "partitioned" else ()

    @property
    def _reads(self) -> tuple[str, ...]:
        return (*self._key, "price_cents")

    def on_spark(self, purchases: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        return (
            purchases.groupBy(F.window("event_time", *self.spark_window), *self._key)
            .agg(
                F.avg("price_cents").alias("average_price_cents"),
                F.max("event_time").alias(LATEST_EVENT_TIME),
            )
            .select(
                F.col("window.start").alias("window_start"),
                F.col("window.end").alias("window_end"),
                *self._key,
                "average_price_cents",
                LATEST_EVENT_TIME,
            )
        )

    def prefixes(self, **streams: DataFrame) -> DataFrame:
        from pyspark.sql import Window
        from pyspark.sql import functions as F  # noqa: N812

        windowed = streams["purchases"].select(
            F.window("event_time", *self.spark_window).alias("window"),
            *self._key,
            "price_cents",
            F.col("event_time").alias(LATEST_EVENT_TIME),
            EVENT,
        )
        so_far = Window.partitionBy("window", *self._key).orderBy(LATEST_EVENT_TIME)
        return windowed.select(
            F.col("window.start").alias("window_start"),
            F.col("window.end").alias("window_end"),
            *self._key,
            F.avg("price_cents").over(so_far).alias("average_price_cents"),
            LATEST_EVENT_TIME,
            EVENT,
        )

    def on_windows(self, *, start_us: int, purchases: Columns) -> pa.RecordBatch:
        """Sums and counts of one window, per key."""
        times = purchases[EVENT_TIME]
        groups = purchases["gem_pack"] if self._key else np.zeros(len(times), dtype=np.int64)
        keys, group = np.unique(groups, return_inverse=True)
        latest = np.zeros(len(keys), dtype=np.int64)
        np.maximum.at(latest, group, times)
        totals = np.bincount(group, weights=purchases["price_cents"], minlength=len(keys))
        columns: dict[str, Any] = {
            "window_start": moments(start_us, len(keys)),
            "window_end": moments(start_us + self.window, len(keys)),
            **{name: keys.astype(np.int32) for name in self._key},
            "average_price_cents": totals / np.bincount(group, minlength=len(keys)),
            LATEST_EVENT_TIME: moments(latest),
        }
        return pa.record_batch(columns)

    def expected(self, spark: SparkSession, replay: Replay) -> DataFrame:
        """Sums per pane (the common divisor of length and slide) with NumPy, panes into windows."""
        from pyspark.sql import functions as F  # noqa: N812

        pane_us = gcd(self.window, self.slide_us)
        keys = self.keys if self.windows == "partitioned" else 1
        reads = self._reads

        def partial_sums(slices: Iterator[Slice]) -> Iterator[pa.RecordBatch]:
            for part in slices:
                yield _panes(replay.columns(part, reads), pane_us, keys)

        panes = spread(spark, replay.slices("purchases"), partial_sums, _PANES)
        pane = F.col("pane_us")
        # The windows of a pane start at the multiples of the slide in (pane − length, pane].
        first = F.lit(self.slide_us) * F.ceil((pane - self.window + pane_us) / self.slide_us)
        last = F.lit(self.slide_us) * F.floor(pane / self.slide_us)
        starts = F.sequence(first, last, F.lit(self.slide_us))
        windows = panes.withColumn("start_us", F.explode(starts)).groupBy("start_us", *self._key)
        totals = windows.agg(
            F.sum("total").alias("total"),
            F.sum("count").alias("count"),
            F.max("latest_us").alias("latest_us"),
        )
        return totals.select(
            F.timestamp_micros("start_us").alias("window_start"),
            F.timestamp_micros(F.col("start_us") + self.window).alias("window_end"),
            *self._key,
            (F.col("total") / F.col("count")).alias("average_price_cents"),
            F.timestamp_micros("latest_us").alias(LATEST_EVENT_TIME),
        )


def _panes(events: Columns, pane_us: int, keys: int) -> pa.RecordBatch:
    times = events[EVENT_TIME]
    pane = times // pane_us
    base = int(pane.min())
    group = pane - base
    if keys > 1:
        group = group * keys + events["gem_pack"]
    size = (int(pane.max()) - base + 1) * keys
    if size > len(times):
        # Sorting is quicker than a place for every key in every pane, and takes no more memory.
        places, group = np.unique(group, return_inverse=True)
    else:
        places = np.arange(size)
    count = np.bincount(group, minlength=len(places))
    total = np.bincount(group, weights=events["price_cents"], minlength=len(places))
    latest = np.zeros(len(places), dtype=np.int64)
    np.maximum.at(latest, group, times)
    (seen,) = np.nonzero(count)
    columns = [
        (places[seen] // keys + base) * pane_us,
        (places[seen] % keys).astype(np.int32),
        total[seen].astype(np.int64),
        count[seen],
        latest[seen],
    ]
    return pa.record_batch(columns, schema=_PANES)
