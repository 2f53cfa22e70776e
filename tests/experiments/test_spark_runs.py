"""Whole runs on a real Spark, small enough for a test; the rates are studies, not tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

import streamgauge
from streamgauge.errors import ComponentError, ExitCode
from streamgauge.experiments.api import Result
from streamgauge.measure.summary import Status, Verdict
from streamgauge.parts import read_parts
from tests.commands import command, options
from tests.loads import WIDE_LAG, WIDE_MARKS

SMALL: dict[str, Any] = {
    "load.rate": 4_000,
    "duration": "6 s",
    "system.rehearsal": 0,
    "measure_master": "local[2]",
    "thresholds": "[]",
    "load.marks": WIDE_MARKS,
    "load.max_lag": WIDE_LAG,
}


def on_spark(runs: Path, **changes: Any) -> Result:
    settings = {**SMALL, **{key.replace("__", "."): value for key, value in changes.items()}}
    return streamgauge.run("quickstart", settings=settings, runs_dir=runs)


WORKLOADS: list[dict[str, Any]] = [
    # What `streamgauge new` makes.
    {"query": "my_query.py:my_query", "window": "1 second"},
    {
        "query": "gaming.aggregation",
        "keys": 1000,
        "window": "2 s",
        "slide": "1 s",
        "output_mode": "update",
    },
    {"query": "gaming.join", "keys": 100, "window": "2 s", "slide": "1 s"},
]


def test_spark_gives_the_right_results_for_all_queries_of_one_sweep(tmp_path: Path) -> None:
    """A new user's query and ours, by command; overlapping windows, events out of order, more
    instances than streams, RocksDB; one Spark for all of them."""
    assert command(tmp_path, "new", "my_query").returncode == 0
    settings = {
        **SMALL,
        "vary": {"workload": WORKLOADS},
        "load.disorder": "300 ms",
        "load.instances": 3,
        "system.state_store": "rocksdb",
    }
    done = command(tmp_path, "run", "my_query.yaml", *options(settings), "--json")
    assert done.returncode == 0, done.stderr
    result = Result.read(tmp_path / "runs" / "latest")
    assert json.loads(done.stdout)["verdict"] == result.summary.verdict
    assert result.summary.verdict is Verdict.VALID, result.summary.reasons
    assert result.report.is_file()
    assert len(result.trials) == len(WORKLOADS)
    for trial, workload in zip(result.trials, WORKLOADS, strict=True):
        summary = trial.summary
        assert summary.parameters["workload.query"] == workload["query"]
        assert summary.verdict is Verdict.VALID, summary.reasons
        assert summary.validation.expected
        assert summary.validation.actual
        if workload["query"].startswith("my_query"):
            assert "same function" in summary.validation.oracle
        else:
            assert summary.validation.oracle == "independent"
        assert summary.latency_ms.event_time.count > 0
        assert trial.report.is_file()
    spark_log = (result.path / "logs" / "spark.log").read_text()
    assert spark_log.count("Setting default log level") <= 1
    assert "RuntimeWarning" not in spark_log


TRIPS = """\
from pathlib import Path

import psycopg
import pyarrow as pa
import streamgauge
from pyspark.sql import functions as F

EVENTS = streamgauge.DataSet(
    streams={"trips": streamgauge.recorded("trips.parquet"), "calls": streamgauge.text("calls.txt")}
)
BOROUGHS = streamgauge.Table(pa.table({"zone": ["a", "b", "c"], "borough": ["N", "N", "S"]}))


def fill(address):
    Path(__file__).with_name("address.txt").write_text(address)
    with psycopg.connect(address) as connection:
        connection.execute("CREATE TABLE tips (zone text, tip double precision)")
        with connection.cursor().copy("COPY tips FROM STDIN") as copy:
            for row in [("a", 0.5), ("b", 0.5), ("c", 2.0)]:
                copy.write_row(row)


@streamgauge.query(
    events=EVENTS,
    keys=["window", "borough"],
    inputs={
        "boroughs": BOROUGHS,
        "geocoder": streamgauge.Service(),
        "database": streamgauge.Service(kind="postgresql", prepare=fill),
    },
)
def fares(trips, calls, *, boroughs, geocoder, database, window="1 second"):
    with psycopg.connect(database) as connection:
        rows = connection.execute("SELECT zone, tip FROM tips").fetchall()
    tips = trips.sparkSession.createDataFrame(rows, "zone string, tip double")
    called = calls.select("event_time", F.col("line").alias("zone"), F.lit(0.0).alias("fare"))
    return (
        trips.select("event_time", "zone", "fare")
        .unionByName(called)
        .join(F.broadcast(boroughs), "zone")
        .join(F.broadcast(tips), "zone")
        .groupBy(F.window("event_time", window), "borough")
        .agg(
            F.sum("fare").alias("fares"),
            F.count("*").alias("trips_and_calls"),
            F.max("event_time").alias("latest_event_time"),
            F.lit(geocoder).alias("geocoder"),
            F.max("tip").alias("tip"),
        )
    )
"""


def test_a_query_over_files_a_table_and_services_is_valid_with_a_load_per_stream(
    tmp_path: Path, runs: Path
) -> None:
    (tmp_path / "trips.py").write_text(TRIPS)
    (tmp_path / "calls.txt").write_text("c\nunknown\n")
    fares = {"zone": ["a", "b", None], "fare": [1.25, None, 7.0], "note": [[1], [], None]}
    pq.write_table(pa.table(fares), tmp_path / "trips.parquet")
    experiment = {
        "name": "fares",
        "system": "spark",
        "workload": {"query": "trips.py:fares"},
        "services": {"geocoder": "localhost:4711"},
        "load": {
            "rate": 3_000,
            "instances": 2,
            "streams": {"calls": {"rate": "20 %", "schedule": "bursts"}},
            "disorder": "100 ms",
        },
    }
    (tmp_path / "fares.yaml").write_text(yaml.safe_dump(experiment))
    result = streamgauge.run(
        str(tmp_path / "fares.yaml"), settings={**SMALL, "load.rate": 3_000}, runs_dir=runs
    )
    summary = result.summary
    assert summary.verdict is Verdict.VALID, summary.reasons
    assert summary.validation.input_matches is True
    # Two boroughs in each of six windows: the disorder puts events into the second before the load,
    # and the last window does not close.
    assert summary.validation.expected == 12
    assert [one.stream for one in summary.driver] == ["trips", "trips", "calls"]
    assert sum(one.offered for one in summary.driver[:2]) == 6 * 2_400
    parts = read_parts(result.path / "results")
    assert parts is not None
    assert set(parts["geocoder"].to_pylist()) == {"localhost:4711"}
    assert set(parts["borough"].to_pylist()) == {"N", "S"}
    assert set(parts["tip"].to_pylist()) == {0.5, 2.0}
    password = urlsplit((tmp_path / "address.txt").read_text()).password
    assert password
    stored = [path.read_bytes() for path in result.path.rglob("*") if path.is_file()]
    assert not any(password.encode() in content for content in stored)


def test_above_what_spark_sustains_results_are_right_and_the_run_is_unsustained(
    runs: Path,
) -> None:
    """The queue is cut off, drained to its end, and no window lost an event."""
    result = on_spark(
        runs,
        load__rate=200_000,
        duration="20 s",
        load__marks="[1 %, 2 %, 60 %]",
        system__max_events_per_batch=20_000,
    )
    summary = result.summary
    assert summary.sustained is False
    assert summary.verdict is Verdict.VALID, summary.reasons
    assert result.exit_code is ExitCode.FAILED
    assert all(i.offered == i.drained for i in summary.driver)
    assert summary.validation.missing == summary.validation.wrong == 0


def test_a_query_that_fails_is_named_with_its_cause(runs: Path) -> None:
    with pytest.raises(ComponentError, match="spark died") as caught:
        on_spark(runs, system__conf="{spark.sql.shuffle.partitions: nonsense}")
    error = caught.value
    assert error.log is not None
    assert error.log.is_file()
    assert error.run is not None
    assert streamgauge.Result.read(error.run).summary.status is Status.FAILED


HUNGRY = """\
import streamgauge
from pyspark.sql import functions as F

EVENTS = streamgauge.event_spec(sensor=streamgauge.Keys(size=10))


@streamgauge.query(events=EVENTS, keys=["sensor"])
def hungry(events):
    much = F.array_repeat("sensor", 500_000_000)
    return events.select("sensor", F.size(much), F.col("event_time").alias("latest_event_time"))
"""


def test_a_jvm_without_memory_ends_and_more_memory_is_advised(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "hungry.py").write_text(HUNGRY)
    with pytest.raises(ComponentError, match="JVM has ended") as caught:
        on_spark(
            runs,
            workload=f"{{query: {tmp_path / 'hungry.py'}:hungry}}",
            system__memory="512m",
        )
    assert "`system.memory`" in caught.value.fix
    assert caught.value.run is not None
    assert streamgauge.Result.read(caught.value.run).summary.status is Status.FAILED
