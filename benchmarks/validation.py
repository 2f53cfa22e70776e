"""What the calculation after a run costs."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.results import Figure
from streamgauge.compute.java import find_java
from streamgauge.compute.session import open_session
from streamgauge.driver.config import LoadConfig, ScheduleConfig, StreamConfig, in_turn
from streamgauge.events.spec import ARRIVAL
from streamgauge.measure.calculate import CalculationWork, calculate
from streamgauge.measure.record import RunRecord, SourceRecord
from streamgauge.measure.summary import Validation
from streamgauge.queries.gaming.aggregation import AggregationQuery
from streamgauge.queries.own import QueryConfig

SECONDS = 30
RATE_PER_S = 1_000_000
INSTANCES = 2
START_US = 1_700_000_000_000_000
ROUNDS = 3


def measure_validation(folder: Path) -> Iterator[Figure]:
    """Latencies and validation of a run at 1,000,000 events/s, start of the JVM aside."""
    os.environ.update(find_java().env(folder))
    conf = {"spark.driver.memory": "4g", "spark.sql.shuffle.partitions": "4"}
    spark = open_session("bench", "local[*]", folder, conf, short=True)
    query = AggregationQuery()
    schedule = ScheduleConfig(duration_us=SECONDS * 1_000_000, rate_per_s=RATE_PER_S)
    streams = {
        name: StreamConfig(source=source, schedule=schedule)
        for name, source in query.streams.items()
    }
    load = LoadConfig(streams=streams, feeds=in_turn(list(streams), INSTANCES), seed=1)
    record = _record(load)
    replay = record.replay
    (folder / "record.json").write_text(record.model_dump_json())
    right = query.expected(spark, replay).where(f"unix_micros(window_end) <= {replay.frontier_us}")
    arrival = f"unix_micros(latest_event_time) + 500000L AS {ARRIVAL}"
    right.selectExpr("*", arrival).coalesce(1).write.parquet(str(folder / "written"))
    results = folder / "results"
    results.mkdir()
    for number, part in enumerate(sorted((folder / "written").glob("*.parquet"))):
        part.rename(results / f"part-{number:05d}.parquet")
    work = CalculationWork(record=folder / "record.json", results=results, handovers={})
    costs = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        findings = calculate(spark, work, None)
        costs.append((time.perf_counter() - began) / SECONDS)
        _check(findings.validation)
    spark.stop()
    first, *warm = costs
    yield Figure("seconds per second of the run, first calculation", first, "s/s")
    yield Figure(
        "seconds per second of the run (median of the others)",
        statistics.median(warm),
        "s/s",
        most=0.3,
    )


def _record(load: LoadConfig) -> RunRecord:
    offered = RATE_PER_S * SECONDS // INSTANCES
    built = load.build()
    return RunRecord(
        load=load,
        query=QueryConfig(name="gaming.aggregation"),
        warm_up_us=0,
        start_us=START_US,
        end_us=SECONDS * 1_000_000,
        closed_us=START_US + 2 * SECONDS * 1_000_000,
        drained=True,
        instances=[
            SourceRecord(
                instance=number,
                stream="purchases",
                time_us=SECONDS * 1_000_000,
                offered=offered,
                drained=offered,
                queued=0,
                queue_max=0,
                queue_limits=(1, 2, 3),
                lag_p99_us=0,
                fingerprint=built.feeds[number].events.fingerprint(0, offered),
            )
            for number in range(INSTANCES)
        ],
    )


def _check(validation: Validation) -> None:
    """A validation that finds something else than it should is quick and worth nothing."""
    keys = AggregationQuery().keys
    least = 0.95 * keys * (SECONDS - 1)
    faults = (validation.missing, validation.extra, validation.wrong, validation.duplicate)
    if faults != (0, 0, 0, 0) or not validation.input_matches or (validation.expected or 0) < least:
        raise AssertionError(f"the benchmark validates wrongly: {validation}")
