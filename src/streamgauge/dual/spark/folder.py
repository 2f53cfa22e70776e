"""The folder of a pipeline: what must be known to go on after any end, and its checkpoints."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from pathlib import Path

from streamgauge.errors import StreamgaugeError
from streamgauge.models import StrictModel

_STANDING = "dual.json"
REPORTS = "reports.ndjson"
LONGEST_END_S = 20.0


class Standing(StrictModel):
    """What a pipeline has begun with."""

    operations: tuple[tuple[str, ...], ...]
    """Of each segment."""
    topics: tuple[str, ...]
    """From the source through those between the segments to the sink."""
    begins: tuple[dict[int, int], ...]
    """The offsets at which each topic was found."""
    pid: int
    """The JVM of the session that runs it; only one may."""


class Folder:
    """Written so that a crash at any time leaves the old or the new content."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.reports = path / REPORTS

    def read(self) -> Standing | None:
        """None: nothing has begun here."""
        file = self.path / _STANDING
        return Standing.model_validate_json(file.read_text()) if file.exists() else None

    def write(self, standing: Standing) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        new = self.path / f"{_STANDING}.new"
        new.write_text(standing.model_dump_json(indent=1))
        new.replace(self.path / _STANDING)

    def checkpoint(self, segment: int, *, stateful: bool) -> Path:
        """Of the state, which lasts; a segment without state gets a new one for every run."""
        folder = self.path / f"segment-{segment}"
        if stateful:
            state = folder / "state"
            if not any((state / "commits").glob("[0-9]*")):
                # Spark refuses what is left of a first batch that was not committed.
                shutil.rmtree(state, ignore_errors=True)
            return state
        shutil.rmtree(folder, ignore_errors=True)
        return folder / f"run-{time.time_ns()}"


def wait_for_end(pid: int) -> None:
    """Until the JVM that ran the pipeline before is gone: it could still send results."""
    deadline = time.monotonic() + LONGEST_END_S
    while pid != os.getpid() and _alive(pid):
        if time.monotonic() > deadline:
            raise StreamgaugeError(
                f"the pipeline is still run by process {pid}", fix="end it, or use another folder"
            )
        time.sleep(0.05)


def _alive(pid: int) -> bool:
    with contextlib.suppress(OSError):
        # The kernel gives a number to another process later; only a JVM may be ours.
        return b"java" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]
    return False
