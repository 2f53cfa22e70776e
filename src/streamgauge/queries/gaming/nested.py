"""Q3: purchases and ads of one country within a window; averages per geo of the pairs above 100."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field

from streamgauge.events.gaming import GEOS
from streamgauge.events.spec import EVENT_TIME, LATEST_EVENT_TIME
from streamgauge.queries.base import Input, ResultShape, Table
from streamgauge.queries.gaming.windows import TIME, WindowedQuery, moments
from streamgauge.queries.replay import Columns
from streamgauge.units import Share

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COUNTRIES = 200
HIGH_PRICE_CENTS = 10_000
_COLUMNS = ("geo", "price_cents")


class NestedQuery(WindowedQuery):
    """Q3: purchases and ads joined per country, then the average per geo of the dear ones."""

    results: ClassVar[pa.Schema] = pa.schema(
        [
            ("window_start", TIME),
            ("window_end", TIME),
            ("geo", pa.int32()),
            ("average_price_cents", pa.float64()),
            (LATEST_EVENT_TIME, TIME),
        ]
    )

    selectivity: Share = Field(default=0.001, description="share of ads that can find a purchase")

    @property
    def inputs(self) -> Mapping[str, Input]:
        streams = ("purchases", "ads")
        events = self.gaming_streams(*streams, reads=_COLUMNS, selectivity=self.selectivity)
        return {**events, "countries": Table(_countries)}

    @property
    def shape(self) -> ResultShape:
        return ResultShape(keys=("window_start", "geo"), closes="window_end")

    def on_spark(self, purchases: DataFrame, ads: DataFrame, countries: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        def enriched(stream: DataFrame, name: str) -> DataFrame:
            return stream.join(F.broadcast(countries), "geo").select(
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

    def on_windows(
        self, *, start_us: int, purchases: Columns, ads: Columns, countries: pa.Table
    ) -> pa.RecordBatch:
        """From sorted prices and running sums per country, without the pairs themselves."""
        country_of = _country_of(countries)
        totals = np.zeros(len(country_of), dtype=np.int64)
        counts, latest = np.zeros_like(totals), np.zeros_like(totals)
        partners_of = _by_country(ads, country_of)
        for country, buyers in _by_country(purchases, country_of).items():
            if country not in partners_of:
                continue
            geo = buyers["geo"]
            count, total, latest_us = _pairs_above(buyers, partners_of[country])
            np.add.at(counts, geo, count)
            np.add.at(totals, geo, total)
            np.maximum.at(latest, geo, latest_us)
        (seen,) = np.nonzero(counts)
        columns = [
            moments(start_us, len(seen)),
            moments(start_us + self.window, len(seen)),
            seen.astype(np.int32),
            totals[seen] / counts[seen],
            moments(latest[seen]),
        ]
        return pa.record_batch(columns, schema=self.results)


def _countries() -> pa.Table:
    """The country of every geo that exists."""
    geos = np.arange(GEOS)
    return pa.table({"geo": geos.astype(np.int32), "country": geos % COUNTRIES})


def _country_of(countries: pa.Table) -> NDArray[np.int64]:
    """Countries by geo; -1 where there is none."""
    geos = countries.column("geo").to_numpy()
    found = np.full(int(geos.max()) + 1, -1, dtype=np.int64)
    found[geos] = countries.column("country").to_numpy()
    return found


def _by_country(events: Columns, country_of: NDArray[np.int64]) -> dict[int, Columns]:
    """The events of each country that has any, without those of a geo without a country."""
    known = (events["geo"] < len(country_of)).nonzero()[0]
    country = country_of[events["geo"][known]]
    known, country = known[country >= 0], country[country >= 0]
    order = np.argsort(country, kind="stable")
    found, first = np.unique(country[order], return_index=True)
    # Split before every first place, so that no events give no group.
    groups = np.split(known[order], first)[1:]
    return {
        int(number): {name: values[places] for name, values in events.items()}
        for number, places in zip(found, groups, strict=True)
    }


def _pairs_above(
    purchases: Columns, ads: Columns
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """For each purchase: the number of pairs above the limit, their total, their latest time."""
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
