"""What every pair of a system and a channel must do; `check_pair` runs it all on one station.

Each load is short and slow, because speed is not tested here, and serves several checks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from streamgauge.errors import ExperimentError
from streamgauge.experiments.planning.files import read_experiment
from streamgauge.experiments.planning.plan import Plan
from streamgauge.experiments.planning.study import make_study
from streamgauge.experiments.running.log import LogFile, RunLog
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.experiments.running.station import Station
from streamgauge.experiments.running.stopping import Action
from streamgauge.experiments.running.trial import Trial
from streamgauge.measure.calculate import CalculationWork, Findings, calculate
from streamgauge.measure.record import RunRecord
from streamgauge.queries.load import build_query
from streamgauge.queries.own import QueryConfig
from streamgauge.systems.base import Capability
from streamgauge.systems.running import CanKill, CanPause, CanRestart, RunningSystem
from tests.loads import WIDE_LAG, WIDE_MARKS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RATE, SECONDS = 2_000, 4
DISORDER = "300 ms"


@dataclass
class Pair:
    """A system and a channel on a station of their own."""

    system: str
    channel: str
    folder: Path
    spark: SparkSession
    station: Station
    experiment: str = "quickstart"
    """What every plan begins with."""
    runs: int = 0

    def plan(self, **changes: Any) -> Plan:
        chosen = {"system": self.system, "channel": self.channel, "workload.keys": 20}
        settings = {
            **(chosen if self.experiment == "quickstart" else {}),
            "load.rate": RATE,
            "load.marks": WIDE_MARKS,
            "load.max_lag": WIDE_LAG,
            "duration": f"{SECONDS} s",
            "warm_up": "0 s",
            "thresholds": "[]",
            **{key.replace("__", "."): value for key, value in changes.items()},
        }
        if self.system.startswith("spark"):
            settings["system.rehearsal"] = 0
        words = [f"{k}={v if isinstance(v, str) else json.dumps(v)}" for k, v in settings.items()]
        return make_study(*read_experiment(self.experiment, words)).first_plan

    def run(
        self,
        timeline: Sequence[Action] = (),
        conditions: Sequence[Any] = (),
        **changes: Any,
    ) -> Run:
        """One trial, drained and validated."""
        plan = self.plan(**changes)
        self.runs += 1
        directory = RunDirectory.inside(self.folder / f"run-{self.runs}")
        log = RunLog(LogFile(directory.events))
        trial = Trial(plan, directory, self.station, log, lambda _: None)
        with trial.processes():
            trial.start()
            processes = list(trial.running.processes)
            trial.load(
                [trial.unsustained, trial.dropped, *conditions],
                timeline,
                alignment_us=plan.query.alignment_us,
            )
            record = trial.close(drained=trial.drain())
            idle = list(self.station.system(plan, lambda _: None).processes)
        directory.write(directory.record, record)
        handovers = {
            stream: [directory.driver(n) / "handovers" for n in plan.load.instances_of(stream)]
            for stream in plan.load.streams
        }
        work = CalculationWork(
            record=directory.record,
            results=directory.results,
            handovers=handovers,
            mirror=directory.mirror,
        )
        events = [json.loads(line) for line in directory.events.read_text().splitlines()]
        return Run(plan, record, calculate(self.spark, work, None), events, processes, idle)


@dataclass(frozen=True)
class Run:
    plan: Plan
    record: RunRecord
    findings: Findings
    events: list[dict[str, Any]]
    processes: list[Any]
    idle: list[Any]
    """The processes of the system after the trial."""

    @property
    def offered(self) -> int:
        return sum(source.offered for source in self.record.instances)

    def check_complete(self, *, duplicates: bool = False) -> None:
        """Every expected result arrived, and is right."""
        found = self.findings.validation
        assert self.record.drained
        assert self.record.dropped == []
        assert found.input_matches is True
        assert found.expected
        assert found.expected > 0
        assert (found.missing, found.extra, found.wrong) == (0, 0, 0), found.examples
        # In update mode a result arrives again whenever it changes.
        once = self.plan.query.output_mode == "append" and not duplicates
        assert not once or (found.duplicate, found.actual) == (0, found.expected)


@contextmanager
def opened(system: str, channel: str, folder: Path, spark: SparkSession) -> Iterator[Pair]:
    logs = folder / "logs"
    logs.mkdir(parents=True)
    experiment = made_program(folder) if system == "program" else "quickstart"
    with Station(logs) as station:
        yield Pair(system, channel, folder, spark, station, experiment)


def made_program(folder: Path) -> str:
    """The example of `streamgauge new --program`: it runs no gaming query but one of its own."""
    command = [sys.executable, "-m", "streamgauge.cli", "new", "--program", "my_program"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return str(folder / "my_program.yaml")


def check_pair(pair: Pair) -> None:
    """The whole suite."""
    first = check_a_cut_load_with_disorder(pair)
    check_a_query_of_two_streams(pair, first)
    check_an_interrupted_run(pair, first)
    check_nothing_is_left(pair, first)


class After:
    """Cuts the load after a while."""

    def __init__(self, trial_s: float) -> None:
        self._ticks = round(trial_s / 0.1)

    def check(self, seen: object) -> list[str] | None:  # noqa: ARG002
        self._ticks -= 1
        return ["enough"] if self._ticks == 0 else None


def check_a_cut_load_with_disorder(pair: Pair) -> Run:
    """The results of what was offered before the cut are complete, although events are late."""
    # Long enough for a window to close on a channel that allows for late senders.
    conditions, duration_s = [After(SECONDS)], 2 * SECONDS
    run = pair.run(conditions=conditions, load__disorder=DISORDER, duration=f"{duration_s} s")
    run.check_complete()
    assert 0 < run.record.end_us < duration_s * 1_000_000
    assert run.offered == run.plan.built_load.count_before(run.record.end_us)
    assert run.findings.latency.event_time.count > 0
    assert (run.findings.latency.event_time.min or 0) > 0
    check_observations(run, at_least=2)
    return run


def check_observations(run: Run, at_least: int) -> None:
    """No count ever falls, and the system never takes more than was offered."""
    seen = [event for event in run.events if event["event"] == "observed"]
    assert len(seen) >= at_least
    for name in ("load_us", "offered", "taken", "results"):
        values = [event[name] for event in seen]
        assert values == sorted(values), name
    assert all(0 <= event["taken"] <= event["offered"] for event in seen)
    assert seen[-1]["taken"] > 0


def check_a_query_of_two_streams(pair: Pair, first: Run) -> None:
    """The most demanding one that the system can run; it refuses the others."""
    for query in ("gaming.nested", "gaming.join"):
        workload = {"query": query, "keys": 1_000, "window": "1 s", "selectivity": 0.5}
        if not _refused(pair, workload):
            run = pair.run(workload=workload, load__instances=2)
            run.check_complete()
            _check_the_same_system(first, run)
            return


def check_an_interrupted_run(pair: Pair, first: Run) -> None:
    """The same system takes another assignment, and loses nothing by a pause.

    One that can be killed and restarted continues, and its results stay right.
    """
    powers = _powers(pair)
    restarts = bool(powers.get("kill") and powers.get("restart"))
    timeline = []
    if powers.get("pause"):
        timeline = [Action(500_000, "pause", _pause), Action(1_500_000, "resume", _resume)]
    if restarts:
        timeline.append(Action(2_500_000, "kill and restart", kill_and_restart))
    run = pair.run(timeline)
    run.check_complete(duplicates=restarts)
    assert run.offered == RATE * SECONDS
    check_observations(run, at_least=SECONDS - 2)
    if not restarts:
        _check_the_same_system(first, run)


def _check_the_same_system(first: Run, later: Run) -> None:
    # A system may have a process for each assignment, but none in between.
    assert [p.pid for p in later.idle] == [p.pid for p in first.idle]
    assert not later.idle or later.idle == later.processes


def _refused(pair: Pair, workload: Mapping[str, Any]) -> bool:
    """A query that the system cannot run is refused by the plan, with the reason."""
    can = pair.plan().system.can_run(build_query(QueryConfig(name=workload["query"])))
    if not can:
        with pytest.raises(ExperimentError, match=can.reason):
            pair.plan(workload=workload, load__instances=2)
    return not can


def _powers(pair: Pair) -> Mapping[str, Capability]:
    return pair.plan().system.powers


def _program(running: RunningSystem) -> Any:
    return next(process for process in running.processes if process.role == "program")


def _pause(running: RunningSystem) -> None:
    assert isinstance(running, CanPause)
    running.pause(_program(running))


def _resume(running: RunningSystem) -> None:
    assert isinstance(running, CanPause)
    running.resume(_program(running))


def kill_and_restart(running: RunningSystem) -> None:
    assert isinstance(running, CanKill)
    assert isinstance(running, CanRestart)
    running.kill(_program(running))
    running.restart(180.0, lambda _: None)


def check_nothing_is_left(pair: Pair, run: Run) -> None:
    pair.station.stop_system()
    for process in run.processes:
        assert process.role
        assert process.site
        assert process.pid == os.getpid() or not psutil.pid_exists(process.pid)
