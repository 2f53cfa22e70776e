"""The results of the simulated system against the brute-force calculation, event by event."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from streamgauge.queries.base import Query
from streamgauge.queries.gaming.windows import WindowedQuery
from streamgauge.queries.replay import Replay
from streamgauge.systems.simulated.windows import WindowedResults
from tests.loads import replay_of
from tests.queries.test_oracles import CASES, Rows, brute_force, ids, rounded

STEP_US = 170_000


def fed(query: WindowedQuery, replay: Replay) -> tuple[list[pa.Table], pa.Table | None]:
    """The results while the events of all instances are added, and the rest at the end."""
    results = WindowedResults(query, replay.load)
    feeds = replay.built_load.feeds
    closed = []
    for until_us in range(STEP_US, replay.load.duration_us + STEP_US, STEP_US):
        for feed in feeds:
            first = feed.times.count_before(until_us - STEP_US)
            last = feed.times.count_before(until_us)
            results.add(feed.stream, feed.events.batch(first, last, replay.start_us))
        closed += [window.results for window in results.close(results.complete_until_us)]
    assert results.complete_until_us == replay.frontier_us
    rest = [window.results for window in results.flush()]
    return closed, pa.concat_tables(rest) if rest else None


def rows_of(query: Query, tables: list[pa.Table]) -> Rows:
    found: Rows = {}
    for row in (row for table in tables for row in _plain(table).to_pylist()):
        key = tuple(row.pop(name) for name in query.shape.keys)
        found.setdefault(key, []).append(tuple(rounded(row[name]) for name in sorted(row)))
    return {key: sorted(values) for key, values in found.items()}


def _plain(table: pa.Table) -> pa.Table:
    types = [
        pa.field(one.name, pa.int64() if pa.types.is_timestamp(one.type) else one.type)
        for one in table.schema
    ]
    return table.cast(pa.schema(types))


@pytest.mark.parametrize("case", CASES, ids=[f"{n}-{ids(c)}" for n, c in enumerate(CASES)])
def test_the_results_of_all_windows_are_right(case: tuple[Query, dict[str, Any]]) -> None:
    query, settings = case
    assert isinstance(query, WindowedQuery)
    replay = replay_of(query, **settings)
    closed, rest = fed(query, replay)
    by_hand = brute_force(query, replay)
    if query.shape.closes is None:
        assert rows_of(query, [*closed, *([rest] if rest else [])]) == by_hand
        return
    assert rest is None
    length, frontier_us = query.window, replay.frontier_us
    complete = {key: one for key, one in by_hand.items() if key[0] + length <= frontier_us}
    assert rows_of(query, closed) == complete


def test_windows_come_out_oldest_first() -> None:
    query, settings = CASES[1]
    assert isinstance(query, WindowedQuery)
    closed, _ = fed(query, replay_of(query, **settings))
    starts = [start for table in closed for start in table["window_start"].to_pylist()]
    assert starts == sorted(starts)
    assert len(set(starts)) > 3
