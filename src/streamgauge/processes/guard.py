"""The guard: a process that removes what a run has left when streamgauge ends, or is killed.

Every process of a run has a marker in its environment, which all descendants inherit. The guard
holds one end of a pipe. When the other end closes, the guard kills all processes that still have
the marker, removes the temporary folder and ends. If the guard has died, streamgauge does this.
"""

from __future__ import annotations

import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from streamgauge.errors import ComponentError
from streamgauge.processes.component import module_argv
from streamgauge.processes.launcher import Launcher
from streamgauge.processes.small_disks import unmount_below

MARKER = "STREAMGAUGE_RUN_MARK"
GRACE_S = 1.5
"""Time for children to write what they have after the end of their input."""
LIMIT_S = 20.0
_READY = b"ready\n"


class Guard:
    """A context manager: `env` marks the processes of a run, `scratch` is its temporary folder."""

    def __enter__(self) -> Guard:
        self.mark = secrets.token_hex(8)
        self.env = {MARKER: self.mark}
        self.scratch = Path(tempfile.mkdtemp(prefix="streamgauge-"))
        # The guard itself must not have the marker, nor inherit one.
        self._process = Launcher({MARKER: None}).start(
            "the guard",
            module_argv("streamgauge.processes.guard", self.mark, str(self.scratch)),
            log=None,
            pipes=True,
        )
        # Until the guard is ready, a signal ends it without a clean-up.
        if self._process.stdout.readline() != _READY:
            self._process.wait()
            shutil.rmtree(self.scratch, ignore_errors=True)
            raise ComponentError(
                "the guard, which cleans up after a run, did not start: it ended with exit code "
                f"{self._process.exit_code}",
                fix="`streamgauge doctor` checks this Python and the packages that it needs",
            )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        if self._process.exit_code != 0:
            _clean_up(self.mark, self.scratch)

    @property
    def alive(self) -> bool:
        return self._process.alive


def marked(value: str, variable: str = MARKER) -> Iterator[psutil.Process]:
    """The living processes with that value of an environment variable."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(variable) == value and lives(process):
                yield process


def lives(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def _clean_up(mark: str, scratch: Path) -> None:
    began = time.monotonic()
    while any(marked(mark)) and time.monotonic() < began + GRACE_S:
        time.sleep(0.1)
    # A dying JVM may still start a worker, so repeat until two rounds in a row find nothing.
    empty_rounds = 0
    while empty_rounds < 2 and time.monotonic() < began + LIMIT_S:
        left = list(marked(mark))
        for process in left:
            with suppress(psutil.Error):
                process.kill()
        empty_rounds = 0 if left else empty_rounds + 1
        time.sleep(0.1)
    unmount_below(scratch)
    # The children of a killed database server have no marker, and write until they notice it.
    while scratch.exists() and time.monotonic() < began + LIMIT_S:
        shutil.rmtree(scratch, ignore_errors=True)
        time.sleep(0.1)


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    mark, scratch = sys.argv[1], Path(sys.argv[2])
    sys.stdout.buffer.write(_READY)
    sys.stdout.buffer.flush()
    sys.stdin.buffer.read()
    _clean_up(mark, scratch)


if __name__ == "__main__":
    main()
