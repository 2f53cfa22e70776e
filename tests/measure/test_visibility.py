"""Visibility latency and the check of updates, against a system that is played here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from streamgauge.measure.latency import statistics, visibility_series
from streamgauge.measure.visibility import prefixes_of, visibility, wrong_updates
from streamgauge.queries.gaming.aggregation import AggregationQuery
from tests.loads import START_US, replay_of
from tests.measure.test_validation import record_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SECOND_US = 1_000_000


class Played:
    """A system that sends, every `every_us`, an update of each result that has changed."""

    def __init__(self, query: AggregationQuery, every_us: int) -> None:
        self.query = query
        self.replay = replay_of(query, rate_per_s=200, seconds=4, instances=1)
        self.events = self.replay.columns(
            self.replay.slices("purchases")[0], ("gem_pack", "price_cents")
        )
        self.every_us = every_us

    def updates(self) -> list[tuple[Any, ...]]:
        sums: dict[tuple[int, int], tuple[int, int, int]] = {}
        changed: set[tuple[int, int]] = set()
        rows: list[tuple[Any, ...]] = []
        sent_us = START_US
        columns = [self.events[name].tolist() for name in ("event_time", "gem_pack", "price_cents")]
        for time_us, pack, price in (*zip(*columns, strict=True), (10**18, 0, 0)):
            while time_us >= sent_us + self.every_us and changed:
                sent_us += self.every_us
                for key in sorted(changed):
                    total, count, latest = sums[key]
                    rows.append((*key, total / count, latest, sent_us, len(rows)))
                changed.clear()
            sent_us = max(sent_us, START_US + (time_us - START_US) // self.every_us * self.every_us)
            if time_us == 10**18:
                break
            for start in self.starts(time_us):
                total, count, _ = sums.get((start, pack), (0, 0, 0))
                sums[start, pack] = (total + price, count + 1, time_us)
                changed.add((start, pack))
        return rows

    def starts(self, time_us: int) -> list[int]:
        slide, window = self.query.slide_us, self.query.window
        last = time_us // slide * slide
        return list(range(last, last - window, -slide))

    def results(self, spark: SparkSession) -> DataFrame:
        names = (
            "start_us long, gem_pack int, average_price_cents double, latest_us long, "
            "arrival_us long, arrival_place long"
        )
        return spark.createDataFrame(self.updates(), names).selectExpr(
            "timestamp_micros(start_us) AS window_start",
            f"timestamp_micros(start_us + {self.query.window}) AS window_end",
            "gem_pack",
            "average_price_cents",
            "timestamp_micros(latest_us) AS latest_event_time",
            "arrival_us",
            "arrival_place",
        )


@pytest.mark.parametrize("slide", [None, "500 ms"])
def test_every_event_is_visible_at_the_next_update(spark: SparkSession, slide: str | None) -> None:
    query = AggregationQuery(keys=20, window="1 s", slide=slide, output_mode="update")
    played = Played(query, every_us=100_000)
    prefixes = prefixes_of(spark, query, record_of(played.replay, query))
    assert prefixes is not None
    found = visibility(prefixes, played.results(spark), query, START_US)
    rows = {row["second"]: row for row in found.groupBy("second").count().collect()}
    assert sum(row["count"] for row in rows.values()) == len(played.events["event_time"]) == 800
    figures = statistics(found, 0, ("visibility",)).visibility
    expected = sorted(
        (played.every_us - (time - START_US) % played.every_us) / 1_000
        for time in played.events["event_time"].tolist()
    )
    assert (figures.min, figures.max) == (expected[0], expected[-1])
    assert figures.p50 == pytest.approx((expected[399] + expected[400]) / 2)
    drawn = visibility_series(found)
    assert drawn.time_s == sorted(map(float, rows))
    assert max(filter(None, drawn.max)) == expected[-1]
    assert wrong_updates(prefixes, played.results(spark), query) == (len(played.updates()), 0)


def test_an_update_that_no_prefix_gives_is_counted(spark: SparkSession) -> None:
    query = AggregationQuery(keys=20, window="1 s", output_mode="update")
    played = Played(query, every_us=100_000)
    prefixes = prefixes_of(spark, query, record_of(played.replay, query))
    assert prefixes is not None
    wrong = played.results(spark).selectExpr(
        "* EXCEPT (average_price_cents)",
        "average_price_cents + IF(arrival_place IN (3, 33), 0.5D, 0D) AS average_price_cents",
    )
    assert wrong_updates(prefixes, wrong, query) == (len(played.updates()), 2)


def test_a_query_without_prefixes_has_no_visibility(spark: SparkSession) -> None:
    from streamgauge.queries.gaming.join import JoinQuery

    query = JoinQuery(keys=20)
    assert prefixes_of(spark, query, record_of(replay_of(query), query)) is None  # type: ignore[arg-type]
