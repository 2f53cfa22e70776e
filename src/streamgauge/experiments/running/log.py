"""The log of a run: typed events, in the order in which they happened.

The file `events.ndjson`, the terminal and anything else that shows a run subscribe to them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from streamgauge import writing
from streamgauge.measure.summary import Summary

PHASES = ("prepare", "start", "load", "drain", "measure", "report")


class Event:
    """Something that happened; `kind` is its name in the file, which omits events without one."""

    kind: ClassVar[str]

    def __init_subclass__(cls, kind: str = "") -> None:
        cls.kind = kind


@dataclass(frozen=True)
class RunStarted(Event):
    """The run directory exists, and the run begins or is resumed."""

    path: Path


@dataclass(frozen=True)
class Interrupted(Event):
    """Ctrl-C or SIGTERM; the run now stops, which takes some seconds. Comes at any time."""


@dataclass(frozen=True)
class TrialStarted(Event, kind="run"):
    command: str


@dataclass(frozen=True)
class StudyStarted(Event, kind="study"):
    command: str
    cases: int


@dataclass(frozen=True)
class PhaseEntered(Event, kind="phase"):
    """One of PHASES, in this order."""

    name: str


@dataclass(frozen=True)
class Noted(Event, kind="note"):
    """A step within a phase."""

    text: str


@dataclass(frozen=True)
class Warned(Event, kind="warning"):
    """Something that does not end the run, and that its reader should know."""

    text: str


@dataclass(frozen=True)
class LoadStarted(Event, kind="load"):
    start_us: int
    rate_per_s: float


@dataclass(frozen=True)
class Observed(Event, kind="observed"):
    """All driver instances together, about once a second; `load_us` is the time of the load."""

    load_us: int
    offered: int
    taken: int
    queued: int
    results: int


@dataclass(frozen=True)
class SystemReported(Event, kind="system"):
    """A message of the system under test."""

    said: dict[str, Any]


@dataclass(frozen=True)
class ActionTaken(Event, kind="action"):
    """An action of the time line."""

    name: str
    load_us: int


@dataclass(frozen=True)
class FaultDone(Event, kind="fault"):
    """A fault was done, or could not be; times are those of the load."""

    name: str
    victim: str
    asked_us: int
    began_us: int | None
    done_us: int | None
    failed: str


@dataclass(frozen=True)
class ProgramDied(Event, kind="death"):
    """The program has died after a fault; `ready_us` is when its successor was ready."""

    noticed_us: int
    ready_us: int | None


@dataclass(frozen=True)
class Decided(Event, kind="decision"):
    """The load was cut, or a search found a maximum."""

    decision: str
    reasons: Sequence[str] = ()
    figures: dict[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Ended(Event, kind="end"):
    status: str
    verdict: str


@dataclass(frozen=True)
class Finished(Event):
    """The summary is written."""

    summary: Summary


@dataclass(frozen=True)
class Progress(Event):
    """The state of a run, about ten times a second."""

    phase: str
    note: str
    elapsed_s: float = 0.0
    """Since the run began."""
    remaining_s: float = 0.0
    """Until the end of the whole run, estimated."""
    offered_per_s: float | None = None
    drained_per_s: float | None = None
    queued: int | None = None
    results: int | None = None
    latency_ms: float | None = None
    """Of the latest results, for display only: the figures are calculated after the run."""
    part: str = ""
    """The search or trial of a study; empty for a single trial."""

    @property
    def figures(self) -> list[tuple[str, str]]:
        """What is observed, by name, in words."""
        return [
            ("offered", writing.or_nothing(self.offered_per_s, writing.rate)),
            ("drained", writing.or_nothing(self.drained_per_s, writing.rate)),
            ("queue", writing.or_nothing(self.queued, writing.count)),
            ("results", writing.or_nothing(self.results, writing.count)),
            ("latency", writing.or_nothing(self.latency_ms, writing.duration)),
        ]

    @property
    def line(self) -> str:
        """`[6 s] load, offered 9,970/s, queue 151, about 32 s left`."""
        words = [f"{self.phase}: {self.note}" if self.note else self.phase]
        words += [f"{name} {value}" for name, value in self.figures if value != writing.NOTHING]
        words += [time_left(self.remaining_s)] if self.remaining_s >= 1 else []
        part = f"{self.part} · " if self.part else ""
        return f"[{whole_seconds(self.elapsed_s)}] {part}{', '.join(words)}"


def time_left(seconds: float) -> str:
    return f"about {whole_seconds(seconds)} left"


def whole_seconds(seconds: float) -> str:
    # A tenth that changes twice a second cannot be read.
    return f"{seconds:.0f} s" if round(seconds) < 60 else writing.duration(1_000 * seconds)


Subscriber = Callable[[Event], None]


class RunLog:
    """Calls every subscriber with every event, in the thread that runs the experiment."""

    def __init__(self, *subscribers: Subscriber) -> None:
        self._subscribers = subscribers

    def publish(self, event: Event) -> None:
        for subscriber in self._subscribers:
            subscriber(event)


class LogFile:
    """Appends the events to a file, one JSON object per line."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self, event: Event) -> None:
        if event.kind:
            line = {"time_us": time.time_ns() // 1_000, "event": event.kind, **vars(event)}
            with self._path.open("a") as file:
                file.write(json.dumps(line) + "\n")
