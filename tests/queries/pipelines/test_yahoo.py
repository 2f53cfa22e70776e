"""Yahoo!: the Spark query, its oracle and a count by hand; every update; nothing is ever late."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from streamgauge.events.ads import AD_TYPES, EVENT_TYPES, ad_events, campaign_table
from streamgauge.queries.pipelines.yahoo import YahooQuery
from tests.loads import START_US, replay_of
from tests.queries.pipelines.checks import (
    Rows,
    Updates,
    checked,
    events_by_hand,
    faults,
    rows,
    spark_rows,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SECOND_US = 1_000_000
CASES: list[tuple[YahooQuery, dict[str, Any]]] = [
    (YahooQuery(), {"seconds": 21}),
    (YahooQuery(campaigns=3, ads_per_campaign=2, window="1 s"), {"disorder_us": 300_000}),
    (YahooQuery(campaigns=7, distribution="zipf", window="300 ms"), {"instances": 3}),
]


@pytest.mark.parametrize("case", CASES, ids=["default", "few ads", "Zipf"])
def test_oracle_spark_query_and_a_count_by_hand_agree(
    spark: SparkSession, case: tuple[YahooQuery, dict[str, Any]]
) -> None:
    query, settings = case
    replay = replay_of(query, **settings)
    by_hand: Rows = {}
    for key, time_us in views_by_hand(query, replay):
        count, latest = by_hand.get(key, (0, 0))
        by_hand[key] = (count + 1, max(latest, time_us))
    assert by_hand
    assert rows(query, query.expected(spark, replay)) == by_hand
    assert spark_rows(spark, query, replay) == by_hand


@pytest.mark.parametrize("every", [1, 50])
def test_every_update_is_one_that_a_prefix_gives(spark: SparkSession, every: int) -> None:
    query = YahooQuery(campaigns=5, window="1 s")
    played = played_updates(query, every)
    assert checked(spark, query, played) == (len(played.rows), 0)
    assert faults(spark, query, played) == {}


def test_planted_errors_are_found(spark: SparkSession) -> None:
    query = YahooQuery(campaigns=5, window="1 s")
    played = played_updates(query, 1)
    in_the_middle = played.changed(17, count=lambda count: count + 1)
    assert checked(spark, query, in_the_middle) == (len(played.rows), 1)
    last = len(played.rows) - 1
    assert faults(spark, query, played.changed(last, count=lambda n: n - 1)) == {"wrong": 1}
    of_another = played.changed(last, window_start_us=lambda start: start + SECOND_US)
    assert faults(spark, query, of_another)["extra"] == 1
    campaign = played.rows[0]["campaign_id"]
    assert faults(spark, query, played.without_key(campaign))["missing"] >= 1


def test_a_partition_that_is_behind_loses_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """One batch after the other, as from a topic of which one partition is drained later."""
    in_order = [5, 100, 7, 101, 8, 300, 9]
    assert counted(spark, tmp_path, in_order) == {0: 4, 100: 2, 300: 1}


def test_the_ads_of_the_events_are_those_of_the_table() -> None:
    query = YahooQuery(campaigns=4, ads_per_campaign=5)
    events = events_by_hand(replay_of(query), "events")
    table = campaign_table(campaigns=4, ads_per_campaign=5).to_pylist()
    assert {event["ad_id"] for event in events} == {row["ad_id"] for row in table}
    assert sorted(Counter(row["campaign_id"] for row in table).values()) == [5] * 4
    assert {event["event_type"] for event in events} == set(EVENT_TYPES)
    assert {event["ad_type"] for event in events} == set(AD_TYPES)
    assert not {row["campaign_id"] for row in table} & {row["ad_id"] for row in table}


def test_a_third_of_the_events_are_views() -> None:
    events = events_by_hand(replay_of(YahooQuery(), rate_per_s=10_000, seconds=3), "events")
    views = sum(event["event_type"] == "view" for event in events)
    assert views / len(events) == pytest.approx(1 / 3, rel=0.05)


def test_an_event_has_the_fields_of_the_benchmark() -> None:
    names = {"event_time", "user_id", "page_id", "ad_id", "ad_type", "event_type", "ip_address"}
    assert set(ad_events(ads=10).schema.names) == names


def test_an_impossible_number_of_ads_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 1,000,000 ads"):
        YahooQuery(campaigns=100_000, ads_per_campaign=100)


def views_by_hand(query: YahooQuery, replay: Any) -> list[tuple[tuple[Any, ...], int]]:
    table = query.fixed_inputs(lambda table: table)["ads"].to_pylist()
    campaign = {row["ad_id"]: row["campaign_id"] for row in table}
    return [
        ((e["event_time"] // query.window * query.window, campaign[e["ad_id"]]), e["event_time"])
        for e in events_by_hand(replay, "events")
        if e["event_type"] == "view"
    ]


def played_updates(query: YahooQuery, every: int) -> Updates:
    """What a system sends that handles so many views at a time."""
    replay = replay_of(query, rate_per_s=200, seconds=3, instances=1)
    views = views_by_hand(query, replay)
    counts: Counter[tuple[Any, ...]] = Counter()
    sent: list[dict[str, Any]] = []
    for first in range(0, len(views), every):
        changed = {}
        for key, time_us in views[first : first + every]:
            counts[key] += 1
            values = (*key, counts[key], time_us)
            names = ("window_start_us", "campaign_id", "count", "latest_us")
            changed[key] = dict(zip(names, values, strict=True))
        sent += changed.values()
    schema = "window_start_us bigint, campaign_id string, count bigint, latest_us bigint"
    return Updates(replay, sent, schema)


def counted(spark: SparkSession, folder: Path, seconds: list[int]) -> dict[int, int]:
    """The last count of each window, by its start; each event is a micro-batch of its own."""
    from pyspark.sql import functions as F  # noqa: N812

    query = YahooQuery(campaigns=1, ads_per_campaign=1)
    ads = campaign_table(campaigns=1, ads_per_campaign=1)
    (folder / "in").mkdir()
    for number, second in enumerate(seconds):
        file = folder / "in" / f"{number}.json"
        event = {
            "at": START_US + second * SECOND_US,
            "ad_id": ads["ad_id"][0].as_py(),
            "event_type": "view",
        }
        file.write_text(json.dumps(event))
        os.utime(file, (number, number))
    reader = spark.readStream.schema("at bigint, ad_id string, event_type string")
    events: DataFrame = reader.option("maxFilesPerTrigger", 1).json(str(folder / "in"))
    stream = events.withColumn("event_time", F.timestamp_micros("at"))
    results = query.on_spark(
        events=stream.withWatermark("event_time", "0 seconds"), ads=spark.createDataFrame(ads)
    )
    writer = results.writeStream.format("memory").queryName("behind").outputMode("update")
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()
    found = spark.table("behind").groupBy(F.unix_timestamp("window_start").alias("start"))
    return {
        row["start"] - START_US // SECOND_US: row["n"]
        for row in found.agg(F.max("count").alias("n")).collect()
    }
