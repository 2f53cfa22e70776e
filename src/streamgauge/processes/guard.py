"""The guard: a small process that ends shortly after streamgauge and removes what a run left.

Every process of a run has a marker in its environment, which all descendants inherit, whatever
their process group or parent is. The guard holds one end of a pipe. When the other end closes,
for whatever reason streamgauge ended, the guard kills all processes that still have the marker and
removes the temporary folder.
"""

from __future__ import annotations

import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from streamgauge.errors import ComponentError
from streamgauge.processes.component import module_argv
from streamgauge.processes.launcher import Launcher

MARKER = "STREAMGAUGE_RUN_MARK"
GRACE_S = 1.5
"""Time for children to see the end of their input and write what they have; then they are killed.
"""
LIMIT_S = 20.0
ON_GUARD = b"on guard\n"


class Guard:
    """A context manager: `env` marks the processes of a run, `scratch` is its temporary folder."""

    def __enter__(self) -> Guard:
        self.mark = secrets.token_hex(8)
        self.env = {MARKER: self.mark}
        self.scratch = Path(tempfile.mkdtemp(prefix="streamgauge-"))
        # The guard itself must not have the marker, not even one that it would inherit.
        self._process = Launcher({MARKER: None}).start(
            "the guard",
            module_argv("streamgauge.processes.guard", self.mark, str(self.scratch)),
            log=None,
            pipes=True,
        )
        # Before this line a signal could end the guard, and the folder would stay behind.
        if self._process.stdout.readline() != ON_GUARD:
            self._process.wait()
            shutil.rmtree(self.scratch, ignore_errors=True)
            raise ComponentError(
                "the guard, which cleans up after a run, did not start:"
                f" it ended with exit code {self._process.exit_code}",
                fix="`streamgauge doctor` checks this Python and the packages that it needs",
            )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def marked(mark: str) -> Iterator[psutil.Process]:
    """The living processes that have the mark."""
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
    # A dying JVM may still start a worker, so repeat until two rounds in a row find nothing.
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
