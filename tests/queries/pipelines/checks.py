"""Results of a pipeline as plain rows, and a system whose updates are played."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from streamgauge.measure.record import RunRecord, SourceRecord
from streamgauge.measure.validation import validate
from streamgauge.measure.visibility import prefixes_of, wrong_updates
from streamgauge.queries.own import QueryConfig, batch_of
from streamgauge.queries.pipelines.base import PipelineQuery
from streamgauge.queries.replay import Replay
from tests.measure.test_validation import CLOSED_US

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Rows = dict[tuple[Any, ...], tuple[Any, ...]]


def rows(query: PipelineQuery, frame: DataFrame) -> Rows:
    """Results by key, with their values in the order of their names; times in microseconds."""
    from pyspark.sql import functions as F  # noqa: N812

    columns = [
        F.unix_micros(name).alias(name) if kind == "timestamp" else F.col(name)
        for name, kind in frame.dtypes
    ]
    found: Rows = {}
    for row in frame.select(*columns).collect():
        fields = row.asDict()
        key = tuple(fields.pop(name) for name in query.shape.keys)
        assert key not in found
        found[key] = tuple(fields[name] for name in sorted(fields))
    return found


def spark_rows(spark: SparkSession, query: PipelineQuery, replay: Replay) -> Rows:
    """What the Spark query makes of the whole input as one batch."""
    stream = {query.stream: batch_of(spark, replay, query.stream)}
    fixed = query.fixed_inputs(spark.createDataFrame)
    return rows(query, query.implementation("spark")(**stream, **fixed))


def events_by_hand(replay: Replay, stream: str) -> list[dict[str, Any]]:
    """All events as dictionaries, their time in microseconds."""
    events = []
    for part in replay.slices(stream):
        batch = replay.batch(part)
        place = batch.schema.get_field_index("event_time")
        times = batch.column(place).cast("int64")
        events += batch.set_column(place, "event_time", times).to_pylist()
    return events


def record_of(replay: Replay, query: PipelineQuery) -> RunRecord:
    """Of a run in which everything that was offered was drained."""
    instances = [
        SourceRecord(
            instance=number,
            stream=query.stream,
            time_us=5_000_000,
            offered=offered,
            drained=offered,
            queued=0,
            queue_max=0,
            queue_limits=(1, 2, 3),
            lag_p99_us=0,
            fingerprint=replay.built_load.feeds[number].events.fingerprint(0, offered),
        )
        for number, offered in enumerate(replay.offered)
    ]
    return RunRecord(
        load=replay.load,
        query=QueryConfig(name="wordcount"),
        warm_up_us=0,
        start_us=replay.start_us,
        end_us=5_000_000,
        closed_us=CLOSED_US,
        drained=True,
        instances=instances,
    )


@dataclass(frozen=True)
class Updates:
    """What a system has sent, in order; times are columns that end in `_us`."""

    replay: Replay
    rows: list[dict[str, Any]]
    schema: str

    def changed(self, number: int, **changes: Callable[[Any], Any]) -> Updates:
        """The same with other values in one row."""
        rows = list(self.rows)
        row = rows[number]
        rows[number] = {**row, **{name: make(row[name]) for name, make in changes.items()}}
        return replace(self, rows=rows)

    def without_key(self, key: Any) -> Updates:
        return replace(self, rows=[row for row in self.rows if key not in row.values()])

    def frame(self, spark: SparkSession) -> DataFrame:
        numbered = [
            {**row, "arrival_us": row["latest_us"] + 1_000, "arrival_place": place}
            for place, row in enumerate(self.rows)
        ]
        frame = spark.createDataFrame(
            numbered, f"{self.schema}, arrival_us long, arrival_place long"
        )
        times = [n for n in frame.columns if n.endswith("_us") and n != "arrival_us"]
        names = {"latest_us": "latest_event_time"}
        for name in times:
            text = f"timestamp_micros({name}) AS {names.get(name, name.removesuffix('_us'))}"
            frame = frame.selectExpr("*", text).drop(name)
        return frame


def checked(spark: SparkSession, query: PipelineQuery, updates: Updates) -> tuple[int, int]:
    """Updates that were compared with the prefixes of the input, and the wrong ones."""
    prefixes = prefixes_of(spark, query, record_of(updates.replay, query))
    assert prefixes is not None
    return wrong_updates(prefixes, updates.frame(spark), query)


def faults(spark: SparkSession, query: PipelineQuery, updates: Updates) -> dict[str, int]:
    """The counts of the validation that are not 0."""
    record = record_of(updates.replay, query)
    found = validate(spark, query, record, updates.frame(spark)).model_dump()
    names = ("missing", "extra", "duplicate", "wrong")
    return {name: found[name] for name in names if found[name]}
