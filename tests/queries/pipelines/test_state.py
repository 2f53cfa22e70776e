"""A state of a set size: read from a checkpoint, it has exactly the bytes that were set."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from streamgauge.queries.pipelines.state import PIECE, events_to_fill
from streamgauge.queries.pipelines.wordcount import WordCountQuery
from tests.loads import replay_of
from tests.queries.pipelines.checks import events_by_hand, rows, spark_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STORES = "org.apache.spark.sql.execution.streaming.state"
EVENTS = 400


@pytest.mark.parametrize(
    ("size", "store"),
    [
        ("0", "HDFSBackedStateStoreProvider"),
        ("1 B", "HDFSBackedStateStoreProvider"),
        ("4 KiB", "RocksDBStateStoreProvider"),
        ("1 MB", "HDFSBackedStateStoreProvider"),
        ("5 MB", "RocksDBStateStoreProvider"),
    ],
)
def test_the_state_has_exactly_the_bytes_that_were_set(
    spark: SparkSession, tmp_path: Path, size: str, store: str
) -> None:
    query = WordCountQuery(state=size)
    assert events_to_fill(query.state) <= EVENTS
    results = counted(spark, query, tmp_path, store)
    assert {row["word"]: row["count"] for row in results.collect()} == Counter(
        word for number in range(EVENTS) for word in line(number).split()
    )
    state = spark.read.format("statestore").load(str(tmp_path / "checkpoint"))
    pieces = state.where("startswith(key.word, ' ')").selectExpr("octet_length(key.word) AS bytes")
    found = [row["bytes"] for row in pieces.collect()]
    assert sum(found) == query.state
    assert all(one == PIECE for one in sorted(found)[1:])
    if query.state > 1_000_000:
        files = (tmp_path / "checkpoint" / "state").rglob("*")
        assert sum(one.stat().st_size for one in files if one.is_file()) > query.state


def test_a_state_changes_no_result(spark: SparkSession) -> None:
    query = WordCountQuery(state="100 kB", vocabulary=50, lines=500)
    replay = replay_of(query, instances=3)
    words = Counter(
        word for event in events_by_hand(replay, query.stream) for word in event["line"].split()
    )
    found = spark_rows(spark, query, replay)
    assert {word: values[0] for (word,), values in found.items()} == words
    assert rows(query, query.expected(spark, replay)) == found


def line(number: int) -> str:
    return f"a b{number % 10} c"


def counted(spark: SparkSession, query: WordCountQuery, folder: Path, store: str) -> DataFrame:
    """Runs the query over some events with a checkpoint; the last update of each word."""
    from pyspark.sql import functions as F  # noqa: N812

    events: list[dict[str, Any]] = [
        {"id": number, "at": 1_700_000_000_000_000 + number, "line": line(number)}
        for number in range(EVENTS)
    ]
    (folder / "in").mkdir()
    (folder / "in" / "events.json").write_text("\n".join(map(json.dumps, events)))
    reader = spark.readStream.schema("id bigint, at bigint, line string")
    stream = reader.json(str(folder / "in")).withColumn("event_time", F.timestamp_micros("at"))
    key = "spark.sql.streaming.stateStore.providerClass"
    spark.conf.set(key, f"{STORES}.{store}")
    try:
        results = query.on_spark(sentences=stream.withWatermark("event_time", "0 seconds"))
        writer = results.writeStream.format("memory").queryName("padded").outputMode("update")
        writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()
    finally:
        spark.conf.unset(key)
    return spark.table("padded").groupBy("word").agg(F.max("count").alias("count"))
