"""The Yahoo! streaming benchmark: views of ads per campaign and window."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, model_validator

from streamgauge.compute.tasks import spread
from streamgauge.dual.pipeline import Operation
from streamgauge.events.ads import VIEW, ad_events, campaign_table
from streamgauge.events.distributions import DistributionName
from streamgauge.events.spec import EVENT_TIME, LATEST_EVENT_TIME
from streamgauge.queries.base import EVENT, Input, OptionalService, ResultShape, Stream, Table
from streamgauge.queries.pipelines.base import PipelineQuery, running_counts
from streamgauge.queries.pipelines.redis_counts import (
    REDIS,
    RedisCounts,
    check_address,
    check_answer,
)
from streamgauge.queries.replay import Replay, Slice
from streamgauge.references import revealed
from streamgauge.units import SECOND_US, DurationUs, WholeNumber

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

AD, CAMPAIGN, WINDOW, COUNT = "ad_id", "campaign_id", "window_start", "count"
_TIME = "seen_at"
_LONGEST_WAIT_US = 10 * SECOND_US
"""Most time that a load waits for the start of a window."""
_COUNTS = pa.schema(
    [
        ("start_us", pa.int64()),
        (CAMPAIGN, pa.string()),
        (COUNT, pa.int64()),
        ("latest_us", pa.int64()),
    ]
)
_VIEWS = f"{WINDOW} timestamp, {CAMPAIGN} string, {LATEST_EVENT_TIME} timestamp, {EVENT} bigint"


class YahooQuery(PipelineQuery):
    """Views of ads per campaign and window of event time, as in the Yahoo! streaming benchmark."""

    mirror_service: ClassVar[str] = REDIS

    campaigns: WholeNumber = Field(default=100, ge=1, le=1_000_000, description="that have ads")
    ads_per_campaign: WholeNumber = Field(default=10, ge=1, le=1_000, description="of a campaign")
    distribution: DistributionName = Field(default="uniform", description="of ads")
    zipf_s: float = Field(default=1.0, gt=0, le=10, description="exponent of `zipf`")
    window: DurationUs = Field(default=10 * SECOND_US, ge=1_000, description="length of a window")

    @model_validator(mode="after")
    def _sensible(self) -> YahooQuery:
        if self.window % 1_000:
            raise ValueError("window must be whole milliseconds")
        if self.campaigns * self.ads_per_campaign > 1_000_000:
            raise ValueError("there can be at most 1,000,000 ads; lower `ads_per_campaign`")
        return self

    @property
    def inputs(self) -> Mapping[str, Input]:
        ads = self.campaigns * self.ads_per_campaign
        events = ad_events(ads=ads, distribution=self.distribution, zipf_s=self.zipf_s)
        redis = OptionalService(prepare=check_answer, prepare_given=True, check=check_address)
        return {"events": Stream(events), "ads": Table(self._table), REDIS: redis}

    def _table(self) -> pa.Table:
        return campaign_table(campaigns=self.campaigns, ads_per_campaign=self.ads_per_campaign)

    @property
    def shape(self) -> ResultShape:
        return ResultShape(keys=(WINDOW, CAMPAIGN))

    def mirror(self, name: str) -> RedisCounts:
        return RedisCounts(revealed(self._services[REDIS]), name, (WINDOW, CAMPAIGN, COUNT))

    @property
    def alignment_us(self) -> int:
        return min(self.window, _LONGEST_WAIT_US)

    def operations(self, **fixed: Any) -> Sequence[Operation]:
        return (
            Operation("filter", _filter),
            Operation("join", partial(_join, fixed["ads"])),
            Operation("count", self._count),
        )

    def _count(self, views: DataFrame) -> DataFrame:
        """Without a watermark: that of the load drops what one partition of a topic still has while
        another is further ahead, and Spark refuses a second one behind it. So nothing is late, and
        the state keeps every window."""
        from pyspark.sql import functions as F  # noqa: N812

        # A calculated column does not inherit the watermark.
        time = F.timestamp_micros(F.unix_micros(EVENT_TIME)).alias(_TIME)
        window = F.window(_TIME, f"{self.window} microseconds")
        counts = (
            views.select(CAMPAIGN, time)
            .groupBy(window, CAMPAIGN)
            .agg(F.count("*").alias(COUNT), F.max(_TIME).alias(LATEST_EVENT_TIME))
        )
        start = F.col("window.start").alias(WINDOW)
        return counts.select(start, CAMPAIGN, COUNT, LATEST_EVENT_TIME)

    def prefixes(self, **streams: DataFrame) -> DataFrame:
        table, window_us = self._table(), self.window

        def views(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                seen = _viewed(batch, table)
                times = seen.column(EVENT_TIME)
                starts = _window_starts(times, window_us)
                columns = [pa.array(starts).cast(times.type), seen.column(CAMPAIGN), times]
                yield pa.record_batch(
                    [*columns, seen.column(EVENT)], [WINDOW, CAMPAIGN, LATEST_EVENT_TIME, EVENT]
                )

        return running_counts(streams[self.stream].mapInArrow(views, _VIEWS), (WINDOW, CAMPAIGN))

    def expected(self, spark: SparkSession, replay: Replay) -> DataFrame:
        """Views are looked up in the table and counted by Arrow, a slice at a time."""
        from pyspark.sql import functions as F  # noqa: N812

        table, window_us = self._table(), self.window

        def counts(slices: Iterator[Slice]) -> Iterator[pa.RecordBatch]:
            for part in slices:
                yield _counted(_viewed(replay.batch(part), table), window_us)

        partial_counts = spread(spark, replay.slices(self.stream), counts, _COUNTS)
        totals = partial_counts.groupBy("start_us", CAMPAIGN).agg(
            F.sum(COUNT).alias(COUNT), F.max("latest_us").alias("latest_us")
        )
        return totals.select(
            F.timestamp_micros("start_us").alias(WINDOW),
            CAMPAIGN,
            COUNT,
            F.timestamp_micros("latest_us").alias(LATEST_EVENT_TIME),
        )


def _filter(events: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    return events.where(F.col("event_type") == VIEW).select(AD, EVENT_TIME)


def _join(table: DataFrame, views: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    return views.join(F.broadcast(table), AD).select(CAMPAIGN, EVENT_TIME)


def _viewed(events: pa.RecordBatch, table: pa.Table) -> pa.RecordBatch:
    """The views among the events, with the campaign of each."""
    views = events.filter(pc.equal(events.column("event_type"), VIEW))
    places = pc.index_in(views.column(AD), value_set=table[AD])
    campaigns = table[CAMPAIGN].combine_chunks().take(places)
    return views.append_column(CAMPAIGN, campaigns)


def _window_starts(times: pa.Array, window_us: int) -> Any:
    return times.cast(pa.int64()).to_numpy() // window_us * window_us


def _counted(views: pa.RecordBatch, window_us: int) -> pa.RecordBatch:
    times = views.column(EVENT_TIME).cast(pa.int64())
    table = pa.table(
        {
            "start_us": _window_starts(times, window_us),
            CAMPAIGN: views.column(CAMPAIGN),
            "latest_us": times,
        }
    )
    found = table.group_by(["start_us", CAMPAIGN]).aggregate(
        [("latest_us", "count"), ("latest_us", "max")]
    )
    columns = [found[name].combine_chunks() for name in ("start_us", CAMPAIGN)]
    columns += [found[f"latest_us_{name}"].combine_chunks() for name in ("count", "max")]
    return pa.record_batch(columns, schema=_COUNTS)
