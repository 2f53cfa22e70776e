"""Q3: purchases and ads of one country within a window; averages per geo of the pairs above 100."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field

from streamgauge.compute.tasks import spread
from streamgauge.driver.sink import LATEST_EVENT_TIME
from streamgauge.events.gaming import GEOS
from streamgauge.events.spec import EVENT_TIME, DataSet
from streamgauge.queries.base import ResultShape
from streamgauge.queries.gaming.windows import WindowedQuery
from streamgauge.queries.replay import Columns, Replay
from streamgauge.units import Share

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COUNTRIES = 200
HIGH_PRICE_CENTS = 10_000
_TIME = pa.timestamp("us", tz="UTC")
_AVERAGES = pa.schema(
    [
        ("window_start", _TIME),
        ("window_end", _TIME),
        ("geo", pa.int32()),
        ("average_price_cents", pa.float64()),
        (LATEST_EVENT_TIME, _TIME),
    ]
)
_COLUMNS = ("geo", "price_cents")


class NestedQuery(WindowedQuery):
    """Q3: purchases and ads joined per country, then the average per geo of the dear ones."""

    selectivity: Share = Field(default=0.001, description="share of ads that can find a purchase")

    @property
    def data_set(self) -> DataSet:
        return self.data("purchases", "ads", selectivity=self.selectivity)

    @property
    def shape(self) -> ResultShape:
        return ResultShape(keys=("window_start", "geo"), closes="window_end")

    @property
    def reads(self) -> tuple[str, ...]:
        return _COLUMNS

    def define(self, *streams: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        purchases, ads = streams
        geos = purchases.sparkSession.range(GEOS).select(
            F.col("id").cast("int").alias("geo"), (F.col("id") % COUNTRIES).alias("country")
        )

        def enriched(stream: DataFrame, name: str) -> DataFrame:
            return stream.join(F.broadcast(geos), "geo").select(
                F.window("event_time", *self.spark_window).alias("window"),
                "country",
                F.col("geo").alias(f"{name}_geo"),
                F.unix_micros("event_time").alias(f"{name}_us"),
                F.col("price_cents").alias(f"{name}_price"),
            )

        pairs = enriched(purchases, "purchase").join(enriched(ads, "ad"), on=["window", "country"])
        high = pairs.select(
            "window",
            F.col("purchase_geo").alias("geo"),
            F.greatest("purchase_price", "ad_price").alias("price_cents"),
            F.greatest("purchase_us", "ad_us").alias("latest_us"),
        ).where(F.col("price_cents") > HIGH_PRICE_CENTS)
        averages = high.groupBy("window", "geo").agg(
            F.avg("price_cents").alias("average_price_cents"), F.max("latest_us").alias("latest_us")
        )
        return averages.select(
            F.col("window.start").alias("window_start"),
            F.col("window.end").alias("window_end"),
            "geo",
            "average_price_cents",
            F.timestamp_micros("latest_us").alias(LATEST_EVENT_TIME),
        )

    def expected(self, spark: SparkSession, replay: Replay) -> DataFrame:
        """Without making the pairs: sorted prices and running sums, per window and country."""

        def averages(starts: Iterator[int]) -> Iterator[pa.RecordBatch]:
            for start in starts:
                yield _averages_of_window(replay, start, self.window)

        return spread(spark, self.window_starts(replay), averages, _AVERAGES)


def _averages_of_window(replay: Replay, start: int, length: int) -> pa.RecordBatch:
    purchases = replay.between("purchases", start, start + length, _COLUMNS)
    ads = replay.between("ads", start, start + length, _COLUMNS)
    known = ads["geo"] < GEOS
    ads = {name: values[known] for name, values in ads.items()}
    totals = np.zeros(GEOS, dtype=np.int64)
    counts = np.zeros(GEOS, dtype=np.int64)
    latest = np.zeros(GEOS, dtype=np.int64)
    partners_of = _by_country(ads)
    for country, buyers in _by_country(purchases).items():
        if country not in partners_of:
            continue
        geo = buyers["geo"]
        count, total, latest_us = _pairs_above(buyers, partners_of[country])
        np.add.at(counts, geo, count)
        np.add.at(totals, geo, total)
        np.maximum.at(latest, geo, latest_us)
    (seen,) = np.nonzero(counts)
    moment = pa.array(np.full(len(seen), start, dtype=np.int64))
    return pa.record_batch(
        [
            moment.cast(_TIME),
            pa.array(np.full(len(seen), start + length, dtype=np.int64)).cast(_TIME),
            seen.astype(np.int32),
            totals[seen] / counts[seen],
            pa.array(latest[seen]).cast(_TIME),
        ],
        schema=_AVERAGES,
    )


def _by_country(events: Columns) -> dict[int, Columns]:
    """The events of each country that has any."""
    country = events["geo"] % COUNTRIES
    order = np.argsort(country, kind="stable")
    found, first = np.unique(country[order], return_index=True)
    groups = np.split(order, first[1:])
    return {
        int(number): {name: values[places] for name, values in events.items()}
        for number, places in zip(found, groups, strict=True)
    }


def _pairs_above(
    purchases: Columns, ads: Columns
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """For each purchase: how many pairs lie above the limit, their total, their latest time."""
    order = np.argsort(ads["price_cents"], kind="stable")
    prices = ads["price_cents"][order].astype(np.int64)
    times = ads[EVENT_TIME][order]
    running = np.concatenate(([0], np.cumsum(prices)))
    latest_from = np.concatenate((np.maximum.accumulate(times[::-1])[::-1], [0]))
    own = purchases["price_cents"].astype(np.int64)
    high = own > HIGH_PRICE_CENTS
    # Ads dearer than the purchase and above the limit decide the price themselves; a purchase
    # above the limit decides it for all the others.
    dearer = np.searchsorted(prices, np.maximum(own, HIGH_PRICE_CENTS), side="right")
    count = np.where(high, len(prices), len(prices) - dearer)
    total = (running[-1] - running[dearer]) + np.where(high, dearer * own, 0)
    partner = latest_from[np.where(high, 0, dearer)]
    latest = np.where(count > 0, np.maximum(partner, purchases[EVENT_TIME]), 0)
    return count, total, latest
