"""The log of a run: typed events, and those who subscribe to them.

The file `events.ndjson`, the terminal and anything else that shows a run get the same events, in
the order in which they happened.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

from streamgauge.measure.summary import Summary

PHASES = ("prepare", "start", "load", "drain", "measure", "report")


@dataclass(frozen=True)
class Event:
    """Something that happened; `kind` is its name in the file, empty: it is only shown."""

    kind: ClassVar[str] = ""


@dataclass(frozen=True)
class RunStarted(Event):
    """A run directory was made, or a run in it goes on."""

    path: Path


@dataclass(frozen=True)
class TrialStarted(Event):
    kind: ClassVar[str] = "run"

    command: str


@dataclass(frozen=True)
class StudyStarted(Event):
    kind: ClassVar[str] = "study"

    command: str
    cases: int


@dataclass(frozen=True)
class PhaseEntered(Event):
    """One of PHASES, in this order."""

    kind: ClassVar[str] = "phase"

    name: str


@dataclass(frozen=True)
class Noted(Event):
    """What exactly is going on in a phase."""

    kind: ClassVar[str] = "note"

    text: str


@dataclass(frozen=True)
class LoadStarted(Event):
    kind: ClassVar[str] = "load"

    start_us: int
    rate_per_s: float


@dataclass(frozen=True)
class Observed(Event):
    """All driver instances together, about once a second; time in microseconds of the load."""

    kind: ClassVar[str] = "observed"

    load_us: int
    offered: int
    taken: int
    queued: int
    results: int


@dataclass(frozen=True)
class SystemReported(Event):
    """A message of the system under test."""

    kind: ClassVar[str] = "system"

    said: dict[str, Any]


@dataclass(frozen=True)
class ActionTaken(Event):
    """An action of the time line, such as a fault."""

    kind: ClassVar[str] = "action"

    name: str
    load_us: int


@dataclass(frozen=True)
class Decided(Event):
    """The station changed the course of the run: it cut a load, or fixed a maximum."""

    kind: ClassVar[str] = "decision"

    decision: str
    reasons: Sequence[str] = ()
    figures: dict[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Ended(Event):
    kind: ClassVar[str] = "end"

    status: str
    verdict: str


@dataclass(frozen=True)
class Finished(Event):
    """The summary is written."""

    summary: Summary


@dataclass(frozen=True)
class Progress(Event):
    """A moment of a run, about ten times a second."""

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
    """Of the latest results; a live impression, the figures are calculated after the run."""
    part: str = ""
    """Which search or trial of a study this is; empty for a single trial."""


Subscriber = Callable[[Event], None]


class RunLog:
    """Hands every event to every subscriber, in the thread that runs the experiment."""

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
        if not event.kind:
            return
        named = {one.name: getattr(event, one.name) for one in fields(event)}
        line = json.dumps({"time_us": time.time_ns() // 1_000, "event": event.kind, **named})
        with self._path.open("a") as file:
            file.write(line + "\n")
