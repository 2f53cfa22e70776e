"""A user's own function as a query: its inputs, its parameters and the columns it must return."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import streamgauge
from streamgauge.errors import ExperimentError
from streamgauge.queries.gaming.aggregation import AggregationQuery
from tests.events.every_kind import EVERY_KIND
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
    assert list(query.services) == ["alarm"]
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
    with pytest.raises(ExperimentError, match="returns no column stamped"):
        query.expected(spark, replay_of(query, rate_per_s=100))


def test_keys_that_are_one_text_are_not_one_key_per_letter() -> None:
    with pytest.raises(ExperimentError, match="not a list of columns: 'country'") as caught:
        streamgauge.query(events=EVENTS, keys="country")
    assert caught.value.fix == 'write keys=["country"]'


def taking(arguments: str) -> Any:
    return eval(f"lambda {arguments}: None")


def own(arguments: str, **inputs: Any) -> Any:
    return streamgauge.query(events=EVENTS, keys=["sensor"], inputs=inputs)(taking(arguments))


@pytest.mark.parametrize(
    ("given", "taken"),
    [("5 s", "5 seconds"), (5, "5 seconds"), ("2 minutes", "2 minutes"), (0.5, "500 milliseconds")],
)
def test_a_duration_has_the_same_notation_as_everywhere(given: Any, taken: str) -> None:
    """Spark knows `5 seconds`, but not `5 s`."""
    query = own("events, *, window='1 second', label='5'")
    assert query.with_parameters(window=given, label="5 s").parameters == {
        "window": taken,
        "label": "5 s",
    }


def test_a_duration_without_a_known_unit_is_refused() -> None:
    query = own("events, *, window='1 second'")
    with pytest.raises(ExperimentError, match=r"workload.window: '5 sek' has an unknown") as caught:
        query.with_parameters(window="5 sek")
    assert "`5 s`" in caught.value.fix


@pytest.mark.parametrize(
    ("arguments", "problem", "fix"),
    [
        ("events, window='1 s'", "takes window by position", "`*, window`"),
        ("", "takes 0 positional", "one DataFrame per stream"),
        ("events", "does not take `rooms`", "`*, rooms`"),
        ("events, *, rooms, least", "workload.least: is missing", "default"),
    ],
)
def test_a_function_that_cannot_be_called_is_refused_before_spark_starts(
    arguments: str, problem: str, fix: str
) -> None:
    with pytest.raises(ExperimentError) as caught:
        own(arguments, rooms=streamgauge.Table(ROOMS)).with_parameters()
    assert problem in caught.value.cause
    assert fix in caught.value.fix


def test_an_oracle_takes_the_same_parameters() -> None:
    query = own("events, *, window='1 s', least=0")
    query.oracle(taking("events, *, least"))
    query.with_parameters(least=1)
    with pytest.raises(ExperimentError, match=r"<string>:1 .* does not take `window`"):
        query.with_parameters(window="2 s")


def test_a_query_can_read_into_objects_and_json_text(spark: SparkSession) -> None:
    @streamgauge.query(events=EVERY_KIND, keys=["reading"])
    def inside(events: Any) -> Any:
        return events.selectExpr(
            "reading",
            "alarm",
            "unix_micros(installed) AS installed",
            "place.at.x AS x",
            "get_json_object(message, '$.inner.level') AS level",
            "event_time AS latest_event_time",
        )

    query = inside.with_parameters()
    replay = replay_of(query, rate_per_s=100)
    found = {row["reading"]: row for row in query.expected(spark, replay).collect()}
    made = [row for part in replay.slices("events") for row in replay.batch(part).to_pylist()]
    assert len(found) == len(made) == 500
    for one in made:
        row = found[one["reading"]]
        assert (row["alarm"], row["x"]) == (one["alarm"], one["place"]["at"]["x"])
        assert row["installed"] == one["installed"].timestamp() * 1_000_000
        assert int(row["level"]) == json.loads(one["message"])["inner"]["level"]
