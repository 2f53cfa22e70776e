"""Grep: the Spark query, its oracle and a search by hand; and the share of lines that match."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from streamgauge.events.prose import zipf_lines
from streamgauge.queries.pipelines.grep import GrepQuery
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

CASES: list[tuple[GrepQuery, dict[str, Any]]] = [
    (GrepQuery(lines=3_000), {}),
    (GrepQuery(lines=500, share=0.9, words=3), {"instances": 3, "disorder_us": 300_000}),
    (GrepQuery(text="prose", pattern=r"Alice|\d|[Rr]abbit-"), {}),
]


@pytest.mark.parametrize("case", CASES, ids=["default", "most lines", "prose"])
def test_oracle_spark_query_and_a_search_by_hand_agree(
    spark: SparkSession, case: tuple[GrepQuery, dict[str, Any]]
) -> None:
    query, settings = case
    replay = replay_of(query, **settings)
    by_hand = {
        (event["id"],): (event["event_time"], event["line"])
        for event in events_by_hand(replay, query.stream)
        if re.search(query.pattern, event["line"])
    }
    assert by_hand
    assert rows(query, query.expected(spark, replay)) == by_hand
    assert spark_rows(spark, query, replay) == by_hand


def test_planted_errors_are_found(spark: SparkSession) -> None:
    query = GrepQuery(lines=200)
    played = played_results(query)
    assert checked(spark, query, played) == (len(played.rows), 0)
    assert faults(spark, query, played) == {}
    assert faults(spark, query, replace(played, rows=played.rows[1:])) == {"missing": 1}
    twice = replace(played, rows=[*played.rows, played.rows[0]])
    assert faults(spark, query, twice) == {"duplicate": 1}
    other_line = played.changed(3, line=lambda line: line + "!")
    assert faults(spark, query, other_line) == {"wrong": 1}
    assert checked(spark, query, other_line) == (len(played.rows), 1)
    no_match = played.changed(3, id=lambda number: number + 1)
    assert faults(spark, query, no_match) == {"missing": 1, "extra": 1}


def test_which_events_make_results_is_known() -> None:
    query = GrepQuery(lines=200)
    replay = replay_of(query, rate_per_s=100, seconds=3, instances=1)
    (part,) = replay.slices(query.stream)
    hits = query.makes_result(query.stream, replay.batch(part))
    assert np.flatnonzero(hits).tolist() == [row["id"] for row in played_results(query).rows]


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 1.0])
def test_the_share_of_marked_lines_is_exact(share: float) -> None:
    settings = {"seed": 1, "rows": 70_000, "words": 4, "vocabulary": 100, "zipf_s": 1.0}
    lines = zipf_lines(**settings, marked=share)["line"].to_pylist()  # type: ignore[arg-type]
    marked = [line for line in lines if "needle" in line.split(" ")]
    assert len(marked) == round(70_000 * share)
    assert {len(line.split(" ")) for line in lines} == {4}
    if len(marked) > 100:
        assert {line.split(" ").index("needle") for line in marked} == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("settings", "says"),
    [({"pattern": "("}, "no regular expression"), ({"text": "prose"}, "give a `pattern`")],
)
def test_a_pattern_that_cannot_be_used_is_refused(settings: dict[str, str], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        GrepQuery(**settings)


def played_results(query: GrepQuery) -> Updates:
    replay = replay_of(query, rate_per_s=100, seconds=3, instances=1)
    found = [
        {"id": event["id"], "line": event["line"], "latest_us": event["event_time"]}
        for event in events_by_hand(replay, query.stream)
        if "needle" in event["line"]
    ]
    return Updates(replay, found, "id bigint, line string, latest_us bigint")
