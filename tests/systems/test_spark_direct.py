"""Spark's end of the direct channel, with a real Spark and real driver instances."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from streamgauge.channels.direct.protocol import QueueClient
from streamgauge.events.sources import Source
from streamgauge.systems.spark.direct import CONFIG, DirectSource, SourceConfig, read_events
from tests.channels.test_direct import served
from tests.events.every_kind import EVERY_KIND
from tests.loads import START_US, load_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    spark.dataSource.register(DirectSource)
    return spark


def consume(
    session: SparkSession,
    tmp_path: Path,
    query: object,
    max_events_per_batch: int | None = None,
    **settings: Any,
) -> tuple[pa.Table, int]:
    """Drains a driver instance; the rows that came out, and in how many batches."""
    tables: list[pa.Table] = []
    with ExitStack() as stack:
        load = {"rate_per_s": 10_000, "instances": 1, **settings}
        instance, endpoint, _ = stack.enter_context(served(tmp_path / "driver", **load))
        config = SourceConfig(
            load=instance.config.load,
            stream="purchases",
            endpoints={0: endpoint},
            max_events_per_batch=max_events_per_batch,
        )

        def keep(batch: DataFrame, _: int) -> None:
            tables.append(batch.toArrow())

        running = (
            query(read_events(session, config))  # type: ignore[operator]
            .writeStream.foreachBatch(keep)
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .start()
        )
        running.processAllAvailable()
        running.stop()
        assert instance.queue.drained == 50_000
    return pa.concat_tables(tables), len(tables)


def test_no_queue_is_read_further_than_the_one_that_lags_most(tmp_path: Path) -> None:
    """Or the watermark would overtake its events."""
    from pyspark.sql.streaming.datasource import ReadMaxRows

    with (
        served(tmp_path / "1", rate_per_s=10_000, instances=1) as (instance, one, _),
        served(tmp_path / "2", rate_per_s=1_000, instances=1) as (_, other, _),
    ):
        config = SourceConfig(
            load=instance.config.load, stream="purchases", endpoints={0: one, 1: other}
        )
        source = DirectSource({CONFIG: config.model_dump_json()})
        reader = source.streamReader(source.schema())
        # With a limit on their events the two may be read to different times.
        heads = [QueueClient(endpoint).head_us(0, 1_000) for endpoint in (one, other)]
        assert heads[0] < heads[1]
        assert reader.latestOffset({"until_us": 0}, ReadMaxRows(2_000)) == {"until_us": heads[0]}


def test_what_a_worker_has_loaded_is_not_walked_through_after_every_task(tmp_path: Path) -> None:
    """Spark's worker collects garbage then."""
    gc.unfreeze()
    with served(tmp_path, instances=1) as (instance, endpoint, _):
        load = instance.config.load
        config = SourceConfig(load=load, stream="purchases", endpoints={0: endpoint})
        source = DirectSource({CONFIG: config.model_dump_json()})
        reader = source.streamReader(source.schema())
        (part,) = reader.partitions({"until_us": 0}, {"until_us": 1_000_000})
        assert sum(batch.num_rows for batch in reader.read(part)) == 1
    assert gc.get_freeze_count() > 0
    gc.unfreeze()


def test_every_event_arrives_once(session: SparkSession, tmp_path: Path) -> None:
    rows, _ = consume(session, tmp_path, lambda source: source)
    times = rows["event_time"].cast(pa.int64()).to_numpy()
    assert len(times) == 50_000
    assert len(set(times)) == 50_000


@pytest.mark.parametrize("source", [None, EVERY_KIND], ids=["gaming", "every kind of column"])
def test_events_come_out_of_their_packs_as_they_were_made(
    session: SparkSession, tmp_path: Path, source: Source | None
) -> None:
    streams = {"purchases": source} if source else None
    rows, _ = consume(session, tmp_path, lambda source: source, streams=streams)
    load = load_of(streams, rate_per_s=10_000, instances=1)
    made = load.build().feeds[0].events.batch(0, 50_000)
    assert rows.schema.names == made.schema.names
    began = rows["event_time"][0].value
    times = rows["event_time"].cast(pa.int64()).to_numpy() - began
    assert (times == made["event_time"].cast(pa.int64()).to_numpy()).all()
    for name in made.schema.names[1:]:
        assert rows[name].type == made[name].type, name
        assert rows[name].combine_chunks().equals(made[name]), name


def test_no_value_is_said_to_be_missing(session: SparkSession, tmp_path: Path) -> None:
    """It spares Spark the checks."""
    rows, _ = consume(session, tmp_path, lambda source: source)
    assert not any(field.nullable for field in rows.schema)


def test_a_limit_of_events_per_batch_is_kept(session: SparkSession, tmp_path: Path) -> None:
    rows, batches = consume(session, tmp_path, lambda source: source, max_events_per_batch=20_000)
    assert rows.num_rows == 50_000
    assert batches == 3


def test_windows_close_when_the_highest_event_time_less_the_disorder_has_passed_them(
    session: SparkSession, tmp_path: Path
) -> None:
    """The watermark follows packs, and must be where single events would have brought it."""
    from pyspark.sql import functions as F  # noqa: N812

    def query(source: DataFrame) -> DataFrame:
        window = F.window("event_time", "100 milliseconds").alias("window")
        return source.groupBy(window).count().select(F.unix_micros("window.end"), "count")

    disorder_us = 250_500
    closed, batches = consume(
        session,
        tmp_path,
        query,
        max_events_per_batch=6_000,
        start_us=START_US,
        disorder_us=disorder_us,
    )
    assert batches > 8
    load = load_of(rate_per_s=10_000, instances=1, disorder_us=disorder_us)
    made = load.build().feeds[0].events.batch(0, 50_000, START_US)
    times = made["event_time"].cast(pa.int64()).to_numpy()
    # A watermark has whole milliseconds.
    watermark = (times.max() // 1_000 - 251) * 1_000
    starts, counts = np.unique(times // 100_000 * 100_000, return_counts=True)
    expected = {
        start + 100_000: count
        for start, count in zip(starts.tolist(), counts.tolist(), strict=True)
        if start + 100_000 <= watermark
    }
    assert 40 < len(expected) < len(starts)
    assert sorted(zip(*(column.to_pylist() for column in closed.columns), strict=True)) == sorted(
        expected.items()
    )


def test_a_retried_task_reads_the_same_events(session: SparkSession, tmp_path: Path) -> None:
    marker = tmp_path / "failed-once"

    def failing_once(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if not marker.exists():
                marker.touch()
                raise RuntimeError("this task fails once, on purpose")
            yield batch

    def query(source: DataFrame) -> DataFrame:
        return source.mapInArrow(failing_once, source.schema)

    rows, _ = consume(session, tmp_path, query)
    assert marker.exists()
    assert len(set(rows["event_time"].cast(pa.int64()).to_numpy())) == rows.num_rows == 50_000
