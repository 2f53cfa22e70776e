"""The runs that a folder holds, oldest first."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from streamgauge.errors import UsageError
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.measure.summary import Summary

_NAME = re.compile(r"(\d{4}-\d{2}-\d{2})-(\d+)-.+")


@dataclass(frozen=True)
class StoredRun:
    """A run directory and its summary, if there is one that can be read."""

    directory: RunDirectory
    summary: Summary | None

    @property
    def name(self) -> str:
        return self.directory.path.name

    @property
    def status(self) -> str:
        """How it ended; a run without a summary is not finished, or was killed."""
        if self.summary is not None:
            return self.summary.status.value
        return "unreadable" if self.directory.summary.exists() else "unfinished"


def stored_runs(runs: Path) -> list[StoredRun]:
    """Every run directory below `runs`; anything else in there is left out."""
    if not runs.is_dir():
        return []
    named = [(match, path) for path in runs.iterdir() if (match := _NAME.fullmatch(path.name))]
    ordered = sorted(named, key=lambda pair: (pair[0][1], int(pair[0][2]), pair[1].name))
    return [
        StoredRun(RunDirectory(path), _summary(RunDirectory(path)))
        for _, path in ordered
        if _is_run(path)
    ]


def _is_run(path: Path) -> bool:
    # The folder of logs is there from the first moment of a run, the experiment a moment later.
    return not path.is_symlink() and (
        (path / "experiment.yaml").is_file() or (path / "logs").is_dir()
    )


def _summary(directory: RunDirectory) -> Summary | None:
    try:
        return directory.read_summary()
    except (OSError, ValueError, UsageError):
        return None
