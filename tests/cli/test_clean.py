from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from streamgauge.cli.left_overs import dead_scratch, old_runs
from streamgauge.processes.guard import Guard

from . import made_up
from .calling import call

DAY_S = 86_400.0


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def run_names(*numbers: int) -> set[str]:
    return {f"2026-01-02-{number}-quickstart" for number in numbers}


@pytest.fixture
def twelve_runs(runs: Path) -> Path:
    for _ in range(12):
        made_up.stored(runs, made_up.summary(), age_s=DAY_S)
    return runs


def test_the_ten_newest_runs_stay(twelve_runs: Path) -> None:
    answer = call("clean", "--yes", "--runs-dir", str(twelve_runs))
    assert answer.code == 0
    assert "removed 2 folders" in answer.out
    assert names(twelve_runs) == run_names(*range(3, 13)) | {"latest"}


def test_keep_sets_how_many_stay(twelve_runs: Path) -> None:
    call("clean", "--yes", "--keep", "1", "--runs-dir", str(twelve_runs))
    assert names(twelve_runs) == run_names(12) | {"latest"}
    call("clean", "--yes", "--keep", "0", "--runs-dir", str(twelve_runs))
    assert names(twelve_runs) == set()


def test_a_dry_run_removes_nothing(twelve_runs: Path) -> None:
    before = names(twelve_runs)
    answer = call("clean", "--dry-run", "--runs-dir", str(twelve_runs))
    assert answer.code == 0
    assert answer.out.count("would remove") == 2
    assert names(twelve_runs) == before


def test_without_a_terminal_nothing_is_removed_unasked(twelve_runs: Path) -> None:
    before = names(twelve_runs)
    answer = call("clean", "--runs-dir", str(twelve_runs), stdin="y\n")
    assert answer.code == 2
    assert "--yes" in answer.err
    assert names(twelve_runs) == before


@pytest.mark.parametrize(("typed", "code", "left"), [("y\n", 0, 11), ("n\n", 0, 13), ("", 130, 13)])
def test_on_a_terminal_it_asks(typed: str, code: int, left: int, twelve_runs: Path) -> None:
    answer = call("clean", "--runs-dir", str(twelve_runs), stdin=typed, keyboard=True)
    assert answer.code == code
    assert len(names(twelve_runs)) == left


def test_nothing_to_remove(runs: Path) -> None:
    answer = call("clean", "--runs-dir", str(runs))
    assert (answer.code, answer.out) == (0, "nothing to remove\n")


def test_a_run_that_may_still_go_on_is_never_removed(runs: Path) -> None:
    goes_on = made_up.stored(runs, None, age_s=1_800)
    just_ended = made_up.stored(runs, made_up.summary())
    killed_long_ago = made_up.stored(runs, None, age_s=DAY_S)
    busy = made_up.stored(runs, None, age_s=DAY_S)
    (busy.logs / "spark.log").write_text("still here")
    found = {one.path for one in old_runs(runs, 0, time.time())}
    assert found == {killed_long_ago.path}
    assert {goes_on.path, just_ended.path, busy.path}.isdisjoint(found)


def test_other_files_and_folders_are_not_removed(runs: Path) -> None:
    runs.mkdir()
    elsewhere = made_up.stored(runs.parent / "elsewhere", made_up.summary(), age_s=DAY_S)
    (runs / "2026-01-02-1-linked").symlink_to(elsewhere.path)
    (runs / "2026-01-02-2-notes").mkdir()
    (runs / "notes").mkdir()
    (runs / "2026-01-02-3-file").write_text("")
    assert old_runs(runs, 0, time.time() + DAY_S) == []


def test_the_folder_of_a_dead_run_is_removed(temporary: Path, runs: Path) -> None:
    dead = temporary / "streamgauge-dead"
    (dead / "checkpoints").mkdir(parents=True)
    (dead / "checkpoints" / "1").write_text("x" * 1_000)
    made_up.make_older(dead, DAY_S)
    answer = call("clean", "--yes", "--runs-dir", str(runs))
    assert answer.code == 0
    assert str(dead) in answer.out
    assert not dead.exists()


def test_the_folder_of_a_living_run_is_never_removed(temporary: Path) -> None:
    with Guard() as guard:
        made_up.make_older(guard.scratch, DAY_S)
        assert guard.scratch.parent == temporary
        assert dead_scratch(temporary, time.time()) == []
    assert not guard.scratch.exists()


def test_a_folder_that_any_process_works_with_is_never_removed(temporary: Path) -> None:
    folder = temporary / "streamgauge-orphan"
    folder.mkdir()
    made_up.make_older(folder, DAY_S)
    sleep = [sys.executable, "-c", "input()", f"-Djava.io.tmpdir={folder}"]
    with subprocess.Popen(sleep, stdin=subprocess.PIPE) as process:
        assert dead_scratch(temporary, time.time()) == []
        process.communicate(b"\n")
    assert [one.path for one in dead_scratch(temporary, time.time())] == [folder]


def test_fresh_folders_links_and_files_are_left_alone(temporary: Path) -> None:
    (temporary / "streamgauge-fresh").mkdir()
    target = temporary / "precious"
    target.mkdir()
    made_up.make_older(target, DAY_S)
    (temporary / "streamgauge-link").symlink_to(target)
    log = temporary / "streamgauge-error-1.log"
    log.write_text("")
    os.utime(log, (0, 0))
    assert dead_scratch(temporary, time.time()) == []


def test_a_folder_that_cannot_be_removed_is_reported(
    twelve_runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("shutil.rmtree", refuse)
    answer = call("clean", "--yes", "--runs-dir", str(twelve_runs))
    assert answer.code == 5
    assert "Permission denied" in answer.err
    assert "Traceback" not in answer.err
