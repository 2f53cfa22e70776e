"""A small file system in memory, for a checkpoint whose disk is to be full."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streamgauge.errors import ComponentError

SIZE_MB = 256


def why_no_small_disk() -> str:
    """Why none can be made on this machine; empty: it can."""
    if shutil.which("mount") is None or shutil.which("umount") is None:
        return "this machine has no `mount`"
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "only root may make a small file system"
    return ""


@contextmanager
def small_disk(folder: Path, *, wanted: bool) -> Iterator[None]:
    """The folder is a file system of its own, if that is wanted, until the end."""
    if not wanted:
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    options = ["-t", "tmpfs", "-o", f"size={SIZE_MB}m", "tmpfs", str(folder)]
    made = subprocess.run(["mount", *options], capture_output=True, text=True, check=False)
    if made.returncode:
        cause = f"no small file system could be made: {made.stderr.strip()}"
        raise ComponentError(cause, fix="leave out the fault of the checkpoint disk")
    try:
        yield
    finally:
        _unmount(folder)


def unmount_below(folder: Path) -> None:
    """Small disks that a run which was killed has left in its folder."""
    for path in folder.glob("*"):
        if path.is_mount():
            _unmount(path)


def _unmount(folder: Path) -> None:
    # Lazily: whoever still writes must not keep it.
    subprocess.run(["umount", "-l", str(folder)], capture_output=True, check=False)
