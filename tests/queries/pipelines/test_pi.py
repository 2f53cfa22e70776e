"""Pi: the Spark query, its oracle and a calculation by hand; and every update of it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import pi
from typing import TYPE_CHECKING, Any

import pytest

from streamgauge.queries.pipelines.pi import PiQuery
from tests.loads import replay_of
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
    from pyspark.sql import SparkSession

CASES: list[tuple[PiQuery, dict[str, Any]]] = [
    (PiQuery(terms=1, parts=3), {}),
    (PiQuery(terms=257, parts=20), {"instances": 3, "disorder_us": 300_000}),
    (PiQuery(terms=1_000, parts=50, distribution="zipf"), {"instances": 1}),
]


@pytest.mark.parametrize("case", CASES, ids=["one term", "odd number", "Zipf"])
def test_oracle_spark_query_and_a_calculation_by_hand_agree(
    spark: SparkSession, case: tuple[PiQuery, dict[str, Any]]
) -> None:
    query, settings = case
    replay = replay_of(query, **settings)
    estimate = by_fractions(query.terms)
    by_hand: Rows = {}
    for event in events_by_hand(replay, query.stream):
        latest, _, tuples = by_hand.get((event["part"],), (0, 0.0, 0))
        by_hand[event["part"],] = (max(latest, event["event_time"]), estimate, tuples + 1)
    assert by_hand
    assert near(rows(query, query.expected(spark, replay))) == near(by_hand)
    assert near(spark_rows(spark, query, replay)) == near(by_hand)


def test_more_terms_come_nearer_to_pi() -> None:
    assert by_fractions(1) == 4.0
    assert abs(by_fractions(1_000) - pi) == pytest.approx(1e-3, rel=1e-3)


def test_the_series_is_not_computed_in_advance(spark: SparkSession) -> None:
    query = PiQuery(terms=50)
    tuples = spark.sql(
        "SELECT 1 AS part, int(50 + id % 2) AS terms, now() AS event_time FROM range(2)"
    )
    plan = query.on_spark(tuples=tuples)._jdf.queryExecution().optimizedPlan().toString()
    assert "aggregate(sequence" in plan


def test_every_update_is_checked_and_planted_errors_are_found(spark: SparkSession) -> None:
    query = PiQuery(terms=10, parts=5)
    played = played_updates(query)
    assert checked(spark, query, played) == (len(played.rows), 0)
    assert faults(spark, query, played) == {}
    in_the_middle = played.changed(17, pi=lambda value: value * (1 + 1e-7))
    assert checked(spark, query, in_the_middle) == (len(played.rows), 1)
    last = len(played.rows) - 1
    assert faults(spark, query, played.changed(last, pi=lambda n: n + 1e-7)) == {"wrong": 1}
    assert faults(spark, query, played.changed(last, tuples=lambda n: n + 1)) == {"wrong": 1}
    part = played.rows[0]["part"]
    lost = [row for row in played.rows if row["part"] != part]
    assert faults(spark, query, Updates(played.replay, lost, played.schema)) == {"missing": 1}


def played_updates(query: PiQuery) -> Updates:
    replay = replay_of(query, rate_per_s=100, seconds=3, instances=1)
    estimate = by_fractions(query.terms)
    tuples: Counter[int] = Counter()
    sent = []
    for event in events_by_hand(replay, query.stream):
        part = event["part"]
        tuples[part] += 1
        values = {"part": part, "pi": estimate, "tuples": tuples[part]}
        sent.append({**values, "latest_us": event["event_time"]})
    return Updates(replay, sent, "part int, pi double, tuples bigint, latest_us bigint")


def by_fractions(terms: int) -> float:
    return float(4 * sum(Fraction((-1) ** n, 2 * n + 1) for n in range(terms)))


def near(found: Rows) -> Rows:
    return {key: tuple(round(one, 9) for one in values) for key, values in found.items()}
