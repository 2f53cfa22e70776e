"""Word count: the Spark query, its oracle and a count by hand; and every update of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from streamgauge.events.prose import prose_lines
from streamgauge.queries.load import build_query
from streamgauge.queries.own import QueryConfig
from streamgauge.queries.pipelines.wordcount import WordCountQuery
from tests.loads import replay_of
from tests.queries.pipelines.checks import (
    Updates,
    checked,
    events_by_hand,
    faults,
    rows,
    spark_rows,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CASES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"vocabulary": 30, "words": 5, "lines": 400}, {}),
    ({"vocabulary": 500, "zipf_s": 1.5, "lines": 70_000}, {"instances": 3}),
    ({"text": "prose"}, {"disorder_us": 300_000}),
    ({"text": "own.txt"}, {"instances": 1}),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own.txt").write_text("grün  ist gut\n\n a a b\na\n")
    return tmp_path


def query_in(folder: Path, **settings: Any) -> WordCountQuery:
    config = QueryConfig(name="wordcount", parameters=settings, base=str(folder))
    query = build_query(config)
    assert isinstance(query, WordCountQuery)
    return query


@pytest.mark.parametrize("case", CASES, ids=["few words", "many lines", "prose", "own text"])
def test_oracle_spark_query_and_a_count_by_hand_agree(
    spark: SparkSession, folder: Path, case: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    query = query_in(folder, **case[0])
    replay = replay_of(query, **case[1])
    counts: Counter[str] = Counter()
    latest: dict[str, int] = {}
    for event in events_by_hand(replay, query.stream):
        for word in event["line"].split():
            counts[word] += 1
            latest[word] = max(latest.get(word, 0), event["event_time"])
    by_hand = {(word,): (counts[word], latest[word]) for word in counts}
    assert by_hand
    assert rows(query, query.expected(spark, replay)) == by_hand
    assert spark_rows(spark, query, replay) == by_hand


@pytest.mark.parametrize("every", [1, 7, 250])
def test_every_update_is_one_that_a_prefix_gives(
    spark: SparkSession, folder: Path, every: int
) -> None:
    """After each word, as in real-time mode, and after some lines, as in micro-batches."""
    query = query_in(folder, vocabulary=20, words=6, lines=100)
    played = played_updates(query, every)
    assert checked(spark, query, played) == (len(played.rows), 0)
    assert faults(spark, query, played) == {}


def test_planted_errors_are_found(spark: SparkSession, folder: Path) -> None:
    query = query_in(folder, vocabulary=20, words=6, lines=100)
    played = played_updates(query, 1)
    in_the_middle = played.changed(17, count=lambda count: count + 1)
    assert checked(spark, query, in_the_middle) == (len(played.rows), 1)
    assert faults(spark, query, in_the_middle) == {}
    last = played.changed(len(played.rows) - 1, count=lambda count: count - 1)
    assert faults(spark, query, last) == {"wrong": 1}
    assert faults(spark, query, played.without_key(played.rows[0]["word"])) == {"missing": 1}
    other = played.changed(len(played.rows) - 1, word=lambda _: "another")
    assert faults(spark, query, other)["extra"] == 1


def played_updates(query: WordCountQuery, every: int) -> Updates:
    """What a system sends that handles so many lines at a time; with 1, every word by itself."""
    replay = replay_of(query, rate_per_s=100, seconds=3, instances=1)
    counts: Counter[str] = Counter()
    sent: list[dict[str, Any]] = []
    events = events_by_hand(replay, query.stream)
    for first in range(0, len(events), every):
        changed: dict[str, dict[str, Any]] = {}
        for event in events[first : first + every]:
            for word in event["line"].split():
                counts[word] += 1
                row = {"word": word, "count": counts[word], "latest_us": event["event_time"]}
                changed[word] = row
                sent += [row] if every == 1 else []
        sent += changed.values() if every > 1 else ()
    return Updates(replay, sent, "word string, count bigint, latest_us bigint")


def test_the_text_that_ships_is_prose() -> None:
    lines = prose_lines()["line"].to_pylist()
    words = Counter(" ".join(lines).split())
    assert len(lines) > 50
    assert words["the"] > 20
