"""The direct channel against Spark's own generator, both into a windowed count."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.results import Figure
from streamgauge.channels.direct.processes import InstanceProcessConfig
from streamgauge.channels.direct.protocol import QueueClient
from streamgauge.channels.direct.security import Endpoint, Listen
from streamgauge.channels.direct.spark_source import CONFIG, FORMAT, DirectSource, SourceConfig
from streamgauge.component import Component, module_argv
from streamgauge.driver.config import InstanceConfig, LoadConfig, PolicyConfig, ScheduleConfig
from streamgauge.events.gaming import GamingDataSet
from streamgauge.systems.spark.java import find_java
from streamgauge.systems.spark.session import open_session
from streamgauge.systems.spark.system import SparkSystem

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

INSTANCES = 2
ROWS_PER_BATCH = 4_000_000
BATCHES = 6
ROWS = ROWS_PER_BATCH * BATCHES
ROUNDS = 4
"""The first one only warms up."""


def measure_channel(folder: Path) -> Iterator[Figure]:
    """Direct channel into a 1 s windowed count, generation included, on local[2]."""
    os.environ.update(find_java().env(folder))
    spark = open_session("bench", "local[2]", folder, SparkSystem().settings())
    spark.dataSource.register(DirectSource)
    ways: dict[str, Callable[[Path], float]] = {
        "direct": lambda place: _direct(spark, place),
        "direct, events made beforehand": lambda place: _direct(spark, place, beforehand=True),
        "rate-micro-batch": lambda place: _in_jvm(spark, place),
    }
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(ROUNDS):
        for name, way in ways.items():
            rates[name].append(way(folder / f"{name}-{number}"))
    spark.stop()
    for name, found in rates.items():
        rate = statistics.median(found[1:])
        yield Figure(f"{name}: million rows per second (median of rounds)", rate / 1e6, "M/s")
    *ours, theirs = rates
    for name in ours:
        pairs = zip(rates[name][1:], rates[theirs][1:], strict=True)
        ratio = statistics.median(own / other for own, other in pairs)
        least = 0.9 if name == "direct" else None
        yield Figure(f"ratio of {name} to {theirs}", ratio, "×", least=least)


def _direct(spark: SparkSession, folder: Path, *, beforehand: bool = False) -> float:
    with _driver(folder) as (load, endpoints):
        if beforehand:
            queues = [QueueClient(endpoint) for endpoint in endpoints.values()]
            while min(queue.head_us() for queue in queues) < load.schedule.duration_us:
                time.sleep(0.05)
        config = SourceConfig(
            load=load,
            stream="purchases",
            endpoints=endpoints,
            max_events_per_batch=ROWS_PER_BATCH,
        )
        source = spark.readStream.format(FORMAT).option(CONFIG, config.model_dump_json()).load()
        return _count(source, "event_time", folder)


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
