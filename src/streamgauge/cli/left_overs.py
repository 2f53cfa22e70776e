"""Finds folders that can be removed: old runs, and temporary folders of dead runs."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

from streamgauge.cli.stored_runs import stored_runs

SCRATCH = "streamgauge-*"
QUIET_S = 120.0
"""A folder in which a file was written this recently may be in use."""
UNFINISHED_QUIET_S = 3_600.0
"""A run without a summary may be in a long calculation, which writes little."""


@dataclass(frozen=True)
class LeftOver:
    path: Path
    why: str
    size_bytes: int


def old_runs(runs: Path, keep: int, now_s: float) -> list[LeftOver]:
    """All runs but the newest; a run that may still go on is never among them."""
    found = stored_runs(runs)
    quiet_s = {"unfinished": UNFINISHED_QUIET_S}
    return [
        LeftOver(run.directory.path, f"{run.status} run", size)
        for run in found[: max(0, len(found) - keep)]
        if (size := _size_if_quiet(run.directory.path, now_s, quiet_s.get(run.status, QUIET_S)))
        is not None
    ]


def dead_scratch(temporary: Path, now_s: float) -> list[LeftOver]:
    """Our temporary folders that are not on the command line of a living process."""
    candidates = [path for path in sorted(temporary.glob(SCRATCH)) if _is_our_folder(path)]
    living = _mentioned(candidates)
    return [
        LeftOver(path, "temporary folder of a dead run", size)
        for path in candidates
        if path not in living and (size := _size_if_quiet(path, now_s, QUIET_S)) is not None
    ]


def _is_our_folder(path: Path) -> bool:
    """A real folder of this user: the processes of another user cannot be read."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def _mentioned(folders: Iterable[Path]) -> set[Path]:
    """Folders on the command line of a living process: a guard, a component, a JVM."""
    mentioned: set[Path] = set()
    for process in psutil.process_iter():
        try:
            line = "\0".join(process.cmdline())
        except psutil.Error:
            continue
        mentioned |= {folder for folder in folders if str(folder) in line}
    return mentioned


def _size_if_quiet(folder: Path, now_s: float, quiet_s: float) -> int | None:
    """The size of all files below, or None when one of them was changed lately."""
    size = 0
    for place, folders, names in os.walk(folder):
        for name in (".", *folders, *names):
            try:
                found = os.lstat(Path(place, name))
            except OSError:
                # A file that disappears meanwhile shows that the folder is in use.
                return None
            if now_s - found.st_mtime < quiet_s:
                return None
            size += found.st_size if stat.S_ISREG(found.st_mode) else 0
    return size
