"""The results of each query on Spark, as messages, against its oracle; planted errors counted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from streamgauge.events.sources import LINE, NUMBER
from streamgauge.events.spec import (
    ARRIVAL,
    BROKER_TIME,
    EVENT_TIME,
    MESSAGE,
    MESSAGE_KEY,
    OFFSET,
    PARTITION,
    PLACE,
    SCHEDULED_TIME,
)
from streamgauge.measure.input_times import carry_input_times, with_input_times
from streamgauge.measure.record import RunRecord, SourceRecord
from streamgauge.measure.summary import Validation
from streamgauge.measure.validation import expected_results, validate
from streamgauge.queries.base import Query
from streamgauge.queries.espbench.q0 import IdentityQuery
from streamgauge.queries.espbench.q1 import StatusQuery
from streamgauge.queries.espbench.q2 import outliers
from streamgauge.queries.espbench.q3 import ErrorsQuery
from streamgauge.queries.own import QueryConfig
from streamgauge.queries.replay import Replay
from streamgauge.systems.spark.kafka import as_messages
from tests.queries.espbench.logs import logged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SETTINGS: dict[str, Any] = {"rows": 3_000, "scale": 1}
CLOSED_US = 1_700_000_060_000_000
OUT_US = 1_700_000_030_000_000


def read_log(spark: SparkSession, replay: Replay, stream: str) -> DataFrame:
    """As Spark's Kafka source gives it to a query."""
    from pyspark.sql import functions as F  # noqa: N812

    parts = F.split(MESSAGE, ";", 3)
    return spark.read.parquet(*replay.log_parts(stream)).select(
        F.timestamp_micros(BROKER_TIME).alias(EVENT_TIME),
        F.timestamp_micros(parts[1].cast("bigint")).alias(SCHEDULED_TIME),
        parts[0].cast("bigint").alias(NUMBER),
        parts[2].alias(LINE),
    )


def sent(results: DataFrame, query: Query) -> DataFrame:
    """The messages of the results as the sink keeps them."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    messages = as_messages(results, query.shape)
    place = F.row_number().over(Window.orderBy("key")) - 1
    return messages.select(
        F.col("value").alias(MESSAGE),
        F.col("key").alias(MESSAGE_KEY),
        F.lit(OUT_US).alias(BROKER_TIME),
        F.lit(0).alias(PARTITION),
        place.cast("bigint").alias(OFFSET),
        F.lit(OUT_US).alias(ARRIVAL),
        place.cast("bigint").alias(PLACE),
    )


def record_of(replay: Replay) -> RunRecord:
    instances = [
        SourceRecord(
            instance=number,
            stream=feed.stream,
            time_us=0,
            offered=replay.offered[number],
            drained=replay.offered[number],
            queued=0,
            queue_max=0,
            queue_limits=(1, 2, 3),
            lag_p99_us=0,
            fingerprint=feed.events.fingerprint(0, replay.offered[number]),
        )
        for number, feed in enumerate(replay.built_load.feeds)
    ]
    return RunRecord(
        load=replay.load,
        query=QueryConfig(name="espbench"),
        warm_up_us=0,
        start_us=replay.start_us,
        end_us=5_000_000,
        closed_us=CLOSED_US,
        drained=True,
        instances=instances,
        log=replay.log,
        encoding="text",
    )


def checked(spark: SparkSession, query: Query, replay: Replay, messages: DataFrame) -> Validation:
    record = record_of(replay)
    expected = expected_results(spark, query, record)
    results = query.parsed(messages)
    if not carry_input_times(results, query):
        results = with_input_times(spark, query, record, expected, results)
        expected = expected.drop(query.shape.input_time)
    return validate(spark, query, record, results, expected)


def counts(found: Validation) -> dict[str, int | None]:
    names = ("missing", "extra", "duplicate", "wrong", "late")
    return {name: count for name in names if (count := getattr(found, name))}


@pytest.fixture(scope="module")
def errors_log(tmp_path_factory: pytest.TempPathFactory) -> Replay:
    return logged(ErrorsQuery(**SETTINGS), tmp_path_factory.mktemp("q3") / "log", partitions=2)


@pytest.mark.parametrize("query", [IdentityQuery(**SETTINGS), ErrorsQuery(**SETTINGS)])
def test_records_are_right(
    spark: SparkSession, errors_log: Replay, query: IdentityQuery | ErrorsQuery
) -> None:
    results = query.on_spark(read_log(spark, errors_log, "sensors"))
    found = checked(spark, query, errors_log, sent(results, query))
    assert found.expected == found.actual
    assert found.expected
    assert found.input_matches
    assert counts(found) == {}


def test_planted_errors_are_counted(spark: SparkSession, errors_log: Replay) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    query = ErrorsQuery(**SETTINGS)
    messages = sent(query.on_spark(read_log(spark, errors_log, "sensors")), query).cache()
    lost = messages.where(f"{OFFSET} != 3")
    assert counts(checked(spark, query, errors_log, lost)) == {"missing": 1}
    doubled = messages.unionByName(messages.where(f"{OFFSET} = 2"))
    assert counts(checked(spark, query, errors_log, doubled)) == {"duplicate": 1}
    changed_text = F.when(F.col(OFFSET) == 1, F.concat(MESSAGE, F.lit("9"))).otherwise(
        F.col(MESSAGE)
    )
    changed = messages.withColumn(MESSAGE, changed_text)
    assert counts(checked(spark, query, errors_log, changed)) == {"wrong": 1}
    late_time = F.when(F.col(OFFSET) == 4, CLOSED_US + 1).otherwise(F.col(ARRIVAL))
    late = messages.withColumn(ARRIVAL, late_time)
    assert counts(checked(spark, query, errors_log, late)) == {"late": 1}


def test_a_changed_order_is_an_error_only_if_it_was_asked_for(
    spark: SparkSession, errors_log: Replay
) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    query, strict = ErrorsQuery(**SETTINGS), ErrorsQuery(**SETTINGS, strict_order=True)
    number = F.split(MESSAGE, ";")[0].cast("bigint")
    messages = sent(query.on_spark(read_log(spark, errors_log, "sensors")), query)
    in_order = messages.withColumn(OFFSET, number)
    assert checked(spark, strict, errors_log, in_order).disordered == 0
    # The first result comes last.
    first = in_order.agg(F.min(OFFSET)).collect()[0][0]
    swapped = in_order.withColumn(
        OFFSET, F.when(F.col(OFFSET) == first, 1 << 40).otherwise(F.col(OFFSET))
    )
    assert checked(spark, strict, errors_log, swapped).disordered == 1
    assert checked(spark, query, errors_log, swapped).disordered is None


def test_windows_are_right_to_the_last_complete_one(spark: SparkSession, tmp_path: Path) -> None:
    query = StatusQuery(**SETTINGS)
    replay = logged(query, tmp_path / "log", partitions=3)
    results = query.on_spark(read_log(spark, replay, "sensors"))
    closed = results.where(f"unix_micros(window_end) <= {replay.frontier_us}")
    found = checked(spark, query, replay, sent(closed, query))
    # Events were appended from 2 ms to 5.001 s after the beginning.
    assert found.expected == 5
    assert counts(found) == {}
    one_less = closed.orderBy("window_start").offset(1)
    assert counts(checked(spark, query, replay, sent(one_less, query))) == {"missing": 1}


def test_updates_of_a_window_are_right_if_the_last_one_is(
    spark: SparkSession, tmp_path: Path
) -> None:
    query = StatusQuery(**SETTINGS, output_mode="update")
    replay = logged(query, tmp_path / "log")
    events = read_log(spark, replay, "sensors")
    found = sent(query.on_spark(events), query)
    right = checked(spark, query, replay, found)
    assert right.expected == 6
    assert counts(right) == {}
    without_the_last = sent(query.on_spark(events.where("id < 4999")), query)
    assert counts(checked(spark, query, replay, without_the_last)) == {"wrong": 1}


def test_a_log_that_lacks_an_event_is_noticed(spark: SparkSession, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    query = ErrorsQuery(**SETTINGS)
    replay = logged(query, tmp_path / "log")
    (part,) = replay.log_parts("sensors")
    pq.write_table(pq.read_table(part).slice(1), part)
    messages = sent(query.on_spark(read_log(spark, replay, "sensors")), query)
    assert checked(spark, query, replay, messages).input_matches is False


def test_outliers_of_a_window() -> None:
    import numpy as np
    import pandas as pd

    times = pd.to_datetime(np.arange(500), unit="ms", utc=True)
    window = pd.DataFrame(
        {"id": range(500), "mf01": 1, "mf02": 1, "record": [f"r{n}" for n in range(500)]}
    ).assign(time=times)
    shuffled = window.sample(frac=1, random_state=1)
    probabilities = np.linspace(0, 1, 500)
    found = outliers(shuffled, lambda points: probabilities[: len(points)])
    assert found["id"].tolist() == list(range(250, 500))
    assert found["record"].iloc[-1] == "r499,1.00"
    assert set(found["latest_event_time"]) == {times.max()}
