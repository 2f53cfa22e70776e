"""What a run tells while it goes on; whoever shows it implements `Observer`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from streamgauge.measure.summary import Summary

PHASES = ("prepare", "start", "load", "drain", "measure", "report")


@dataclass(frozen=True)
class Progress:
    """A moment of a run."""

    phase: str
    """One of PHASES, in this order."""
    note: str
    """What exactly is going on, such as `rehearsing`."""
    elapsed_s: float = 0.0
    """Since the run began."""
    remaining_s: float = 0.0
    """Until the end of the whole run, estimated."""
    offered_per_s: float | None = None
    drained_per_s: float | None = None
    queued: int | None = None
    results: int | None = None
    latency_ms: float | None = None
    """Of the latest results; a live impression, the figures are calculated after the run."""
    part: str = ""
    """Which search or trial of a study this is; empty for a single trial."""


class Observer(Protocol):
    """Called from the thread that runs the experiment, about twice a second."""

    def started(self, run: Path) -> None: ...

    def progress(self, now: Progress) -> None: ...

    def finished(self, summary: Summary) -> None: ...


class Silent:
    """Shows nothing."""

    def started(self, run: Path) -> None: ...

    def progress(self, now: Progress) -> None: ...

    def finished(self, summary: Summary) -> None: ...
