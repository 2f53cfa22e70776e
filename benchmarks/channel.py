"""The direct channel against Spark's own generator, both into a windowed count.

Each has a watermark as its users get it: ours comes with the events and follows their packs, the
other's is `withWatermark` on single events. So the ratio is of the two ways in, watermark included,
and not of the bare sources.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.results import Figure
from streamgauge.channels.direct.processes import InstanceProcessConfig
from streamgauge.channels.direct.security import Endpoint, Listen
from streamgauge.compute.java import find_java
from streamgauge.compute.session import open_session
from streamgauge.driver.config import (
    InstanceConfig,
    LoadConfig,
    ScheduleConfig,
    StreamConfig,
    in_turn,
)
from streamgauge.events.gaming import GamingDataSet
from streamgauge.events.spec import EVENT_TIME
from streamgauge.processes.component import Component, module_argv
from streamgauge.processes.launcher import Launcher
from streamgauge.systems.spark.direct import (
    OFFSET,
    DirectSource,
    SourceConfig,
    read_events,
)
from streamgauge.systems.spark.system import SparkSystem
from streamgauge.units import SECOND_US

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.listener import StreamingQueryProgress
    from pyspark.sql.streaming.query import StreamingQuery

    Way = Callable[[SparkSession, Path], float]
    """Rows per second of one source, in one round."""

INSTANCES = 2
ROWS_PER_BATCH = 4_000_000
BATCHES = 20
WARM_UP = 1
ROUNDS = 5
MOST_QUEUED = ROWS_PER_BATCH // INSTANCES
"""One batch. With what a generator makes ahead, at most two batches wait when the measurement
begins; everything else is generated while it runs."""


def measure_channel(folder: Path) -> Iterator[Figure]:
    """Direct channel into a 1 s windowed count, generation included, on local[2]."""
    with ExitStack() as stack:
        ours = stack.enter_context(_in_a_jvm_of_its_own(_direct, folder / "direct"))
        theirs = stack.enter_context(_in_a_jvm_of_its_own(_in_jvm, folder / "rate-micro-batch"))
        pairs = []
        for number in range(WARM_UP + ROUNDS):
            # Turn and turn about, or one of them would always come after the other.
            first, second = (ours, theirs) if number % 2 else (theirs, ours)
            rates = {way: way() for way in (first, second)}
            pairs.append((rates[ours], rates[theirs]))
    direct, rate = zip(*pairs[WARM_UP:], strict=True)
    for name, found in (("direct", direct), ("rate-micro-batch", rate)):
        median = statistics.median(found) / 1e6
        yield Figure(f"{name}: million rows per second (median of rounds)", median, "M/s")
    ratio = statistics.median(own / other for own, other in pairs[WARM_UP:])
    yield Figure("ratio of direct to rate-micro-batch", ratio, "×", least=0.9)


@contextmanager
def _in_a_jvm_of_its_own(way: Way, folder: Path) -> Iterator[Callable[[], float]]:
    """As in use: a JVM that has seen several sources compiles what they share for none of them."""
    folder.mkdir()
    context = multiprocessing.get_context("spawn")
    ours, its = context.Pipe()
    log = folder / "log"
    process = context.Process(target=_answer, args=(way, folder, log, its), daemon=True)
    process.start()
    its.close()

    def measure() -> float:
        ours.send("go")
        try:
            return float(ours.recv())
        except (EOFError, ConnectionError):
            raise RuntimeError(f"{folder.name} broke off:\n{log.read_text()}") from None

    yield measure
    ours.close()
    process.join()


def _answer(way: Way, folder: Path, log: Path, asked: Connection) -> None:
    # Spark's JVM and its workers have much to say that is no figure.
    with log.open("w") as words:
        os.dup2(words.fileno(), sys.stderr.fileno())
    os.environ.update(find_java().env(folder))
    spark = open_session("bench", "local[2]", folder, SparkSystem().settings())
    spark.dataSource.register(DirectSource)
    for number in count():
        try:
            asked.recv()
        except EOFError:
            break
        asked.send(way(spark, folder / str(number)))
    spark.stop()


def _direct(spark: SparkSession, folder: Path) -> float:
    with _driver(folder) as (load, endpoints):
        config = SourceConfig(
            load=load,
            stream="purchases",
            endpoints=endpoints,
            max_events_per_batch=ROWS_PER_BATCH,
        )
        with _counting(read_events(spark, config), EVENT_TIME, folder) as (running, done):
            running.processAllAvailable()
            batches = [batch for batch in running.recentProgress if batch.numInputRows]
    first, last = batches[0], batches[-1]
    rows = (_until_us(last) - _until_us(first)) * ROWS_PER_BATCH / SECOND_US
    return rows / (done[last.batchId] - done[first.batchId])


def _until_us(batch: StreamingQueryProgress) -> int:
    """A batch may have less rows than the limit, where the generator is not faster."""
    return int(json.loads(batch.sources[0].endOffset)[OFFSET])


def _in_jvm(spark: SparkSession, folder: Path) -> float:
    """It makes a batch whenever it is asked, so the query is stopped after as many batches."""
    source = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", ROWS_PER_BATCH)
        .option("numPartitions", INSTANCES)
        .option("advanceMillisPerBatch", 1_000)
        .load()
        .withWatermark("timestamp", "0 seconds")
    )
    with _counting(source, "timestamp", folder) as (_, done):
        while len(done) < BATCHES:
            time.sleep(0.005)
    return ROWS_PER_BATCH * (BATCHES - 1) / (done[BATCHES - 1] - done[0])


@contextmanager
def _counting(
    source: DataFrame, time_column: str, folder: Path
) -> Iterator[tuple[StreamingQuery, dict[int, float]]]:
    """The running query, and when each of its batches was done.

    The first one also starts the query (planning, and for a Python source a process), so rows are
    counted from its end.
    """
    from pyspark.sql import functions as F  # noqa: N812

    done: dict[int, float] = {}

    def deliver(batch: DataFrame, number: int) -> None:
        batch.toArrow()
        done[number] = time.perf_counter()

    counted = source.groupBy(F.window(time_column, "1 second")).count()
    writer = counted.writeStream.foreachBatch(deliver).option(
        "checkpointLocation", str(folder / "checkpoint")
    )
    running = writer.start()
    yield running, done
    running.stop()


@contextmanager
def _driver(folder: Path) -> Iterator[tuple[LoadConfig, dict[int, Endpoint]]]:
    """Driver instances whose whole load is due already: they generate as fast as they can."""
    stream = StreamConfig(
        # A count reads no column besides the time.
        source=GamingDataSet.of().streams["purchases"].reading(()),
        schedule=ScheduleConfig(duration_us=BATCHES * SECOND_US, rate_per_s=ROWS_PER_BATCH),
    )
    load = LoadConfig(
        streams={"purchases": stream}, feeds=in_turn(["purchases"], INSTANCES), seed=1
    )
    listen = Listen(token="benchmark" * 2)
    with ExitStack() as stack:
        endpoints = {}
        for number in range(INSTANCES):
            config = InstanceProcessConfig(
                instance=InstanceConfig(
                    load=load,
                    instance=number,
                    most_queued=MOST_QUEUED,
                    folder=folder / str(number),
                ),
                listen=listen,
            )
            path = folder / f"{number}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(config.model_dump_json())
            component = Component(
                f"driver instance {number}",
                module_argv("streamgauge.channels.direct.processes", "instance", str(path)),
                log=folder / f"{number}.log",
                launcher=Launcher({}),
            )
            stack.callback(component.stop)
            endpoints[number] = Endpoint.model_validate(component.wait_for("ready", 30)["endpoint"])
            component.send("start", start_us=time.time_ns() // 1_000 - 60_000_000)
        yield load, endpoints
