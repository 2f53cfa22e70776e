"""Services that stand between runs, with a real database."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from streamgauge.errors import ComponentError
from streamgauge.experiments.running.station import Station
from streamgauge.processes.guard import MARKER, marked
from streamgauge.references import revealed
from streamgauge.services import standing
from streamgauge.services.base import cache_folder
from tests.commands import command

KIND = "postgresql"


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[standing.Standing]:
    """Started by a command that has ended, inside of a run."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv(MARKER, "a run")
    done = command(tmp_path, "services", "up", KIND)
    assert done.returncode == 0, done.stderr
    try:
        found = standing.standing(KIND)
        assert found is not None
        assert revealed(found.address) in done.stdout
        yield found
    finally:
        standing.down(KIND)


def answers(address: str) -> bool:
    with psycopg.connect(revealed(address)) as connection:
        return connection.execute("SELECT 1").fetchone() == (1,)


def test_a_run_uses_it_and_leaves_it_alone(database: standing.Standing, tmp_path: Path) -> None:
    with Station(tmp_path / "logs") as station:
        assert station.service(KIND, lambda _: None) == database.address
        assert [one.pid for one in station.service_processes()] == [database.pid]
        station.check_services()
    assert answers(database.address)
    assert database.pid not in [process.pid for process in marked("a run")]
    again = command(tmp_path, "services", "up", KIND)
    assert standing.standing(KIND) == database
    assert revealed(database.address) in again.stdout


def test_its_death_fails_the_run_and_the_next_one_starts_its_own(
    database: standing.Standing, tmp_path: Path
) -> None:
    with Station(tmp_path / "logs") as station:
        station.service(KIND, lambda _: None)
        os.kill(database.pid, signal.SIGKILL)
        while psutil.pid_exists(database.pid) and database.process is not None:
            time.sleep(0.05)
        with pytest.raises(ComponentError, match="the PostgreSQL server died") as error:
            station.check_services()
        assert error.value.log == database.log
        # The next trial of the same run, too.
        own = station.service(KIND, lambda _: None)
        assert own != database.address
        assert answers(own)
        open_one = revealed(own)
        station.check_services()
    with pytest.raises(psycopg.OperationalError):
        answers(open_one)


def test_status_shows_it_and_down_removes_it_with_its_data(
    database: standing.Standing, tmp_path: Path
) -> None:
    shown = json.loads(command(tmp_path, "services", "status", "--json").stdout)
    assert shown["kafka"] is None
    assert shown[KIND]["pid"] == database.pid
    assert shown[KIND]["address"] == revealed(database.address)
    assert command(tmp_path, "services", "down", KIND).stdout == f"{KIND}: stopped\n"
    assert database.process is None
    assert not database.log.parent.exists()
    assert command(tmp_path, "services", "status", KIND).stdout == f"{KIND}: not up\n"


def test_another_process_with_its_pid_is_not_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    state = cache_folder() / "services" / KIND / "state.json"
    state.parent.mkdir(parents=True)
    ours = psutil.Process()
    found = standing.Standing(
        name="a database",
        role="database",
        pid=ours.pid,
        created_s=ours.create_time(),
        address="here",
        log=tmp_path,
    )
    state.write_text(found.model_dump_json())
    assert standing.standing(KIND) == found
    state.write_text(found.model_copy(update={"created_s": found.created_s - 60}).model_dump_json())
    assert standing.standing(KIND) is None


def test_a_misspelt_service_is_refused_with_the_nearest_one(tmp_path: Path) -> None:
    done = command(tmp_path, "services", "up", "postgres")
    assert done.returncode == 2
    assert "did you mean `postgresql`?" in done.stderr
