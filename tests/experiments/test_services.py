"""Runs whose query uses services that streamgauge starts, with a real broker and database."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import psutil
import pytest

from streamgauge.errors import ComponentError, ExperimentError
from streamgauge.experiments.planning.files import read_experiment
from streamgauge.experiments.planning.plan import Plan, make_plan
from streamgauge.experiments.running.log import RunLog
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.experiments.running.station import Station
from streamgauge.experiments.running.trial import Trial
from tests.experiments.test_cleaning_up import carrying, marks_of, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")

# A query that the simulated system runs, too.
ASKING = """\
from streamgauge.queries.base import Service
from streamgauge.queries.gaming.aggregation import AggregationQuery

CALLS = []


class Asking(AggregationQuery):
    @property
    def inputs(self):
        services = {
            "database": Service(kind="postgresql", prepare=CALLS.append),
            "broker": Service(kind="kafka"),
        }
        return {**super().inputs, **services}


class Misspelt(AggregationQuery):
    @property
    def inputs(self):
        return {**super().inputs, "database": Service(kind="postgres")}


class Failing(AggregationQuery):
    @property
    def inputs(self):
        return {**super().inputs, "database": Service(kind="postgresql", prepare=lambda _: 1 / 0)}
"""


def planned(folder: Path, name: str, *settings: str) -> Plan:
    path = folder / "asking.py"
    path.write_text(ASKING)
    workload = f"workload={{query: {path}:{name}}}"
    return make_plan(*read_experiment("quickstart", ["system=simulated", workload, *settings]))


def test_a_kind_of_service_that_does_not_exist_is_refused_before_anything_starts(
    tmp_path: Path,
) -> None:
    with pytest.raises(ExperimentError, match=r"services.database: there is no `postgres`") as e:
        planned(tmp_path, "Misspelt")
    assert e.value.fix == "did you mean `postgresql`?"


@pytest.mark.parametrize("open_one", ["postgresql://me:word@db/x", "host=db password=word"])
def test_a_password_in_an_address_is_refused(tmp_path: Path, open_one: str) -> None:
    with pytest.raises(ExperimentError, match="would be stored with the run") as error:
        planned(tmp_path, "Asking", f"services.database={open_one}", "services.broker=here:1")
    assert "${env:NAME}" in error.value.fix


def test_a_secret_is_revealed_only_where_the_address_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "postgresql://me:${env:DB_WORD}@db/x"
    plan = planned(tmp_path, "Asking", f"services.database={address}", "services.broker=here:1")
    monkeypatch.setenv("DB_WORD", "tulip")
    inputs = plan.query.fixed_inputs(lambda table: table)
    assert inputs == {"database": "postgresql://me:tulip@db/x", "broker": "here:1"}
    assert "tulip" not in json.dumps(plan.stored) + plan.query_config.model_dump_json()
    with Station(tmp_path / "logs") as station:
        assert station.query_of(plan, lambda _: None) == plan.query_config
        assert station.service_processes() == []


def test_a_database_is_prepared_once_for_all_trials(tmp_path: Path) -> None:
    plan = planned(tmp_path, "Asking", "services.broker=here:1")
    calls = sys.modules["asking"].CALLS
    with Station(tmp_path / "logs") as station:
        config = station.query_of(plan, lambda _: None)
        assert station.query_of(plan, lambda _: None) == config
        (address,) = calls
        assert address.startswith("postgresql://streamgauge:")
        assert "${file:" in config.services["database"]
        failing = planned(tmp_path, "Failing")
        with pytest.raises(ExperimentError, match="`database` failed: ZeroDivisionError"):
            station.query_of(failing, lambda _: None)


def test_a_service_that_has_died_is_named_instead_of_who_noticed_it(
    tmp_path: Path, runs: Path
) -> None:
    plan = planned(tmp_path, "Asking", "services.broker=here:1")
    directory = RunDirectory.create(runs, "asking", datetime.now())
    with Station(directory.logs) as station:
        trial = Trial(plan, directory, station, RunLog(), lambda _: None)
        station.query_of(plan, lambda _: None)
        (database,) = station.service_processes()
        os.kill(database.pid, signal.SIGKILL)
        os.waitid(os.P_PID, database.pid, os.WEXITED | os.WNOWAIT)
        with pytest.raises(ComponentError, match="PostgreSQL server died") as error:  # noqa: SIM117
            with trial.processes():
                raise ComponentError("the system died: no connection to the database")
        assert error.value.log == directory.logs / "database.log"


@pytest.fixture
def run(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A run in the middle of its load, with a broker and a database."""
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    (tmp_path / "asking.py").write_text(ASKING)
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "streamgauge.cli", "run", "quickstart", "--json"),
            *("--set", f"workload={{query: {tmp_path / 'asking.py'}:Asking}}"),
            *("--set", "system=simulated", "--set", "load.rate=2000"),
            *("--set", "duration=10 min", "--runs-dir", str(tmp_path / "runs")),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    log = tmp_path / "runs" / "latest" / "events.ndjson"
    wait_until(lambda: log.is_file() and '"event": "load"' in log.read_text(), 120)
    time.sleep(1)
    yield process
    process.kill()


def service_process(run: subprocess.Popen[str], word: str) -> psutil.Process:
    children = psutil.Process(run.pid).children()
    (found,) = [child for child in children if any(word in part for part in child.cmdline())]
    return found


def test_a_service_that_dies_is_named(run: subprocess.Popen[str], tmp_path: Path) -> None:
    marks = marks_of(run)
    service_process(run, "kafka.Kafka").kill()
    _, errors = run.communicate(timeout=30)
    assert run.returncode == 5
    assert "the Kafka broker died: killed by signal 9" in errors
    assert "broker.log" in errors
    assert (tmp_path / "runs" / "latest" / "logs" / "broker.log").stat().st_size > 0
    assert "Traceback" not in errors
    assert carrying(marks) == []
    assert list((tmp_path / "tmp").glob("streamgauge-*")) == []


def test_kill_9_leaves_no_service_behind(run: subprocess.Popen[str], tmp_path: Path) -> None:
    marks = marks_of(run)
    database = service_process(run, "postgres")
    services = [database, *database.children(), service_process(run, "kafka.Kafka")]
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert psutil.wait_procs(services, timeout=5)[1] == []
    wait_until(lambda: not carrying(marks) and not list((tmp_path / "tmp").iterdir()), 5)
