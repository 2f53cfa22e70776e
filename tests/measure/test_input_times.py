"""The input times of results that do not carry them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from streamgauge import Keys, Uuid, event_spec, results
from streamgauge.measure.input_times import carry_input_times, with_input_times
from streamgauge.measure.latency import Handovers, latencies
from streamgauge.queries.own import batch_of
from tests.loads import replay_of
from tests.measure.test_validation import record_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EVENTS = event_spec(id=Uuid(), sensor=Keys(size=3, distribution="uniform"))
BEGIN = datetime(2026, 1, 1, tzinfo=timezone.utc)


def frame(spark: SparkSession, rows: list[tuple[Any, ...]]) -> DataFrame:
    return spark.createDataFrame(rows, "sensor bigint, latest_event_time timestamp")


def test_the_time_is_that_of_the_expected_result_with_the_same_keys(spark: SparkSession) -> None:
    query = results(events=EVENTS, keys=["sensor"], per_event=1).with_parameters()
    record = record_of(replay_of(query, seconds=1))
    at = [BEGIN + timedelta(seconds=one) for one in range(4)]
    # Two results are expected for sensor 2, so that of neither is known.
    expected = frame(spark, [(1, at[1]), (2, at[2]), (2, at[3])])
    actual = frame(spark, [(1, None), (2, None), (7, None)])
    assert not carry_input_times(actual, query)
    assert carry_input_times(expected, query)
    found = with_input_times(spark, query, record, expected, actual)
    times = {row["sensor"]: row["latest_event_time"] for row in found.collect()}
    assert times.pop(1).timestamp() == at[1].timestamp()
    assert times == {2: None, 7: None}
    # A result whose input is not known has no latency.
    arrived = found.selectExpr("*", "0L AS arrival_us")
    assert latencies(arrived, 0, Handovers([]), query.shape).count() == 1


@pytest.mark.parametrize(("mode", "known"), [("append", True), ("update", False)])
def test_or_that_of_the_event_with_the_same_keys(
    spark: SparkSession, mode: Any, known: bool
) -> None:
    query = results(events=EVENTS, keys=["id"], output_mode=mode).with_parameters()
    record = record_of(replay_of(query, seconds=1))
    events = batch_of(spark, record.replay, "events")
    expected = query.expected(spark, record.replay)
    actual = expected.selectExpr("*", "CAST(null AS timestamp) AS latest_event_time")
    found = with_input_times(spark, query, record, expected, actual).join(events, "id")
    assert found.count() == 1_000
    assert found.where("latest_event_time = event_time").count() == (1_000 if known else 0)
