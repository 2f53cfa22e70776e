"""Whole runs with faults, against a system that knows when it was back and what it has lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from benchmarks.known_recovery import known_ms

import streamgauge
from streamgauge.errors import ExitCode
from streamgauge.experiments.api import Result
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.measure.recovery_figures import FaultRecovery
from streamgauge.measure.summary import Verdict

NEAR_MS = 200
LOST, DOUBLED = 7, 5
SUPERVISED = {
    "name": "simulated",
    "restart": "always",
    "reload": "1 s",
    "checkpoint": "2 s",
    "capacity": 15_000,
}
FAULTY = {**SUPERVISED, "lose_at_restart": LOST, "double_at_restart": DOUBLED}
ALONE = {"name": "simulated", "capacity": 15_000}
KILLED = [{"at": "5500 ms", "kill": "program"}]
PAUSED = [{"at": "5500 ms", "pause": "program", "for": "2500 ms"}]


@pytest.fixture(scope="module")
def disturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    """Four trials in one study."""
    cases = [(SUPERVISED, KILLED), (FAULTY, KILLED), (ALONE, PAUSED), (ALONE, KILLED)]
    study = streamgauge.run(
        "quickstart",
        settings={
            "also": [{"system": [system], "faults": [faults]} for system, faults in cases],
            "channel": {"name": "direct", "sink": "idempotent"},
            "workload.keys": 50,
            "workload.window": "250 ms",
            "load.rate": 5_000,
            "duration": "16 s",
            "warm_up": "2 s",
            "measure_master": "local[2]",
            "thresholds": "[]",
            "timeouts.drain": "5 s",
        },
        runs_dir=tmp_path_factory.mktemp("disturbed"),
    )
    assert study.exit_code is ExitCode.INVALID
    return dict(zip(("restarted", "faulty", "paused", "dead"), study.trials, strict=True))


def events(result: Result, kind: str) -> list[dict[str, Any]]:
    lines = (result.path / "events.ndjson").read_text().splitlines()
    return [event for event in map(json.loads, lines) if event["event"] == kind]


def only_fault(result: Result) -> FaultRecovery:
    assert result.summary.recovery is not None
    (fault,) = result.summary.recovery.faults
    return fault


def test_reload_and_replay_are_those_that_the_system_knows(disturbed: dict[str, Result]) -> None:
    result = disturbed["restarted"]
    fault = only_fault(result)
    known = known_ms(RunDirectory(result.path))
    assert fault.reload_ms == pytest.approx(known["reload"], abs=NEAR_MS)
    assert fault.replay_ms == pytest.approx(known["replay"], abs=NEAR_MS)
    assert fault.outage_ms == pytest.approx(known["outage"], abs=NEAR_MS)
    assert fault.detection_ms is not None
    assert fault.detection_ms < known["reload"]
    assert fault.recovered


def test_a_restart_from_the_checkpoint_is_shown_to_be_exactly_once(
    disturbed: dict[str, Result],
) -> None:
    summary = disturbed["restarted"].summary
    assert summary.verdict is Verdict.VALID, summary.reasons
    assert summary.sustained is True
    assert summary.recovery is not None
    assert summary.recovery.guarantee_shown == "exactly once"
    assert summary.recovery.guarantee_claimed == "exactly once"
    assert summary.recovery.restarts == 1


def test_what_is_lost_and_doubled_at_the_fault_is_counted(disturbed: dict[str, Result]) -> None:
    summary = disturbed["faulty"].summary
    assert (summary.validation.missing, summary.validation.duplicate) == (LOST, DOUBLED)
    assert summary.validation.wrong == 0
    assert summary.verdict is Verdict.INVALID
    assert "claims exactly once, and has shown less" in summary.reasons[0]


def test_a_pause_is_an_outage_of_its_length(disturbed: dict[str, Result]) -> None:
    result = disturbed["paused"]
    fault = only_fault(result)
    assert fault.recovered
    assert fault.reload_ms == pytest.approx(2_500, abs=NEAR_MS)
    assert fault.replay_ms is not None
    assert fault.replay_ms < NEAR_MS
    assert fault.until_s == pytest.approx(fault.at_s + 2.5, abs=NEAR_MS / 1e3)
    assert fault.detection_ms is None
    assert result.summary.verdict is Verdict.VALID


def test_a_program_that_nobody_starts_again_never_recovers(disturbed: dict[str, Result]) -> None:
    result = disturbed["dead"]
    summary = result.summary
    assert summary.sustained is False
    assert summary.unsustained_because[0].endswith("never recovered within the run")
    assert summary.verdict is Verdict.UNKNOWN
    assert summary.recovery is not None
    assert summary.recovery.not_recovered == 1
    assert summary.recovery.guarantee_shown == ""


def test_each_fault_is_logged_with_its_true_time(disturbed: dict[str, Result]) -> None:
    for result in disturbed.values():
        (fault,) = events(result, "fault")
        assert fault["asked_us"] == 5_500_000
        assert fault["asked_us"] <= fault["began_us"] <= fault["done_us"]
        assert fault["victim"] == "the simulated system"


def test_the_report_shades_the_fault_and_names_the_guarantee(disturbed: dict[str, Result]) -> None:
    result = disturbed["restarted"]
    (window,) = result.series.faults
    assert window.label == "kill program"
    assert window.end_s > window.start_s
    page = result.report.read_text()
    assert "Faults and recovery" in page
    assert "exactly once" in page
