"""A user's own function as a query: its inputs, its parameters and the columns it must return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import streamgauge
from streamgauge.errors import ExperimentError
from streamgauge.queries.gaming.aggregation import AggregationQuery
from tests.loads import replay_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVENTS = streamgauge.event_spec(sensor=streamgauge.Keys(size=3))
ROOMS = pa.table({"sensor": pa.array([0, 1], pa.int32()), "room": ["hall", "attic"]})


@streamgauge.query(
    events=EVENTS,
    keys=["room"],
    inputs={"rooms": streamgauge.Table(lambda: ROOMS), "alarm": streamgauge.Service()},
)
def by_room(readings: Any, *, rooms: Any, alarm: str, least: int = 0) -> Any:
    from pyspark.sql import functions as F  # noqa: N812

    counts = (
        readings.join(rooms, "sensor")
        .groupBy("room")
        .agg(F.count("*").alias("readings"), F.max("event_time").alias("latest_event_time"))
    )
    return counts.where(F.col("readings") > least).withColumn("alarm", F.lit(alarm))


def test_streams_come_by_place_and_tables_services_and_parameters_by_name(
    spark: SparkSession, tmp_path: Any
) -> None:
    query = by_room.with_parameters(least=5).placed(tmp_path, {"alarm": "here:1"})
    assert list(query.streams) == ["events"]
    assert query.services == ["alarm"]
    rows = query.expected(spark, replay_of(query, rate_per_s=100)).collect()
    assert {row["room"] for row in rows} == {"hall", "attic"}
    assert {row["alarm"] for row in rows} == {"here:1"}


def test_a_function_is_an_implementation_for_spark_and_for_nothing_else() -> None:
    query = by_room.with_parameters()
    assert query.kinds == ["spark"]
    with pytest.raises(ExperimentError, match="needs one for `windows`") as caught:
        query.implementation("windows")
    assert "spark" in caught.value.fix
    assert AggregationQuery().kinds == ["spark", "windows"]


def test_a_misspelt_parameter_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(ExperimentError, match=r"workload.lest") as caught:
        by_room.with_parameters(lest=5)
    assert caught.value.fix == "did you mean `least`?"


@pytest.mark.parametrize("stamp", ["input_time", "output_time"])
def test_a_result_without_a_time_of_its_latency_is_refused(spark: SparkSession, stamp: str) -> None:
    @streamgauge.query(events=EVENTS, keys=["sensor"], **{stamp: "stamped"})
    def unstamped(events: Any) -> Any:
        return events.selectExpr("sensor", "event_time AS latest_event_time")

    query = unstamped.with_parameters()
    with pytest.raises(ExperimentError, match="has no column stamped"):
        query.expected(spark, replay_of(query, rate_per_s=100))
