"""Faults of the checkpoint: its last file is damaged or gone, or its disk is full.

A system reads its checkpoint when it starts: these faults show at the next restart of the program.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from streamgauge.disturb.base import Begun, Fault, FaultFailed, LastingFault, Scene
from streamgauge.processes.targets import Nature
from streamgauge.units import DurationUs

_CHECKPOINT = frozenset({Nature.CHECKPOINT})
_PIECE = 1 << 20


class Corrupt(Fault):
    """Overwrites the newest file of the checkpoint with other bytes, as many as it had."""

    natures: ClassVar[frozenset[Nature]] = _CHECKPOINT

    part: str = Field(default="", description="of its path, such as `offsets`; default: any file")

    def do(self, scene: Scene, target: str, draw: int, begun: Begun) -> None:  # noqa: ARG002
        newest = newest_file(scene.checkpoint, self.part)
        newest.write_bytes(os.urandom(max(1, newest.stat().st_size)))
        begun(str(newest.relative_to(scene.checkpoint)))


class Lose(Fault):
    """Removes the newest file of the checkpoint."""

    natures: ClassVar[frozenset[Nature]] = _CHECKPOINT

    part: str = Field(default="", description="of its path, such as `offsets`; default: any file")

    def do(self, scene: Scene, target: str, draw: int, begun: Begun) -> None:  # noqa: ARG002
        newest = newest_file(scene.checkpoint, self.part)
        newest.unlink()
        begun(str(newest.relative_to(scene.checkpoint)))


class Fill(LastingFault):
    """Fills the disk of the checkpoint, a small file system of its own, for a while."""

    natures: ClassVar[frozenset[Nature]] = frozenset({Nature.DISK})

    length: DurationUs = Field(alias="for", gt=0)

    def do(self, scene: Scene, target: str, draw: int, begun: Begun) -> None:  # noqa: ARG002
        ballast = scene.checkpoint / ".ballast"
        try:
            with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
                while file.write(bytes(_PIECE)):
                    pass
            begun(target)
            scene.wait(self.length / 1e6)
        finally:
            ballast.unlink(missing_ok=True)


def newest_file(folder: Path, part: str) -> Path:
    """The file that was written last; files that come and go are no matter."""
    found: dict[Path, int] = {}
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            hidden = path.name.startswith(".") or path.suffix in (".tmp", ".unfinished", ".crc")
            if path.is_file() and not hidden and part in str(path.relative_to(folder)):
                found[path] = path.stat().st_mtime_ns
    if not found:
        wanted = f" with `{part}` in its path" if part else ""
        raise FaultFailed(f"the checkpoint had no file{wanted}")
    return max(found, key=lambda path: found[path])
