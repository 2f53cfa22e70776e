"""ESPBench with a real broker, a real database and a real Spark."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

import streamgauge
from streamgauge.cli import main
from streamgauge.measure.summary import Verdict
from tests.loads import WIDE_LAG, WIDE_MARKS

RATE, SECONDS = 200, 5


def test_rows_are_persisted_and_proved(broker: str, tmp_path: Path) -> None:
    settings = {
        "workload.query": "espbench.q5",
        "workload.scale": 1,
        "load.rate": RATE,
        "load.marks": WIDE_MARKS,
        "load.max_lag": WIDE_LAG,
        "channel.brokers": broker,
        "channel.partitions": 2,
        "duration": f"{SECONDS} s",
        "repeat": 1,
        "vary": {},
        "system.rehearsal": 1,
    }
    result = streamgauge.run("espbench", settings=settings, runs_dir=tmp_path)
    summary = result.summary
    assert summary.verdict is Verdict.VALID, summary.reasons
    found = summary.validation
    assert found.expected == found.actual == RATE * SECONDS
    assert found.times_back == 0
    latency = summary.latency_ms.event_time
    assert latency.count
    assert latency.min is not None
    assert latency.min > 0
    assert pq.read_table(result.path / "latencies.parquet").num_rows == RATE * SECONDS
    assert main(["calculate", str(result.path)]) == 0
