"""The queries as streams on Spark: state across batches, and a real database."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamgauge.events.factory.production import lines_of
from streamgauge.events.spec import ARRIVAL, BROKER_TIME, MESSAGE, OFFSET, PARTITION, PLACE
from streamgauge.measure.validation import validate
from streamgauge.queries.base import StoredResults
from streamgauge.queries.espbench.database import BusinessDatabase
from streamgauge.queries.espbench.q2 import OutliersQuery
from streamgauge.queries.espbench.q4 import PowerQuery
from streamgauge.queries.espbench.q5 import PersistQuery
from tests.queries.espbench.conftest import NOW_US, SMALL
from tests.queries.espbench.logs import logged
from tests.queries.espbench.test_oracles import (
    SETTINGS,
    checked,
    counts,
    read_log,
    record_of,
    sent,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

DAY_US = 86_400_000_000


class Pipe:
    """A stream of files; each file is a batch."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self._folder = folder
        self._files = 0
        folder.mkdir()

    def read(self, like: DataFrame) -> DataFrame:
        reader = self._spark.readStream.schema(like.schema).option("maxFilesPerTrigger", 1)
        return reader.parquet(str(self._folder))

    def write(self, rows: DataFrame) -> None:
        part = self._folder.parent / "part"
        rows.coalesce(1).write.mode("overwrite").parquet(str(part))
        (file,) = part.glob("*.parquet")
        shutil.move(file, self._folder / f"{self._files:05d}.parquet")
        self._files += 1


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., StreamingQuery]]:
    running: list[StreamingQuery] = []

    def start(results: DataFrame, take: Callable[[DataFrame, int], None]) -> StreamingQuery:
        writer = results.writeStream.outputMode("append").foreachBatch(take)
        place = str(tmp_path / f"checkpoint-{len(running)}")
        running.append(writer.option("checkpointLocation", place).start())
        return running[-1]

    yield start
    for query in running:
        query.stop()


def test_a_window_of_outliers_is_complete_across_batches_and_partitions(
    spark: SparkSession, tmp_path: Path, started: Callable[..., StreamingQuery]
) -> None:
    query = OutliersQuery(**SETTINGS)
    replay = logged(query, tmp_path / "log", partitions=2, seconds=1.7)
    events = read_log(spark, replay, "sensors").cache()
    pipe, found = Pipe(spark, tmp_path / "pipe"), []

    def take(batch: DataFrame, _: int) -> None:
        found.append(batch.toArrow())

    running = started(query.on_spark(pipe.read(events)), take)
    # Odd and even ids are in different partitions; batches end inside windows.
    odd, even = "id >= 300 AND id % 2 = 1", "id >= 300 AND id < 1300 AND id % 2 = 0"
    for rows in ("id < 300", even, odd, "id >= 1300 AND id % 2 = 0"):
        pipe.write(events.where(rows))
        running.processAllAvailable()
    results = spark.createDataFrame(pa.concat_tables(found).combine_chunks())
    right = checked(spark, query, replay, sent(results, query))
    assert right.expected == right.actual
    assert right.expected
    assert counts(right) == {}
    # 1,700 records are three windows of 500.
    assert results.selectExpr("max(id)").collect()[0][0] < 1_500


def test_a_changed_downtime_counts_from_the_next_batch_on(
    spark: SparkSession,
    tmp_path: Path,
    database: BusinessDatabase,
    server: str,
    started: Callable[..., StreamingQuery],
) -> None:
    query = PowerQuery(**SETTINGS).placed(tmp_path, {"business": server})
    replay = logged(query, tmp_path / "log", rate_per_s=2_000)
    low = {name: read_log(spark, replay, name).cache() for name in query.streams}
    pipes = {name: Pipe(spark, tmp_path / name) for name in low}
    found: list[int] = []

    def take(batch: DataFrame, _: int) -> None:
        found.append(batch.select("workplace").toArrow()["workplace"].to_pylist())

    fixed = query.fixed_inputs(spark.createDataFrame)
    streams = {name: pipe.read(low[name]) for name, pipe in pipes.items()}
    running = started(query.on_spark(**streams, **fixed), take)

    def seen(window_us: tuple[int, int]) -> set[int]:
        """The workplaces of the results of a batch that begins after the change."""
        database.set_downtime(1, *window_us)
        found.clear()
        for name, pipe in pipes.items():
            pipe.write(low[name])
        running.processAllAvailable()
        return {place for batch in found for place in batch}

    now_us = replay.start_us
    database.set_downtime(2, now_us - DAY_US, now_us + DAY_US)
    assert seen((now_us - 1, now_us - 1)) == {1}
    assert seen((now_us - DAY_US, now_us + DAY_US)) == set()
    assert seen((now_us - 2, now_us - 2)) == {1}


@pytest.mark.usefixtures("database")
def test_rows_are_written_once_and_one_that_was_never_written_is_missing(
    spark: SparkSession, tmp_path: Path, server: str
) -> None:
    query = PersistQuery(**SETTINGS).placed(tmp_path, {"business": server})
    # The log of a small factory, whose lines the database has.
    lines = lines_of(SMALL)["line"].to_pylist()
    messages = [f"{number};{NOW_US};{line}" for number, line in enumerate(lines)]
    replay = logged(query, tmp_path / "log", rate_per_s=10, seconds=1)
    (part,) = replay.log_parts("production")
    kept = pa.table({MESSAGE: messages, BROKER_TIME: [NOW_US] * len(lines)})
    places = {PARTITION: [0] * len(lines), OFFSET: list(range(len(lines)))}
    for name, values in places.items():
        kept = kept.append_column(name, pa.array(values))
    pq.write_table(kept, part)
    rows = query.on_spark(read_log(spark, replay, "production"), business=server).cache()
    stored = query.stored
    stored.store(rows.where("o_id % 7 != 0"), 0)
    first = rows_of(stored)
    stored.store(rows.where("o_id % 7 != 0"), 0)
    assert rows_of(stored) == first
    assert 0 < stored.count(exact=True) == len(first) < len(lines)
    expected = query.expected(spark, replay).drop("latest_event_time")
    results = spark.createDataFrame(pa.Table.from_pylist(first)).selectExpr(
        "*", f"time_us AS {ARRIVAL}", f"0L AS {PLACE}"
    )
    found = validate(spark, query, record_of(replay), results, expected)
    assert found.expected == len(lines)
    assert found.missing == len(lines) - len(first)
    assert counts(found).keys() <= {"missing", "late"}
    stored.store(rows, 1)
    assert stored.count(exact=True) == len(lines)


def rows_of(stored: StoredResults) -> list[dict[str, int]]:
    rows = (row for batch in stored.rows() for row in batch.to_pylist())
    return sorted(rows, key=str)
