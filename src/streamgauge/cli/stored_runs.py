"""The runs in a folder, oldest first."""

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
        """How the run ended; without a summary it is not finished, or was killed."""
        if self.summary is not None:
            return self.summary.status.value
        return "unreadable" if self.directory.summary.exists() else "unfinished"


def run_paths(runs: Path) -> list[Path]:
    """What has the name of a run, the newest last."""
    if not runs.is_dir():
        return []
    named = [(match, path) for path in runs.iterdir() if (match := _NAME.fullmatch(path.name))]
    ordered = sorted(named, key=lambda pair: (pair[0][1], int(pair[0][2]), pair[1].name))
    return [path for _, path in ordered if not path.is_symlink()]


def stored_runs(runs: Path) -> list[StoredRun]:
    """Every run directory below `runs`; other files and folders are left out."""
    found = []
    for directory in map(RunDirectory, run_paths(runs)):
        # A run makes its folder of logs first and writes its experiment a moment later.
        if directory.experiment.is_file() or directory.logs.is_dir():
            try:
                summary = directory.read_summary()
            except (OSError, ValueError, UsageError):
                summary = None
            found.append(StoredRun(directory, summary))
    return found
