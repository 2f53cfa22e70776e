"""Whole runs against a system whose capacity and faults are known."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

import streamgauge
from streamgauge.errors import ComponentError, ExitCode, RunInterrupted
from streamgauge.experiments.api import Result
from streamgauge.experiments.running import runner
from streamgauge.experiments.running.log import Event, Progress, Subscriber, Warned
from streamgauge.experiments.running.run_directory import DEFAULT_RUNS
from streamgauge.experiments.running.runner import begun
from streamgauge.measure.summary import Verdict
from streamgauge.processes.machine import OtherWork

SETTINGS: dict[str, Any] = {
    "system": "simulated",
    "load.rate": 20_000,
    "duration": "6 s",
    "measure_master": "local[2]",
    "thresholds": "[]",
}


def simulated(runs: Path, subscriber: Subscriber | None = None, **changes: Any) -> Result:
    settings = {**SETTINGS, **{key.replace("__", "."): value for key, value in changes.items()}}
    return streamgauge.run("quickstart", settings=settings, runs_dir=runs, subscriber=subscriber)


def planted(result: Result) -> dict[str, int]:
    """The counts of the faults that the simulated system planted."""
    for line in (result.path / "events.ndjson").read_text().splitlines():
        event = json.loads(line)
        if event["event"] == "system" and event["said"]["event"] == "planted":
            return {key: value for key, value in event["said"].items() if key != "event"}
    raise AssertionError("the system did not report its faults")


FAULTY = {
    "name": "simulated",
    # One in 10,000 lost, doubled, falsified in the sixth digit, and delayed beyond the run.
    **dict.fromkeys(("lose", "double", "falsify", "delay"), 0.0001),
    "pause_every": "5 s",
    "pause": "700 ms",
}
SLOW = {"name": "simulated", "capacity": 40_000}
DROPPING = {"name": "simulated", "drop": True}


@pytest.fixture(scope="module")
def misbehaving(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    """Three systems under one load, each with a fault of its own, in one study."""
    study = simulated(
        tmp_path_factory.mktemp("misbehaving"),
        vary={"system": [FAULTY, SLOW, DROPPING]},
        load__rate=100_000,
        load__marks="[8 %, 10 %, 20 %]",
        duration="12 s",
        workload__keys=4_000,
    )
    assert study.exit_code is ExitCode.INVALID
    return dict(zip(("faulty", "slow", "dropping"), study.trials, strict=True))


def test_every_planted_fault_is_reported_with_its_exact_count(
    misbehaving: dict[str, Result],
) -> None:
    result = misbehaving["faulty"]
    found, faults = result.summary.validation, planted(result)
    assert result.summary.verdict is Verdict.INVALID
    assert result.exit_code is ExitCode.INVALID
    assert min(faults.values()) >= 3
    assert found.missing == faults["lost"]
    assert found.duplicate == faults["doubled"]
    assert found.wrong == faults["falsified"]
    assert found.late == faults["delayed"]
    assert found.extra == 0
    assert found.input_matches is True
    assert found.examples
    # The pauses show in the queue, and the queue has survived them.
    assert result.summary.sustained is True
    assert max(result.series.pull.queued) > 0.5 * 100_000


def test_too_much_load_is_unsustained_and_not_invalid(misbehaving: dict[str, Result]) -> None:
    result = misbehaving["slow"]
    summary = result.summary
    assert summary.sustained is False
    assert summary.verdict is Verdict.VALID, summary.reasons
    assert result.exit_code is ExitCode.FAILED
    assert any(
        "driver instance" in reason and "queue" in reason for reason in summary.unsustained_because
    )
    # The load was cut, so fewer events than planned were offered, and all of them drained.
    assert 0 < sum(i.offered for i in summary.driver) < 1_200_000
    assert all(i.offered == i.drained for i in summary.driver)


def test_a_dropped_connection_fails_the_run_by_name(misbehaving: dict[str, Result]) -> None:
    result = misbehaving["dropping"]
    assert result.summary.sustained is False
    assert result.exit_code is ExitCode.FAILED
    assert any(
        "connection to driver instance 0" in reason for reason in result.summary.unsustained_because
    )


PERPLEXED = """\
class Perplexed:
    def __init__(self, marks):
        pass

    def judge(self, seen):
        raise LookupError("no opinion on this queue")
"""


def test_a_busy_machine_is_said_before_the_run_and_in_its_summary(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "other_work", lambda: OtherWork(2, used=1.9))
    warned: list[str] = []

    def interrupt(event: Event) -> None:
        if isinstance(event, Warned):
            warned.append(event.text)
        elif isinstance(event, Progress):
            raise RunInterrupted("interrupted")

    with pytest.raises(RunInterrupted):
        simulated(runs, subscriber=interrupt)
    assert "other programs use 1.9 of 2 core(s)" in warned[0]
    (run,) = {path.resolve() for path in runs.iterdir()}
    assert warned == [
        event["text"]
        for event in map(json.loads, (run / "events.ndjson").read_text().splitlines())
        if event["event"] == "warning"
    ]


def test_a_policy_that_raises_ends_the_run_and_is_named(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "perplexed.py").write_text(PERPLEXED)
    with pytest.raises(ComponentError, match="LookupError: no opinion on this queue") as caught:
        simulated(runs, load__policy=f"{tmp_path / 'perplexed.py'}:Perplexed")
    assert "perplexed.py:Perplexed` failed" in caught.value.cause
    assert caught.value.exit_code is ExitCode.COMPONENT
    assert caught.value.log is not None
    assert "no opinion on this queue" in caught.value.log.read_text()
    (run,) = {path.resolve() for path in runs.iterdir()}
    assert Result.read(run).exit_code is ExitCode.COMPONENT


class Watch:
    """The remaining time in the first progress of each part."""

    def __init__(self) -> None:
        self.left_s: dict[str, float] = {}

    def __call__(self, event: Event) -> None:
        if isinstance(event, Progress):
            self.left_s.setdefault(event.part, event.remaining_s)


def test_an_honest_system_is_valid_and_one_seed_gives_one_input(runs: Path) -> None:
    watch = Watch()
    study = simulated(runs, watch, repeat=2)
    first, again = study.trials
    assert list(watch.left_s) == ["trial 1 of 2", "trial 2 of 2"]
    assert 0 < watch.left_s["trial 2 of 2"] < watch.left_s["trial 1 of 2"] / 2
    assert study.exit_code is ExitCode.VALID
    assert [case.figures["event_time.p99"].count for case in study.summary.cases] == [2]
    assert first.summary.verdict is Verdict.VALID
    assert first.exit_code is ExitCode.VALID
    assert first.summary.sustained is True
    assert first.summary.offered_per_s == pytest.approx(20_000, rel=0.02)
    assert first.summary.validation.missing == 0
    assert len(first.summary.input_hash) == 16
    assert first.summary.input_hash == again.summary.input_hash
    assert (runs / "latest").resolve() == study.path.resolve()
    check_files(first)


def test_searches_on_one_system_warm_it_up_once(runs: Path) -> None:
    study = simulated(
        runs,
        vary={"workload.keys": [10, 20]},
        load__rate="search",
        search={
            "warm_up": "1 s",
            "start": 30_000,
            "highest": 30_000,
            "probe": "8 s",
            "precision": "50 %",
        },
        duration="8 s",
    )
    assert study.exit_code is ExitCode.VALID
    for trial in study.trials:
        assert 10_000 < (trial.summary.maximum_sustainable_per_s or 0) <= 30_000
    searches = study.path / "searches"
    assert (searches / "02" / "probe-01" / "events.ndjson").exists()
    assert [str(p.relative_to(searches)) for p in searches.glob("*/warm-up")] == ["01/warm-up"]
    warm_up, probe = (
        json.loads((searches / place / "events.ndjson").read_text().splitlines()[0])
        for place in ("01/warm-up", "01/probe-01")
    )
    assert warm_up["event"] == probe["event"] == "load"
    assert warm_up["start_us"] + 1_000_000 < probe["start_us"]


MANY_FAULTS = dict.fromkeys(("lose", "double", "falsify", "delay"), 0.01)
JOINS = """\
name: joins
workload: {query: gaming.join}
load:
  rate: 4_000
  disorder: 30.4 ms
  instances: 2
  streams: {ads: {rate: 30 %, schedule: bursts, instances: 1}}
system: simulated
duration: 6 s
measure_master: local[2]
"""


def test_joins_run_on_the_simulated_system_and_their_faults_are_counted_exactly(
    runs: Path, tmp_path: Path
) -> None:
    (tmp_path / "joins.yaml").write_text(JOINS)
    nested = {"query": "gaming.nested", "selectivity": 0.5, "window": "500 ms"}
    workloads = [{"query": "gaming.join", "keys": 60, "window": "500 ms"}, nested]
    # The conformance suite has an honest one.
    vary = {"workload": workloads, "system": [{**FAULTY, **MANY_FAULTS}]}
    study = streamgauge.run(str(tmp_path / "joins.yaml"), settings={"vary": vary}, runs_dir=runs)
    assert len(study.trials) == 2
    for trial in study.trials:
        found, faults = trial.summary.validation, planted(trial)
        assert found.expected > 300
        assert found.input_matches is True
        counted = (found.missing, found.duplicate, found.wrong, found.late, found.extra)
        wanted = (*(faults[name] for name in ("lost", "doubled", "falsified", "delayed")), 0)
        assert counted == wanted
        assert min(wanted[:4]) >= 3
        assert trial.summary.verdict is Verdict.INVALID
        assert [one.stream for one in trial.summary.driver] == ["purchases", "purchases", "ads"]
        offered = [one.offered for one in trial.summary.driver]
        assert sum(offered[:2]) == pytest.approx(6 * 2_800, rel=0.01)


class Impatient:
    """Interrupts the run at its first progress."""

    def __init__(self) -> None:
        self.patient = True

    def __call__(self, event: Event) -> None:
        if isinstance(event, Progress) and self.patient:
            self.patient = False
            raise RunInterrupted("interrupted")


@pytest.mark.parametrize("folder", ["runs", "other runs"])
def test_an_interrupted_study_names_the_command_that_resumes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RunInterrupted) as caught:
        simulated(Path(folder), Impatient(), repeat=2)
    *_, option, run = shlex.split(caught.value.fix.split("`")[1])
    assert option == "--resume"
    assert ("/" in run) == (folder != "runs")
    found = begun(run, DEFAULT_RUNS).directory.path
    assert found == (tmp_path / folder / "latest").resolve()


def check_files(result: Result) -> None:
    """A run directory holds everything that is needed to understand the run."""
    files = {str(p.relative_to(result.path)) for p in result.path.rglob("*") if p.is_file()}
    for name in (
        "experiment.yaml",
        "environment.json",
        "record.json",
        "events.ndjson",
        "summary.json",
        "series.json",
        "report.html",
        "results/part-00000.parquet",
        "resources/part-00000.parquet",
        "driver/0/samples/part-00000.parquet",
        "driver/1/handovers/part-00000.parquet",
    ):
        assert name in files
    series = result.series
    assert max(series.pull.offered_per_s) > 0
    assert set(series.resources.roles) == {"driver", "system", "sink", "others"}
    assert series.latency.time_s[0] == 0.0
    assert result.summary.monitor.samples > 0
    assert "streamgauge run quickstart" in result.summary.command
