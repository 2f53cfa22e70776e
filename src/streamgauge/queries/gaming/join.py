"""Q2: purchases and ads of the same user and gem pack within a window, and the higher price."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field

from streamgauge.events.spec import EVENT_TIME, LATEST_EVENT_TIME
from streamgauge.queries.base import Input, ResultShape
from streamgauge.queries.gaming.windows import TIME, WindowedQuery, moments
from streamgauge.queries.replay import Columns
from streamgauge.units import Share, WholeNumber

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_COLUMNS = ("user", "gem_pack", "price_cents")


class JoinQuery(WindowedQuery):
    """Q2: pairs of a purchase and an ad of one user and gem pack, with the higher price."""

    results: ClassVar[pa.Schema] = pa.schema(
        [
            ("window_start", TIME),
            ("user", pa.int32()),
            ("gem_pack", pa.int32()),
            ("purchase_us", pa.int64()),
            ("ad_us", pa.int64()),
            ("price_cents", pa.int32()),
            (LATEST_EVENT_TIME, TIME),
        ]
    )

    keys: WholeNumber = Field(default=10_000, ge=1, le=1 << 30, description="users, and gem packs")
    selectivity: Share = Field(default=1.0, description="share of ads that can find a purchase")

    @property
    def inputs(self) -> Mapping[str, Input]:
        return self.gaming_streams("purchases", "ads", reads=_COLUMNS, selectivity=self.selectivity)

    @property
    def shape(self) -> ResultShape:
        # A pair is emitted when its second half arrives, so every pair is expected.
        return ResultShape(keys=("window_start", "user", "gem_pack", "purchase_us", "ad_us"))

    def on_spark(self, purchases: DataFrame, ads: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        join = self._by_time if self.slide_us < self.window else self._by_window
        return join(purchases, ads).select(
            *self.shape.keys,
            F.greatest("purchase_price", "ad_price").alias("price_cents"),
            F.timestamp_micros(F.greatest("purchase_us", "ad_us")).alias(LATEST_EVENT_TIME),
        )

    def _by_window(self, purchases: DataFrame, ads: DataFrame) -> DataFrame:
        """The window is a part of the key, by which its state is removed when it closes."""
        from pyspark.sql import functions as F  # noqa: N812

        def windowed(stream: DataFrame, name: str) -> DataFrame:
            # The time is carried as a number: Spark refuses a second event-time column.
            return stream.select(
                F.window("event_time", *self.spark_window).alias("window"),
                "user",
                "gem_pack",
                F.unix_micros("event_time").alias(f"{name}_us"),
                F.col("price_cents").alias(f"{name}_price"),
            )

        keys = ["window", "user", "gem_pack"]
        pairs = windowed(purchases, "purchase").join(windowed(ads, "ad"), on=keys)
        return pairs.withColumn("window_start", F.col("window.start"))

    def _by_time(self, purchases: DataFrame, ads: DataFrame) -> DataFrame:
        """For windows that overlap: the state has each event once, not once for each window.

        The pairs are made first, then the windows that hold both halves: twice the throughput.
        """
        from pyspark.sql import functions as F  # noqa: N812

        def timed(stream: DataFrame, name: str) -> DataFrame:
            return stream.select(
                F.col("event_time").alias(f"{name}_time"),
                F.col("user").alias(f"{name}_user"),
                F.col("gem_pack").alias(f"{name}_gem_pack"),
                F.col("price_cents").alias(f"{name}_price"),
            )

        near = F.expr(
            f"purchase_time > ad_time - INTERVAL {self.window} MICROSECONDS"
            f" AND purchase_time < ad_time + INTERVAL {self.window} MICROSECONDS"
        )
        same = F.expr("purchase_user = ad_user AND purchase_gem_pack = ad_gem_pack")
        joined = timed(purchases, "purchase").join(timed(ads, "ad"), on=same & near)
        pairs = joined.select(
            F.col("purchase_user").alias("user"),
            F.col("purchase_gem_pack").alias("gem_pack"),
            F.unix_micros("purchase_time").alias("purchase_us"),
            F.unix_micros("ad_time").alias("ad_us"),
            "purchase_price",
            "ad_price",
        )
        slide = self.slide_us
        ended_before = F.greatest("purchase_us", "ad_us") - self.window
        first = ended_before - F.pmod(ended_before, F.lit(slide)) + slide
        earlier = F.least("purchase_us", "ad_us")
        last = earlier - F.pmod(earlier, F.lit(slide))
        starts = F.explode(F.sequence(first, last, F.lit(slide)))
        windows = pairs.where(first <= last).withColumn("start_us", starts)
        return windows.withColumn("window_start", F.timestamp_micros("start_us"))

    def on_windows(self, *, start_us: int, purchases: Columns, ads: Columns) -> pa.RecordBatch:
        """The pairs of one window, with a sort-merge join."""
        left, right = matches(_combined(purchases), _combined(ads))
        purchase_us, ad_us = purchases[EVENT_TIME][left], ads[EVENT_TIME][right]
        prices = np.maximum(purchases["price_cents"][left], ads["price_cents"][right])
        columns = [
            moments(start_us, len(left)),
            purchases["user"][left].astype(np.int32),
            purchases["gem_pack"][left].astype(np.int32),
            purchase_us,
            ad_us,
            prices.astype(np.int32),
            moments(np.maximum(purchase_us, ad_us)),
        ]
        return pa.record_batch(columns, schema=self.results)


def _combined(columns: Columns) -> NDArray[np.int64]:
    """User and gem pack as one number; both fit 31 bits."""
    return (columns["user"].astype(np.int64) << 32) | columns["gem_pack"].astype(np.int64)


def matches(
    left: NDArray[np.int64], right: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places in both arrays of every pair of equal keys."""
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    low = np.searchsorted(ordered, left, side="left")
    count = np.searchsorted(ordered, left, side="right") - low
    places = np.repeat(np.arange(len(left)), count)
    # The k-th partner of a left row is k places after its first partner.
    nth = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return places, order[np.repeat(low, count) + nth]
