"""The validator finds each planted fault and counts it exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from streamgauge.events.spec import ARRIVAL, PLACE
from streamgauge.measure.record import RunRecord, SourceRecord
from streamgauge.measure.validation import compare, counts_of, validate
from streamgauge.queries.base import ResultShape
from streamgauge.queries.gaming.aggregation import AggregationQuery
from streamgauge.queries.own import QueryConfig
from streamgauge.queries.replay import Replay
from tests.loads import START_US, replay_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

QUERY = AggregationQuery(keys=50)
CLOSED_US = START_US + 8_000_000
ARRIVED_US = START_US + 7_000_000


@pytest.fixture(scope="module")
def replay() -> Replay:
    return replay_of(QUERY, rate_per_s=2_000)


@pytest.fixture(scope="module")
def right(spark: SparkSession, replay: Replay) -> DataFrame:
    """The results of a system without faults: every window that could close."""
    expected = QUERY.expected(spark, replay).where(
        f"unix_micros(window_end) <= {replay.frontier_us}"
    )
    return (
        expected.selectExpr("*", f"{ARRIVED_US}L AS {ARRIVAL}")
        .orderBy("window_start", "gem_pack")
        .cache()
    )


def record_of(replay: Replay, query: AggregationQuery = QUERY, spoil: int = 0) -> RunRecord:
    statuses = [
        SourceRecord(
            instance=i,
            stream="purchases",
            time_us=5_000_000,
            offered=offered,
            drained=offered,
            queued=0,
            queue_max=0,
            queue_limits=(1, 2, 3),
            lag_p99_us=0,
            fingerprint=replay.built_load.feeds[i].events.fingerprint(0, offered) + spoil,
        )
        for i, offered in enumerate(replay.offered)
    ]
    return RunRecord(
        load=replay.load,
        query=QueryConfig(name="gaming.aggregation", parameters={"keys": query.keys}),
        warm_up_us=0,
        start_us=replay.start_us,
        end_us=5_000_000,
        closed_us=CLOSED_US,
        drained=True,
        instances=statuses,
    )


def found(spark: SparkSession, replay: Replay, results: DataFrame | None) -> dict[str, int | None]:
    validation = validate(spark, QUERY, record_of(replay), results)
    names = ("expected", "actual", "missing", "extra", "duplicate", "wrong", "late")
    return {name: getattr(validation, name) for name in names}


CLEAN = {"missing": 0, "extra": 0, "duplicate": 0, "wrong": 0, "late": 0}


def test_right_results_are_valid(spark: SparkSession, replay: Replay, right: DataFrame) -> None:
    count = right.count()
    assert count > 150
    assert found(spark, replay, right) == {"expected": count, "actual": count, **CLEAN}


def test_lost_results_are_missing(spark: SparkSession, replay: Replay, right: DataFrame) -> None:
    count = right.count()
    lost = right.where("NOT (gem_pack = 25 AND window_start < '2100-01-01')")
    gone = count - lost.count()
    assert gone == 4
    result = found(spark, replay, lost)
    assert result == {"expected": count, "actual": count - gone, **CLEAN, "missing": gone}


def test_no_results_at_all_are_all_missing(
    spark: SparkSession, replay: Replay, right: DataFrame
) -> None:
    count = right.count()
    assert found(spark, replay, None) == {
        "expected": count,
        "actual": 0,
        **CLEAN,
        "missing": count,
    }


def test_doubled_results_are_duplicates(
    spark: SparkSession, replay: Replay, right: DataFrame
) -> None:
    doubled = right.union(right.where("gem_pack IN (20, 21)"))
    surplus = doubled.count() - right.count()
    assert surplus == 8
    result = found(spark, replay, doubled)
    assert (result["duplicate"], result["missing"], result["extra"]) == (surplus, 0, 0)
    assert result["wrong"] == 0


@pytest.mark.parametrize("factor", [1 + 5e-6, 1 - 5e-6, 2.0])
def test_one_value_changed_in_the_sixth_digit_is_wrong(
    spark: SparkSession, replay: Replay, right: DataFrame, factor: float
) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    first = right.agg(F.min("window_start")).collect()[0][0]
    hit = (F.col("window_start") == first) & (F.col("gem_pack") == 25)
    value = F.col("average_price_cents")
    changed = right.withColumn("average_price_cents", F.when(hit, value * factor).otherwise(value))
    result = found(spark, replay, changed)
    assert {name: result[name] for name in CLEAN} == {**CLEAN, "wrong": 1}


def test_the_last_digits_of_a_floating_point_sum_may_differ(
    spark: SparkSession, replay: Replay, right: DataFrame
) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    value = F.col("average_price_cents")
    changed = right.withColumn("average_price_cents", value * (1 + 1e-13))
    assert found(spark, replay, changed)["wrong"] == 0


def test_a_wrong_latest_event_time_is_wrong(
    spark: SparkSession, replay: Replay, right: DataFrame
) -> None:
    changed = right.selectExpr(
        "window_start",
        "window_end",
        "gem_pack",
        "average_price_cents",
        "latest_event_time + IF(gem_pack = 25, INTERVAL 1 MICROSECOND, INTERVAL 0 MICROSECOND) "
        "AS latest_event_time",
        ARRIVAL,
    )
    assert found(spark, replay, changed)["wrong"] == 4


def test_unexpected_results_are_extra(
    spark: SparkSession, replay: Replay, right: DataFrame
) -> None:
    invented = right.union(
        right.where("gem_pack = 25").selectExpr(
            "window_start",
            "window_end",
            "gem_pack + 1000",
            "average_price_cents",
            "latest_event_time",
            ARRIVAL,
        )
    )
    result = found(spark, replay, invented)
    assert {name: result[name] for name in CLEAN} == {**CLEAN, "extra": 4}


def test_results_after_the_end_are_late(
    spark: SparkSession, replay: Replay, right: DataFrame
) -> None:
    late = right.selectExpr(
        "window_start",
        "window_end",
        "gem_pack",
        "average_price_cents",
        "latest_event_time",
        f"{ARRIVAL} + IF(gem_pack = 25, 2000000L, 0L) AS {ARRIVAL}",
    )
    result = found(spark, replay, late)
    assert {name: result[name] for name in CLEAN} == {**CLEAN, "late": 4}


def test_the_order_of_arrival_does_not_matter(
    spark: SparkSession, replay: Replay, right: DataFrame
) -> None:
    shuffled = right.repartition(5, "average_price_cents")
    result = found(spark, replay, shuffled)
    assert {name: result[name] for name in CLEAN} == CLEAN


def test_the_time_of_the_output_is_not_compared(
    spark: SparkSession, replay: Replay, right: DataFrame
) -> None:
    class Stamped(AggregationQuery):
        @property
        def shape(self) -> ResultShape:
            return super().shape.model_copy(update={"output_time": "sent"})

        def expected(self, spark: SparkSession, replay: Replay) -> DataFrame:
            return super().expected(spark, replay).selectExpr("*", "current_timestamp() AS sent")

    sent = right.selectExpr("*", "timestamp_micros(7) AS sent")
    validation = validate(spark, Stamped(keys=QUERY.keys), record_of(replay), sent)
    assert (validation.wrong, validation.missing) == (0, 0)


def test_in_update_mode_the_last_value_counts(
    spark: SparkSession, replay: Replay, right: DataFrame
) -> None:
    """The last to arrive, and of those that arrived together the last in their order."""
    query = QUERY.model_copy(update={"output_mode": "update"})
    everything = query.expected(spark, replay).selectExpr(
        "*", f"{ARRIVED_US}L AS {ARRIVAL}", f"10L AS {PLACE}"
    )

    def another(arrival_us: int, place: int) -> DataFrame:
        """An update with another value, as it arrives."""
        kept = ("window_start", "window_end", "gem_pack", "latest_event_time")
        value = "0.0D AS average_price_cents"
        other = everything.selectExpr(
            *kept, value, f"{arrival_us}L AS {ARRIVAL}", f"{place}L AS {PLACE}"
        )
        return everything.unionByName(other)

    for before in (another(ARRIVED_US - 1, 20), another(ARRIVED_US, 9)):
        validation = validate(spark, query, record_of(replay), before)
        assert (validation.missing, validation.wrong, validation.duplicate) == (0, 0, 0)
        assert validation.expected == everything.count() > right.count()
    for after in (another(ARRIVED_US + 1, 9), another(ARRIVED_US, 11)):
        assert validate(spark, query, record_of(replay), after).wrong == everything.count()


def test_input_that_the_driver_did_not_offer_is_found(
    spark: SparkSession, replay: Replay, right: DataFrame
) -> None:
    assert validate(spark, QUERY, record_of(replay), right).input_matches is True
    assert validate(spark, QUERY, record_of(replay, spoil=1), right).input_matches is False


def test_examples_show_what_is_wrong(spark: SparkSession, replay: Replay, right: DataFrame) -> None:
    validation = validate(spark, QUERY, record_of(replay), right.where("gem_pack != 25"))
    assert len(validation.examples) == 4
    assert all("missing" in text and "gem_pack 25" in text for text in validation.examples)


@pytest.mark.parametrize(
    ("expected", "actual", "faults"),
    [
        ([(1, 5), (1, 6)], [(1, 6), (1, 5)], {}),
        ([(1, 5), (1, 6)], [(1, 5), (1, 5)], {"wrong": 1}),
        ([(1, 5), (1, 6)], [(1, 5)], {"missing": 1}),
        ([(1, 5), (1, 6)], [(1, 5), (1, 6), (1, 6)], {"duplicate": 1}),
        ([(1, 5), (1, 6)], [(1, 5), (1, 7)], {"wrong": 1}),
        ([(None, 5)], [(None, 5)], {}),
        ([(None, 5)], [(None, 6)], {"wrong": 1}),
        ([(None, 5)], [(0, 5)], {"missing": 1, "extra": 1}),
    ],
)
def test_several_results_of_one_key_and_null_keys_are_compared(
    spark: SparkSession,
    expected: list[tuple[int | None, int]],
    actual: list[tuple[int | None, int]],
    faults: dict[str, int],
) -> None:
    left, right = (spark.createDataFrame(rows, "key int, value int") for rows in (expected, actual))
    counts = counts_of(compare(left, right, ["key"], ["value"]))
    none = {"missing": 0, "extra": 0, "duplicate": 0, "wrong": 0}
    assert counts == {"expected": len(expected), **none, **faults}
