"""Faults that cannot be done are refused before anything starts, with the line of the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamgauge.errors import ExitCode, ExperimentError
from streamgauge.experiments.planning.files import read_experiment
from streamgauge.experiments.planning.lines import line_of
from streamgauge.experiments.planning.plan import Plan
from streamgauge.experiments.planning.study import make_study, plan_at
from tests.cli.calling import call

FILE = """\
workload: {query: gaming.aggregation}
load: {rate: 1000}
duration: 60 s
faults:
  - {at: 10 s, kill: program}
  - at: WHEN
    FAULT
"""


def plan(*settings: str) -> Plan:
    return make_study(*read_experiment("quickstart", settings)).first_plan


def refused(*settings: str) -> ExperimentError:
    with pytest.raises(ExperimentError) as caught:
        plan(*settings)
    return caught.value


def test_faults_are_planned() -> None:
    faults = plan("faults=[{at: 20 s, kill: program}]").faults
    assert [fault.title for fault in faults] == ["kill program"]


@pytest.mark.parametrize(
    ("fault", "settings", "problem"),
    [
        ("kill: executor", [], "with `local[2]` the program is the executor"),
        ("kill: worker", ["system.master=local-cluster[2,1,1024]"], "set `system.cluster`"),
        ("kill: executer", [], "there is no `executer` here"),
        ("kill: broker", [], "there is no `broker` here"),
        ("kill: broker", ["channel=kafka", "channel.brokers=somewhere:9092"], "are not ours"),
        ("kill: database", [], "there is no `database` here"),
        ("kill: [program, master]", [], "there is no `master` here"),
        (
            "kill: program",
            [
                "system={name: none}",
                "workload={query: espbench.ingestion}",
                "channel={name: kafka, timestamps: LogAppendTime}",
            ],
            "no `program`",
        ),
    ],
)
def test_a_target_that_is_not_there_is_refused(
    fault: str, settings: list[str], problem: str
) -> None:
    error = refused(*settings, f"faults=[{{at: 10 s, {fault}}}]")
    assert error.key == "faults.0.kill"
    assert problem in error.problem
    assert error.exit_code is ExitCode.USAGE


@pytest.mark.parametrize(
    ("fault", "settings"),
    [
        ("kill: executor", ["system={name: spark, cluster: {}}"]),
        ("kill: [worker, master]", ["system={name: spark, cluster: {}}"]),
        ("kill: executor", ["system.master=local-cluster[2,1,1024]"]),
        ("kill: python worker", []),
        ("kill: broker", ["channel=kafka"]),
        ("restart: broker", ["channel=kafka"]),
    ],
)
def test_a_target_that_is_there_is_taken(fault: str, settings: list[str]) -> None:
    assert plan(*settings, f"faults=[{{at: 10 s, {fault}}}]").faults


@pytest.mark.parametrize(
    ("time", "fault", "line"),
    [
        ("2 min", "kill: program", 6),
        ("-3 s", "kill: program", 6),
        ("20 s", "kill: executer", 7),
        ("20 s", "pause: program", 6),
    ],
)
def test_the_command_line_names_the_line(tmp_path: Path, time: str, fault: str, line: int) -> None:
    path = tmp_path / "faulty.yaml"
    path.write_text(FILE.replace("WHEN", time).replace("FAULT", fault))
    answer = call("validate", str(path))
    assert answer.code == ExitCode.USAGE
    assert f"(line {line})" in " ".join(answer.err.split())


@pytest.mark.parametrize(
    ("key", "line"),
    [("load.rate", 2), ("faults.1.at", 6), ("faults.1.for", 6), ("seed", None), ("load.x", 2)],
)
def test_a_setting_has_a_line(key: str, line: Any) -> None:
    assert line_of(FILE.replace("FAULT", "kill: program"), key) == line


def test_a_probe_of_a_search_has_no_faults_and_its_confirmation_has() -> None:
    settings = ["load.rate=search", "faults=[{at: 50 s, kill: program}]"]
    study = make_study(*read_experiment("quickstart", settings))
    experiment = study.cases[0].experiment
    assert plan_at(experiment, study.base, 1_000.0, 25_000_000).faults == ()
    assert plan_at(experiment, study.base, 1_000.0).faults
    assert plan_at(experiment, study.base, 1_000.0, experiment.duration).faults
