"""The guard, with processes that do not go by themselves."""

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


def test_what_does_not_notice_the_end_is_killed_and_nothing_else(guard: Guard) -> None:
    with asleep(guard.env) as ours, asleep({}) as another:
        let_go(guard)
        with suppress(subprocess.TimeoutExpired):
            ours.wait(timeout=5)
        assert ours.poll() == -signal.SIGKILL
        guard._process.wait()
        assert another.poll() is None
    assert not guard.scratch.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_for_all_does_not_end_it_before_its_work(
    guard: Guard, number: signal.Signals
) -> None:
    guard._process.send_signal(number)
    let_go(guard)
    assert guard._process.wait() == 0
    assert not guard.scratch.exists()


def test_no_run_begins_without_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(ComponentError, match=r"guard.*did not start"), Guard():
        pass
    assert list(tmp_path.iterdir()) == []


def let_go(guard: Guard) -> None:
    """As the end of streamgauge does, whatever its cause."""
    assert guard._process.stdin is not None
    guard._process.stdin.close()
