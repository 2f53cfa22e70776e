"""Shows a run while it goes on: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from streamgauge import writing
from streamgauge.cli.terminal import Session
from streamgauge.experiments.running.log import PHASES, Event, Finished, Progress, RunStarted

LINE_EVERY_S = 5.0
STUDY_LINE_EVERY_S = 30.0
"""A study goes on for hours, and each of its probes has a line anyway."""
PARTS_SHOWN = 5
Clock = Callable[[], float]


class Watcher:
    """Subscribes to a run for the command line; subclasses show it."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def shown(self) -> AbstractContextManager[object]:
        """While this is open, the run is on display."""
        return nullcontext()

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self.started(event.path)
        elif isinstance(event, Progress):
            self.progress(event)
        elif isinstance(event, Finished):
            self.finished()

    def started(self, run: Path) -> None:
        self._session.logs = run / "logs"

    def progress(self, now: Progress) -> None: ...

    def finished(self) -> None: ...


class PlainLines(Watcher):
    """A line per part, phase and note, and one now and then while the load runs."""

    def __init__(self, session: Session, clock: Clock = time.monotonic) -> None:
        super().__init__(session)
        self._clock = clock
        self._last: tuple[str, str, str] = ("", "", "")
        self._said_at = float("-inf")

    def started(self, run: Path) -> None:
        super().started(run)
        self._session.note(f"run: {run}")

    def progress(self, now: Progress) -> None:
        here = (now.part, now.phase, now.note)
        measuring = now.offered_per_s is not None
        every_s = STUDY_LINE_EVERY_S if now.part else LINE_EVERY_S
        due = measuring and self._clock() - self._said_at >= every_s
        if here == self._last and not due:
            return
        self._last = here
        self._said_at = self._clock()
        self._session.note(" ".join(_words(now)))


def _words(now: Progress) -> list[str]:
    doing = f"{now.phase}: {now.note}" if now.note else now.phase
    figures = [f"{name} {value}" for name, value in _figures(now) if value != writing.NOTHING]
    left = [_left(now.remaining_s)] if now.remaining_s >= 1 else []
    part = [f"{now.part} ·"] if now.part else []
    return [f"[{_seconds(now.elapsed_s)}]", *part, ", ".join([doing, *figures, *left])]


def _left(seconds: float) -> str:
    return f"about {_seconds(seconds)} left"


@dataclass(frozen=True)
class _FinishedPart:
    label: str
    spent_s: float
    broken_off: bool


def _mark(*, broken_off: bool) -> Text:
    return Text("✗", "red") if broken_off else Text("✓", "green")


class LiveDisplay(Watcher):
    """Redrawn in place: parts of a study, phases, time, rates, queue, results, latency."""

    def __init__(self, session: Session, clock: Clock = time.monotonic) -> None:
        super().__init__(session)
        self._clock = clock
        self._began = self._phase_began = self._told_at = clock()
        self._now = Progress(PHASES[0], "", 0.0, 0.0)
        self._spent_s: dict[str, float] = {}
        self._first = 0
        self._parts: list[_FinishedPart] = []
        self._part_began = self._began
        self._broken_off = ""
        self._over = False

    def shown(self) -> AbstractContextManager[object]:
        # Prints of a user's file must neither tear the display nor end up on it as results.
        return Live(
            get_renderable=self.render,
            console=self._session.err,
            refresh_per_second=4,
            redirect_stdout=False,
        )

    def progress(self, now: Progress) -> None:
        moment = self._clock()
        if now.part != self._now.part:
            self._enter_part(now.phase, moment)
        elif now.phase != self._now.phase:
            self._enter_phase(now.phase, moment)
        self._now = now
        self._told_at = moment

    def _enter_part(self, phase: str, moment: float) -> None:
        """The phases start again, at the one that the part begins with."""
        if self._now.part:
            spent_s = moment - self._part_began
            broken_off = bool(self._broken_off)
            self._parts.append(_FinishedPart(self._now.part, spent_s, broken_off))
        self._spent_s, self._broken_off = {}, ""
        self._first = PHASES.index(phase)
        self._part_began = self._phase_began = moment

    def _enter_phase(self, phase: str, moment: float) -> None:
        self._spent_s[self._now.phase] = moment - self._phase_began
        self._phase_began = moment
        place, before = PHASES.index(phase), PHASES.index(self._now.phase)
        if place < before:
            # The next probe of a search.
            self._broken_off = ""
            self._first = min(self._first, place)
            for again in PHASES[place:]:
                self._spent_s.pop(again, None)
        elif place > before + 1:
            # An error or Ctrl-C leads straight to the report.
            self._broken_off = self._now.phase

    def finished(self) -> None:
        self._spent_s[self._now.phase] = self._clock() - self._phase_began
        self._over = True

    def render(self) -> RenderableType:
        shown: list[RenderableType] = [self._phases()]
        if self._now.part:
            shown = [self._finished_parts(), Text(self._now.part, "bold"), *shown]
        if not self._over:
            shown += [self._time(), self._rates()]
        return Group(*shown)

    def _finished_parts(self) -> Table:
        """The latest: a study may have more parts than a screen has lines."""
        table = Table.grid(padding=(0, 2))
        earlier = len(self._parts) - PARTS_SHOWN
        if earlier > 0:
            table.add_row("", Text(f"{earlier} earlier", "dim"), "")
        for part in self._parts[-PARTS_SHOWN:]:
            mark = _mark(broken_off=part.broken_off)
            table.add_row(mark, Text(part.label), Text(_seconds(part.spent_s), "dim"))
        return table

    def _phases(self) -> Table:
        table = Table.grid(padding=(0, 2))
        for phase in PHASES[self._first :]:
            if phase in self._spent_s:
                mark = _mark(broken_off=phase == self._broken_off)
                table.add_row(mark, phase, Text(_seconds(self._spent_s[phase]), "dim"))
            elif phase == self._now.phase and not self._over:
                spent = _seconds(self._clock() - self._phase_began)
                table.add_row(Text("▸", "cyan"), Text(phase, "bold"), f"{spent}  {self._now.note}")
            else:
                table.add_row(Text("·", "dim"), Text(phase, "dim"), "")
        return table

    def _time(self) -> Table:
        waited = self._clock() - self._told_at
        elapsed = self._now.elapsed_s + waited
        left = max(0.0, self._now.remaining_s - waited)
        row = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=max(elapsed + left, 0.001), completed=elapsed, width=30)
        row.add_row(bar, f"{_seconds(elapsed)} elapsed", _left(left))
        return row

    def _rates(self) -> Table:
        table = Table.grid(padding=(0, 2))
        for name, value in _figures(self._now):
            table.add_row(Text(name, "dim"), value)
        return table


def _figures(now: Progress) -> list[tuple[str, str]]:
    def written(value: float | None, write: Callable[[float], str]) -> str:
        return writing.NOTHING if value is None else write(value)

    return [
        ("offered", written(now.offered_per_s, writing.rate)),
        ("drained", written(now.drained_per_s, writing.rate)),
        ("queue", written(now.queued, writing.count)),
        ("results", written(now.results, writing.count)),
        ("latency", written(now.latency_ms, writing.duration)),
    ]


def _seconds(seconds: float) -> str:
    # Whole seconds: what changes twice a second is not read to the tenth.
    return f"{seconds:.0f} s" if round(seconds) < 60 else writing.duration(1_000 * seconds)


def watcher(session: Session) -> Watcher:
    """What suits the place where standard error goes."""
    console: Console = session.err
    if console.is_terminal and not console.is_dumb_terminal:
        return LiveDisplay(session)
    return PlainLines(session)
