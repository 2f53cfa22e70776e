"""The oracles against a brute-force calculation, and the Spark queries against the oracles."""

from __future__ import annotations

import tracemalloc
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.queries.base import Query
from streamgauge.queries.gaming.aggregation import AggregationQuery, _panes
from streamgauge.queries.gaming.join import JoinQuery
from streamgauge.queries.gaming.nested import COUNTRIES, HIGH_PRICE_CENTS, NestedQuery
from streamgauge.queries.gaming.windows import WindowedQuery
from streamgauge.queries.own import batch_of
from streamgauge.queries.replay import Replay
from tests.loads import replay_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = dict[tuple[Any, ...], list[tuple[Any, ...]]]


def sliding(kind: type[WindowedQuery], window: str, slide: str, **settings: Any) -> Query:
    """Durations as in an experiment file, where a bare number is seconds."""
    return kind.model_validate({"window": window, "slide": slide, **settings})


CASES: list[tuple[Query, dict[str, Any]]] = [
    (AggregationQuery(keys=20), {}),
    (sliding(AggregationQuery, "2 s", "500 ms", keys=20), {"disorder_us": 300_000}),
    (sliding(AggregationQuery, "800 ms", "300 ms", keys=5, distribution="zipf"), {}),
    (AggregationQuery(keys=20, windows="global", distribution="single"), {"instances": 3}),
    (JoinQuery(keys=8), {"rate_per_s": 300}),
    (
        sliding(JoinQuery, "2 s", "1 s", keys=6, selectivity=0.5),
        {"rate_per_s": 200, "disorder_us": 200_000, "instances": 3},
    ),
    (sliding(JoinQuery, "800 ms", "300 ms", keys=4), {"rate_per_s": 200}),
    (JoinQuery(keys=3, distribution="single", selectivity=0.05), {"rate_per_s": 300}),
    (NestedQuery(selectivity=0.5), {"rate_per_s": 400}),
    (
        sliding(NestedQuery, "2 s", "500 ms", selectivity=0.3, distribution="zipf"),
        {"rate_per_s": 300, "disorder_us": 100_000},
    ),
    # Windows without a purchase, or without an ad of a known geo.
    (NestedQuery(selectivity=0.02, distribution="single"), {"rate_per_s": 60, "seconds": 10}),
    # The last window begins within the last millisecond, and the disorder is 0.4 of one.
    (
        sliding(JoinQuery, "2 ms", "1 ms", keys=1),
        {"rate_per_s": 1e5, "seconds": 0.0102, "disorder_us": 400},
    ),
]


def ids(case: tuple[Query, dict[str, Any]]) -> str:
    return type(case[0]).__name__


@pytest.mark.parametrize("case", CASES, ids=[f"{n}-{ids(c)}" for n, c in enumerate(CASES)])
def test_oracle_spark_query_and_brute_force_agree(
    spark: SparkSession, case: tuple[Query, dict[str, Any]]
) -> None:
    query, settings = case
    replay = replay_of(query, **settings)
    streams = {name: batch_of(spark, replay, name) for name in query.streams}
    fixed = query.fixed_inputs(spark.createDataFrame)
    by_spark = rows_of(query, query.implementation("spark")(**streams, **fixed))
    by_oracle = rows_of(query, query.expected(spark, replay))
    by_hand = brute_force(query, replay)
    assert by_hand
    assert by_oracle == by_hand
    assert by_spark == by_hand


_EVENTS = st.tuples(st.integers(0, 2_999_999), st.integers(0, 3), st.integers(1, 500))


@settings(deadline=None)
@given(st.lists(_EVENTS, min_size=3 * 4, max_size=40))
def test_sums_do_not_depend_on_how_many_keys_there_could_be(
    events: list[tuple[int, int, int]],
) -> None:
    """A place for every key in every pane if these are no more than the events, else none."""
    columns = columns_of(events)
    assert _panes(columns, 1_000_000, 4).equals(_panes(columns, 1_000_000, 10**7))


def test_keys_that_no_event_has_take_no_memory() -> None:
    events = [(second * 1_000_000, second, 5) for second in range(10)]
    tracemalloc.start()
    try:
        sums = _panes(columns_of(events), 1_000_000, 10**6)
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sums.column("gem_pack").to_pylist() == list(range(10))
    assert most_bytes < 8 * 10**6


def columns_of(events: list[tuple[int, int, int]]) -> dict[str, Any]:
    times, packs, prices = np.array(events, dtype=np.int64).T
    return {"event_time": times, "gem_pack": packs, "price_cents": prices}


def rows_of(query: Query, frame: Any) -> Rows:
    """Results by key; moments as microseconds, averages rounded."""
    from pyspark.sql import functions as F  # noqa: N812

    columns = [
        F.unix_micros(name).alias(name) if kind == "timestamp" else F.col(name)
        for name, kind in frame.dtypes
    ]
    keys = query.shape.keys
    found: Rows = defaultdict(list)
    for row in frame.select(*columns).collect():
        fields = row.asDict()
        key = tuple(fields.pop(name) for name in keys)
        found[key].append(tuple(rounded(fields[name]) for name in sorted(fields)))
    return {key: sorted(values) for key, values in found.items()}


def rounded(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value


def events_of(replay: Replay, stream: str) -> list[dict[str, int]]:
    rows = []
    for part in replay.slices(stream):
        batch = replay.batch(part)
        columns = {name: batch.column(name) for name in batch.schema.names}
        columns["event_time"] = columns["event_time"].cast("int64")
        values = [column.to_pylist() for column in columns.values()]
        rows += [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]
    return rows


def windows_of(query: Any, time_us: int) -> list[int]:
    last = time_us // query.slide_us * query.slide_us
    starts = range(last, time_us - query.window, -query.slide_us)
    return [start for start in starts if start <= time_us < start + query.window]


def brute_force(query: Query, replay: Replay) -> Rows:
    if isinstance(query, AggregationQuery):
        return averages(query, replay)
    if isinstance(query, JoinQuery):
        return pairs(query, replay)
    assert isinstance(query, NestedQuery)
    return nested(query, replay)


def averages(query: AggregationQuery, replay: Replay) -> Rows:
    groups: dict[tuple[int, ...], list[dict[str, int]]] = defaultdict(list)
    for event in events_of(replay, "purchases"):
        for start in windows_of(query, event["event_time"]):
            key = (start, event["gem_pack"]) if query.windows == "partitioned" else (start,)
            groups[key].append(event)
    return {
        key: [
            (
                round(sum(e["price_cents"] for e in group) / len(group), 6),
                max(e["event_time"] for e in group),
                key[0] + query.window,
            )
        ]
        for key, group in groups.items()
    }


def pairs(query: JoinQuery, replay: Replay) -> Rows:
    found: Rows = defaultdict(list)
    ads = events_of(replay, "ads")
    for purchase in events_of(replay, "purchases"):
        for ad in ads:
            if (purchase["user"], purchase["gem_pack"]) != (ad["user"], ad["gem_pack"]):
                continue
            one, other = purchase["event_time"], ad["event_time"]
            price = max(purchase["price_cents"], ad["price_cents"])
            for start in set(windows_of(query, one)) & set(windows_of(query, other)):
                key = (start, purchase["user"], purchase["gem_pack"], one, other)
                found[key].append((max(one, other), price))
    return {key: sorted(values) for key, values in found.items()}


def nested(query: NestedQuery, replay: Replay) -> Rows:
    groups: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    known = [ad for ad in events_of(replay, "ads") if ad["geo"] < 1_000]
    for purchase in events_of(replay, "purchases"):
        windows = set(windows_of(query, purchase["event_time"]))
        for ad in known:
            if purchase["geo"] % COUNTRIES != ad["geo"] % COUNTRIES:
                continue
            price = max(purchase["price_cents"], ad["price_cents"])
            if price <= HIGH_PRICE_CENTS:
                continue
            for start in windows & set(windows_of(query, ad["event_time"])):
                latest = max(purchase["event_time"], ad["event_time"])
                groups[start, purchase["geo"]].append((price, latest))
    return {
        key: [
            (
                round(sum(price for price, _ in group) / len(group), 6),
                max(latest for _, latest in group),
                key[0] + query.window,
            )
        ]
        for key, group in groups.items()
    }
