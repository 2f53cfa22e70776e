"""Everything that a run starts is gone afterwards, however the run ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from streamgauge.processes.guard import MARKER

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")


@pytest.fixture
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A run in the middle of its load, with a temporary folder of its own."""
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "streamgauge.cli", "run", "quickstart"),
            *("--set", f"system={request.param}", "--set", "load.rate=2000"),
            *("--set", "duration=10 min", "--runs-dir", str(tmp_path / "runs"), "--json"),
            *(("--set", "system.rehearsal=0") if request.param == "spark" else ()),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    log = tmp_path / "runs" / "latest" / "events.ndjson"
    wait_until(lambda: log.is_file() and '"event": "load"' in log.read_text(), 120)
    time.sleep(2)
    yield process
    process.kill()


def wait_until(true: object, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not true():  # type: ignore[operator]
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.1)


def marks_of(process: subprocess.Popen[str]) -> set[str]:
    children = psutil.Process(process.pid).children(recursive=True)
    return {mark for mark in map(mark_of, children) if mark}


def mark_of(process: psutil.Process) -> str | None:
    """None also for a process that ends while we look."""
    try:
        return None if process.status() == "zombie" else process.environ().get(MARKER)
    except psutil.Error:
        return None


def carrying(marks: set[str]) -> list[int]:
    return [process.pid for process in psutil.process_iter() if mark_of(process) in marks]


# Spark has a JVM of its own, which a kill of its Python program does not end.
@pytest.mark.parametrize("run", ["spark"], indirect=True)
def test_kill_9_leaves_nothing_behind(run: subprocess.Popen[str], tmp_path: Path) -> None:
    marks = marks_of(run)
    assert len(carrying(marks)) >= 4
    assert list((tmp_path / "tmp").glob("streamgauge-*"))
    run.send_signal(signal.SIGKILL)
    run.wait()
    time.sleep(5)
    assert carrying(marks) == []
    assert list((tmp_path / "tmp").glob("streamgauge-*")) == []


@pytest.mark.parametrize("run", ["simulated"], indirect=True)
def test_ctrl_c_keeps_what_was_measured(run: subprocess.Popen[str], tmp_path: Path) -> None:
    marks = marks_of(run)
    run.send_signal(signal.SIGINT)
    output, errors = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "Traceback" not in errors
    acknowledged, *later = errors[errors.index("interrupted: stopping") :].splitlines()
    assert acknowledged.endswith("Ctrl-C again ends at once")
    assert later[0].endswith(" report")
    assert carrying(marks) == []
    assert list((tmp_path / "tmp").glob("streamgauge-*")) == []
    latest = tmp_path / "runs" / "latest"
    summary = json.loads((latest / "summary.json").read_text())
    assert (summary["status"], summary["verdict"]) == ("interrupted", "unknown")
    assert summary["offered_per_s"] > 0
    assert "interrupted" in (latest / "report.html").read_text()
    assert json.loads(output) == summary


@pytest.mark.parametrize("run", ["simulated"], indirect=True)
def test_a_component_that_dies_is_named(run: subprocess.Popen[str], tmp_path: Path) -> None:
    marks = marks_of(run)
    (instance,) = [
        child
        for child in psutil.Process(run.pid).children(recursive=True)
        if child.cmdline()[-1].endswith("driver-1.json")
    ]
    instance.kill()
    _, errors = run.communicate(timeout=60)
    assert run.returncode == 5
    assert "driver instance 1 died" in errors
    assert "driver-1.log" in errors
    assert "Traceback" not in errors
    assert carrying(marks) == []
    summary = json.loads((tmp_path / "runs" / "latest" / "summary.json").read_text())
    assert summary["status"] == "failed"


@pytest.mark.parametrize("run", ["simulated"], indirect=True)
def test_a_run_whose_guard_dies_says_so_and_cleans_up(
    run: subprocess.Popen[str], tmp_path: Path
) -> None:
    marks = marks_of(run)
    (guard,) = [
        child
        for child in psutil.Process(run.pid).children()
        if "streamgauge.processes.guard" in child.cmdline()
    ]
    guard.kill()
    log = tmp_path / "runs" / "latest" / "events.ndjson"
    wait_until(lambda: "the guard, which cleans up after a run, has died" in log.read_text(), 60)
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=60)
    assert "warning: the guard" in errors
    assert carrying(marks) == []
    assert list((tmp_path / "tmp").glob("streamgauge-*")) == []
    summary = json.loads((tmp_path / "runs" / "latest" / "summary.json").read_text())
    assert any("guard" in warning for warning in summary["warnings"])
