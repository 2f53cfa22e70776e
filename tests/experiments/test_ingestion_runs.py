"""Senders and a real broker without a system."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import streamgauge
from streamgauge.errors import ExperimentError
from streamgauge.experiments.planning.files import read_experiment
from streamgauge.experiments.planning.study import make_study
from streamgauge.measure.summary import StudySummary, Verdict

RATE, SECONDS = 2_000, 3


def test_the_log_of_the_broker_is_the_result(broker: str, tmp_path: Path) -> None:
    settings = {
        "channel.brokers": broker,
        "system.rehearsal": "100 ms",
        "workload.rows": 1_000,
        "duration": f"{SECONDS} s",
        "warm_up": "1 s",
        "vary": {},
        "also": [{"load.instances": [2], "workload.in_memory": [False]}],
        "load.rate": RATE,
        # However busy the machine of the test is, late senders do not make it void.
        "load.max_lag": "1 ms",
        "measure_master": "local[1]",
    }
    result = streamgauge.run("broker-ingestion", settings=settings, runs_dir=tmp_path)
    summary = result.summary
    assert isinstance(summary, StudySummary)
    assert (summary.verdict, summary.sustained, result.exit_code) == (Verdict.VALID, None, 0)
    assert float(summary.machine["loopback_mb_per_s"]) > 0
    (trial,) = summary.trials
    assert trial.varied == {"load.instances": 2, "workload.in_memory": False}
    found = trial.validation
    assert found.expected
    assert found.expected == found.actual == sum(one.offered for one in trial.driver)
    assert found.expected <= RATE * SECONDS
    assert trial.ingestion is not None
    assert trial.ingestion.configured_per_s == RATE
    assert trial.ingestion.achieved_per_s
    folder = result.path / trial.run
    assert not (folder / "results").exists()
    drawn = json.loads((folder / "series.json").read_text())
    assert len(drawn["ingestion"]["messages_per_s"]) == SECONDS
    assert len(drawn["append_times_ms"]) == 500
    assert 'data-chart="ingestion-1"' in result.report.read_text()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["system=spark"], "without a system"),
        (["system=none", "workload.query=espbench.q1"], "computes nothing"),
        (["load.rate=search", "duration=30s"], "cannot be searched for"),
        (["channel=direct"], "no connector"),
    ],
)
def test_what_needs_a_system_is_refused(settings: list[str], words: str) -> None:
    plain = ["vary={}", "also=[]", "workload={query: espbench.ingestion}"]
    with pytest.raises(ExperimentError, match=words):
        make_study(*read_experiment("broker-ingestion", [*plain, *settings]))
