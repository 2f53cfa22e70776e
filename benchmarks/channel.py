"""The direct channel against Spark's own generator, both into a windowed count."""

from __future__ import annotations

import multiprocessing
import os
import statistics
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
from streamgauge.channels.direct.spark_source import DirectSource, SourceConfig, read_events
from streamgauge.component import Component, module_argv
from streamgauge.driver.config import InstanceConfig, LoadConfig, PolicyConfig, ScheduleConfig
from streamgauge.events.gaming import GamingDataSet
from streamgauge.events.spec import EVENT_TIME
from streamgauge.systems.spark.java import find_java
from streamgauge.systems.spark.session import open_session
from streamgauge.systems.spark.system import SparkSystem

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    Way = Callable[[SparkSession, Path], float]
    """Rows per second of one source, in one round."""

INSTANCES = 2
ROWS_PER_BATCH = 4_000_000
BATCHES = 6
ROWS = ROWS_PER_BATCH * BATCHES
WARM_UP = 2
ROUNDS = 5


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
    process = context.Process(target=_answer, args=(way, folder, its), daemon=True)
    process.start()
    its.close()

    def measure() -> float:
        ours.send("go")
        return float(ours.recv())

    yield measure
    ours.close()
    process.join()


def _answer(way: Way, folder: Path, asked: Connection) -> None:
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
        return _count(read_events(spark, config), EVENT_TIME, folder)


def _in_jvm(spark: SparkSession, folder: Path) -> float:
    """It makes a batch whenever it is asked, so the query is stopped after as many batches."""
    source = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", ROWS_PER_BATCH)
        .option("numPartitions", INSTANCES)
        .option("advanceMillisPerBatch", 1_000)
        .load()
    )
    return _count(source, "timestamp", folder, batches=BATCHES)


def _count(source: DataFrame, time_column: str, folder: Path, batches: int | None = None) -> float:
    """Rows per second between the end of the first batch and that of the last.

    The first one also starts the query: planning, and for a Python source a process.
    """
    from pyspark.sql import functions as F  # noqa: N812

    done: list[float] = []

    def deliver(batch: DataFrame, _: int) -> None:
        batch.toArrow()
        done.append(time.perf_counter())

    counted = (
        source.withWatermark(time_column, "0 seconds")
        .groupBy(F.window(time_column, "1 second"))
        .count()
    )
    writer = counted.writeStream.foreachBatch(deliver).option(
        "checkpointLocation", str(folder / "checkpoint")
    )
    running = writer.start()
    if batches is None:
        running.processAllAvailable()
    else:
        while len(done) < batches:
            time.sleep(0.005)
    running.stop()
    return ROWS_PER_BATCH * (BATCHES - 1) / (done[BATCHES - 1] - done[0])


@contextmanager
def _driver(folder: Path) -> Iterator[tuple[LoadConfig, dict[int, Endpoint]]]:
    """Driver instances whose whole load is due already: they generate as fast as they can."""
    load = LoadConfig(
        # A count reads no column besides the time.
        streams={"purchases": GamingDataSet.of().streams["purchases"].reading(())},
        schedule=ScheduleConfig(duration_us=BATCHES * 1_000_000, rate_per_s=ROWS_PER_BATCH),
        instances=INSTANCES,
        seed=1,
    )
    listen = Listen(token="benchmark" * 2)
    with ExitStack() as stack:
        endpoints = {}
        for number in range(INSTANCES):
            config = InstanceProcessConfig(
                instance=InstanceConfig(
                    load=load,
                    instance=number,
                    policy=PolicyConfig(),
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
            )
            stack.callback(component.stop)
            endpoints[number] = Endpoint.model_validate(component.wait_for("ready", 30)["endpoint"])
            component.send("start", start_us=time.time_ns() // 1_000 - 60_000_000)
        yield load, endpoints
