"""The guard, with processes that do not end by themselves."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from streamgauge.errors import ComponentError
from streamgauge.processes.guard import Guard

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")


@contextmanager
def asleep(env: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "600"], env={**os.environ, **env})
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_only_the_processes_of_the_run_are_killed(guard: Guard) -> None:
    with asleep(guard.env) as ours, asleep({}) as another:
        close_pipe(guard)
        with suppress(subprocess.TimeoutExpired):
            ours.wait(timeout=5)
        assert ours.poll() == -signal.SIGKILL
        guard._process.wait()
        assert another.poll() is None
    assert not guard.scratch.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_does_not_end_the_guard_before_it_has_cleaned_up(
    guard: Guard, number: signal.Signals
) -> None:
    os.kill(guard._process.pid, number)
    close_pipe(guard)
    assert guard._process.wait()
    assert guard._process.exit_code == 0
    assert not guard.scratch.exists()


def test_no_run_begins_without_a_guard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(ComponentError, match=r"guard.*did not start"), Guard():
        pass
    assert list(tmp_path.iterdir()) == []


def close_pipe(guard: Guard) -> None:
    """The operating system does this when streamgauge ends."""
    guard._process.stdin.close()


def test_a_guard_that_died_is_noticed_and_replaced_by_a_clean_up_of_our_own() -> None:
    with Guard() as guard, asleep({}) as another:
        assert guard.alive
        ours = subprocess.Popen(["sleep", "600"], env={**os.environ, **guard.env})
        os.kill(guard._process.pid, signal.SIGKILL)
        guard._process.wait()
        assert not guard.alive
        guard.__exit__()
        assert ours.wait() == -signal.SIGKILL
        assert another.poll() is None
        assert not guard.scratch.exists()
