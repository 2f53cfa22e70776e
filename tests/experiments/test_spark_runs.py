"""Whole runs on a real Spark, small enough for a test; the rates are studies, not tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import streamgauge
from streamgauge.errors import ComponentError, ExitCode
from streamgauge.experiments.api import Result
from streamgauge.measure.summary import Status, Verdict
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
    {"query": "gaming.join", "keys": 100},
    {"query": "gaming.join", "keys": 100, "window": "2 s", "slide": "1 s"},
    {"query": "gaming.nested", "selectivity": 0.05},
]


def test_spark_gives_the_right_results_for_every_query_in_one_sweep(tmp_path: Path) -> None:
    """A new user's query and ours, by command; events out of order, more instances than streams,
    RocksDB; one Spark for all of them."""
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


def test_above_what_spark_sustains_results_are_right_and_the_run_is_unsustained(
    runs: Path,
) -> None:
    """The queue is cut off, drained to its end, and no window lost an event."""
    result = on_spark(
        runs,
        load__rate=400_000,
        duration="20 s",
        load__marks="[1 %, 2 %, 60 %]",
        system__max_events_per_batch=100_000,
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
