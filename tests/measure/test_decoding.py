"""Results as JSON texts become columns with the types of the oracle."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from streamgauge.measure.decoding import decoded
from streamgauge.queries.base import Query, ResultShape

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Averages(Query):
    @property
    def shape(self) -> ResultShape:
        return ResultShape(keys=("window", "sensor"))


EXPECTED = (
    "window struct<start: timestamp, end: timestamp>, sensor string, mean double, count bigint, "
    "latest_event_time timestamp"
)


def test_times_may_be_numbers_or_texts_and_what_is_no_json_is_null(spark: SparkSession) -> None:
    messages = [
        {
            "window": {"start": 1_700_000_000_000_000, "end": "2023-11-14T22:13:21Z"},
            "sensor": 'a "b"',
            "mean": 0.1,
            "count": 2**53 + 1,
            "latest_event_time": "2023-11-14T22:13:20.123456+00:00",
            "more": [1],
        },
        "no object",
    ]
    rows = [(json.dumps(one), 5, 0, 1, 6, 7) for one in messages]
    results = spark.createDataFrame(
        rows,
        "message string, broker_us long, log_partition int, log_offset long, arrival_us long, "
        "arrival_place long",
    )
    schema = spark.createDataFrame([], EXPECTED).schema
    first, second = (
        decoded(results, schema, Averages()).orderBy("sensor", ascending=False).collect()
    )
    assert (first["sensor"], first["mean"], first["count"]) == ('a "b"', 0.1, 2**53 + 1)
    assert first["window"]["start"].timestamp() == 1_700_000_000
    assert first["window"]["end"].timestamp() == 1_700_000_001
    assert first["latest_event_time"].timestamp() == 1_700_000_000.123456
    assert (first["broker_us"], first["arrival_us"], first["arrival_place"]) == (5, 6, 7)
    assert (second["sensor"], second["window"], second["arrival_us"]) == (None, None, 6)
