"""The guard: a small process that outlives streamgauge by a moment and cleans up behind it.

Everything that a run starts carries a marker in its environment, which all descendants inherit,
whatever process group or parent they end up with. The guard holds one end of a pipe. When the
other end closes, however streamgauge ended, the guard kills whatever still carries the marker and
removes the temporary folder.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from streamgauge.errors import ComponentError

MARKER = "STREAMGAUGE_RUN_MARK"
GRACE_S = 1.5
"""Children notice the end of their input and write what they have; then they are killed."""
LIMIT_S = 20.0
ON_GUARD = b"on guard\n"


class Guard:
    """Use as a context: inside it, `env` marks what is started and `scratch` is a folder to use."""

    def __enter__(self) -> Guard:
        self.mark = secrets.token_hex(8)
        self.env = {MARKER: self.mark}
        self.scratch = Path(tempfile.mkdtemp(prefix="streamgauge-"))
        clean = {name: value for name, value in os.environ.items() if name != MARKER}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "streamgauge.processes.guard", self.mark, str(self.scratch)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=clean,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        # Until then a signal could end it, and nobody who lists processes would see its folder.
        if self._process.stdout.readline() != ON_GUARD:
            self._process.wait()
            shutil.rmtree(self.scratch, ignore_errors=True)
            raise ComponentError(
                "the guard, which cleans up behind a run, did not start:"
                f" it ended with exit code {self._process.returncode}",
                fix="`streamgauge doctor` checks this Python and the packages that it needs",
            )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def marked(mark: str) -> Iterator[psutil.Process]:
    """The living processes that carry the mark."""
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARKER) == mark and process.status() != psutil.STATUS_ZOMBIE:
                yield process
        except psutil.Error:
            continue


def _clean_up(mark: str, scratch: Path) -> None:
    began = time.monotonic()
    while any(True for _ in marked(mark)) and time.monotonic() < began + GRACE_S:
        time.sleep(0.1)
    # A dying JVM may still start a worker, so look again until two looks find nothing.
    quiet = 0
    while quiet < 2 and time.monotonic() < began + LIMIT_S:
        left = list(marked(mark))
        for process in left:
            try:
                process.kill()
            except psutil.Error:
                continue
        quiet = 0 if left else quiet + 1
        time.sleep(0.1)
    shutil.rmtree(scratch, ignore_errors=True)


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    mark, scratch = sys.argv[1], Path(sys.argv[2])
    sys.stdout.buffer.write(ON_GUARD)
    sys.stdout.buffer.flush()
    sys.stdin.buffer.read()
    _clean_up(mark, scratch)


if __name__ == "__main__":
    main()
