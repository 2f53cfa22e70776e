from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from streamgauge.errors import ComponentError, RunInterrupted, StreamgaugeError
from streamgauge.experiments.planning.files import read_experiment
from streamgauge.experiments.planning.plan import make_plan
from streamgauge.experiments.planning.study import Study
from streamgauge.experiments.running import runner
from streamgauge.experiments.running.log import Finished, Progress, RunStarted, Subscriber
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.systems.spark.system import SparkSystem

from . import made_up
from .calling import call

QUICK = "quick run: the numbers are meaningless"


class Pretended:
    """Replaces the runner: reports progress and makes a run directory."""

    def __init__(self) -> None:
        self.changes: dict[str, Any] = {}
        self.failure: Exception | None = None
        self.calls: list[dict[str, Any]] = []

    def execute(
        self, study: Study, runs_dir: Path, subscriber: Subscriber, *, command: str, quick: bool
    ) -> RunDirectory:
        self.calls.append({"study": study, "command": command, "quick": quick})
        summary = made_up.summary(quick=quick, **self.changes)
        directory = made_up.stored(runs_dir, summary)
        subscriber(RunStarted(directory.path))
        subscriber(Progress("start", "rehearsing", 3.0, 80.0))
        print("something that a library prints")
        if self.failure is not None:
            if isinstance(self.failure, StreamgaugeError):
                self.failure.run = directory.path
            raise self.failure
        subscriber(Finished(summary))
        return directory


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> Pretended:
    stand_in = Pretended()
    monkeypatch.setattr(runner, "execute", stand_in.execute)
    return stand_in


@pytest.fixture
def place(runs: Path) -> tuple[str, str]:
    return ("--runs-dir", str(runs))


def test_the_result_goes_to_standard_output_and_progress_does_not(
    pretended: Pretended, place: tuple[str, str], runs: Path
) -> None:
    answer = call("run", "quickstart", *place)
    assert answer.code == 0
    assert answer.out.startswith("✓ PASSED   quickstart, run 2026-01-02-1-quickstart\n")
    assert f"report: {runs / '2026-01-02-1-quickstart' / 'report.html'}" in answer.out
    assert "rehearsing" in answer.err
    assert "rehearsing" not in answer.out
    assert "library" not in answer.out
    assert pretended.calls[0]["command"] == "streamgauge run quickstart"


def test_with_json_standard_output_is_the_summary_and_nothing_else(
    pretended: Pretended, place: tuple[str, str]
) -> None:
    del pretended
    answer = call("run", "quickstart", "--json", *place)
    assert json.loads(answer.out) == made_up.summary().model_dump(mode="json")
    assert "rehearsing" in answer.err


def test_settings_reach_the_plan_and_the_command_to_repeat(
    pretended: Pretended, place: tuple[str, str]
) -> None:
    call("run", "quickstart", "--set", "load.rate=5k", "--set", "system.trigger=1 s", *place)
    (only,) = pretended.calls
    assert only["study"].experiment.load.rate == 5_000
    assert only["command"] == (
        "streamgauge run quickstart --set load.rate=5k --set 'system.trigger=1 s'"
    )


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_quick_run_is_stamped_on_every_output(
    pretended: Pretended, place: tuple[str, str], more: tuple[str, ...]
) -> None:
    answer = call("run", "quickstart", "--quick", *more, *place)
    assert pretended.calls[0]["quick"] is True
    assert answer.err.startswith(QUICK)
    if more:
        assert json.loads(answer.out)["quick"] is True
    else:
        assert answer.out.startswith(QUICK)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, 0),
        ({"thresholds": [{"expression": "offered_per_s > 1", "passed": False}]}, 1),
        ({"sustained": False}, 1),
        ({"verdict": "invalid"}, 3),
        ({"verdict": "unknown"}, 3),
        ({"verdict": "void"}, 4),
        ({"status": "failed"}, 5),
        ({"status": "interrupted"}, 130),
    ],
)
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_the_exit_code_follows_the_summary(
    pretended: Pretended,
    place: tuple[str, str],
    changes: dict[str, Any],
    code: int,
    more: tuple[str, ...],
) -> None:
    pretended.changes = changes
    assert call("run", "quickstart", *more, *place).code == code


def test_ctrl_c_shows_what_was_measured_and_exits_with_130(
    pretended: Pretended, place: tuple[str, str]
) -> None:
    pretended.failure = RunInterrupted("interrupted")
    pretended.changes = {"status": "interrupted", "verdict": "unknown"}
    answer = call("run", "quickstart", *place)
    assert answer.code == 130
    assert answer.out.startswith("? INTERRUPTED")
    assert answer.err.splitlines()[-1].startswith("interrupted: what was measured until then is in")


def test_a_component_that_died_is_reported_with_its_log_after_the_partial_summary(
    pretended: Pretended, place: tuple[str, str]
) -> None:
    pretended.failure = ComponentError("spark died", fix="see its log", log=Path("spark.log"))
    pretended.changes = {"status": "failed", "verdict": "unknown"}
    answer = call("run", "quickstart", "--json", *place)
    assert answer.code == 5
    assert json.loads(answer.out)["status"] == "failed"
    assert answer.err.splitlines()[-3:] == [
        "error: spark died",
        "fix: see its log",
        "log: spark.log",
    ]


def test_a_bug_in_a_run_leaves_its_traceback_with_the_logs_of_the_run(
    pretended: Pretended, place: tuple[str, str], runs: Path
) -> None:
    pretended.failure = ZeroDivisionError("boom")
    answer = call("run", "quickstart", *place)
    assert answer.code == 5
    assert "Traceback" not in answer.err
    (log,) = (runs / "2026-01-02-1-quickstart" / "logs").iterdir()
    assert f"log: {log}" in answer.err


def test_a_dry_run_starts_nothing_and_prints_an_experiment_that_plans_the_same(
    pretended: Pretended, place: tuple[str, str], runs: Path, tmp_path: Path
) -> None:
    changes = ("--set", "load.schedule=bursts", "--set", "load.policy={name: time, patience: 3 s}")
    answer = call("run", "quickstart", "--dry-run", *changes, *place)
    assert answer.code == 0
    assert not pretended.calls
    assert not runs.exists()
    assert "# estimated duration: 1 min 46 s" in answer.out
    data = yaml.safe_load(answer.out)
    assert data["load"]["schedule"] == {
        "name": "bursts",
        "burst": 3.0,
        "every": "10 s",
        "length": "1 s",
    }
    assert data["load"]["policy"] == {"name": "time", "patience": "3 s"}
    assert data["system"]["memory"] == SparkSystem().memory
    saved = tmp_path / "quickstart.yaml"
    saved.write_text(answer.out)
    again = make_plan(*read_experiment(str(saved)))
    once = make_plan(*read_experiment("quickstart", [one for one in changes if one != "--set"]))
    assert again.events == once.events
    assert again.system == once.system
    assert again.query.settings() == once.query.settings()
    assert again.experiment.warm_up_us == once.experiment.warm_up_us
    assert again.experiment.thresholds == once.experiment.thresholds


def test_a_dry_run_as_json(place: tuple[str, str]) -> None:
    answer = call("run", "quickstart", "--dry-run", "--json", "--quick", *place)
    plan = json.loads(answer.out)
    assert plan["experiment"]["duration"] == "15 s"
    assert plan["events"] == 750_000
    assert plan["estimated_s"] > 15
    assert plan["quick"] is True
    assert QUICK in answer.err


def test_a_dry_run_does_not_show_the_token(place: tuple[str, str]) -> None:
    token = "0123456789abcdef-secret"
    answer = call("run", "quickstart", "--dry-run", "--set", f"channel.token={token}", *place)
    assert answer.code == 0
    assert token not in answer.out + answer.err


def test_a_wrong_experiment_makes_no_run_directory(place: tuple[str, str], runs: Path) -> None:
    answer = call("run", "quickstart", "--set", "load.rat=1", *place)
    assert answer.code == 2
    assert answer.err == "error: load.rat: unknown key\nfix: did you mean `rate`?\n"
    assert not runs.exists()


def test_a_folder_for_runs_that_cannot_be_made_is_reported(runs: Path) -> None:
    runs.write_text("not a folder")
    answer = call("run", "quickstart", "--runs-dir", str(runs / "below"))
    assert answer.code == 5
    assert "bug" not in answer.err
    assert str(runs) in answer.err
    assert "--runs-dir" in answer.err
