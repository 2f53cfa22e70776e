"""Shows a run while it goes on: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path

from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from streamgauge.cli.terminal import Session
from streamgauge.experiments.running.log import (
    PHASES,
    Event,
    Finished,
    Interrupted,
    Progress,
    RunStarted,
    Warned,
    time_left,
    whole_seconds,
)

LINE_EVERY_S = 5.0
STUDY_LINE_EVERY_S = 30.0
"""A study goes on for hours, and each of its probes has a line anyway."""
PARTS_SHOWN = 5


class Watcher:
    """Subscribes to a run for the command line; subclasses show it."""

    def __init__(self, session: Session, clock: Callable[[], float] = time.monotonic) -> None:
        self._session = session
        self._clock = clock

    def shown(self) -> AbstractContextManager[object]:
        """While this is open, the run is on display."""
        return nullcontext()

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self.started(event.path)
        elif isinstance(event, Progress):
            self.progress(event)
        elif isinstance(event, Warned):
            self._session.note(f"warning: {event.text}")
        elif isinstance(event, Finished):
            self.finished()
        elif isinstance(event, Interrupted):
            self.interrupted()

    def started(self, run: Path) -> None:
        self._session.logs = run / "logs"

    def progress(self, now: Progress) -> None: ...

    def finished(self) -> None: ...

    def interrupted(self) -> None:
        """Called by the handler of a signal, which may have interrupted the writing of a line."""
        with suppress(RuntimeError, OSError):
            text = "stopping, what was measured is kept; Ctrl-C again ends at once"
            self._session.note(("interrupted: ", "bold yellow"), text)


class PlainLines(Watcher):
    """A line per part, phase and note, and one at intervals while the load runs."""

    _last = ("", "", "")
    _printed_at = float("-inf")

    def started(self, run: Path) -> None:
        super().started(run)
        self._session.note(f"run: {run}")

    def progress(self, now: Progress) -> None:
        here = (now.part, now.phase, now.note)
        every_s = STUDY_LINE_EVERY_S if now.part else LINE_EVERY_S
        due = now.offered_per_s is not None and self._clock() - self._printed_at >= every_s
        if here == self._last and not due:
            return
        self._last, self._printed_at = here, self._clock()
        self._session.note(now.line)


class LiveDisplay(Watcher):
    """Redrawn in place: parts of a study, phases, time, rates, queue, results, latency."""

    def __init__(self, session: Session, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(session, clock)
        self._part_began = self._phase_began = self._updated_at = clock()
        self._now = Progress(PHASES[0], "", 0.0, 0.0)
        self._spent_s: dict[str, float] = {}
        self._first = 0
        self._parts: list[tuple[Text, Text, Text]] = []
        self._broken_off = ""
        self._over = False

    def shown(self) -> AbstractContextManager[object]:
        # Prints of a user's file must neither disturb the display nor be shown as results.
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
        self._updated_at = moment

    def _enter_part(self, phase: str, moment: float) -> None:
        """The phases start again, at the first phase of the part."""
        if self._now.part:
            spent = Text(whole_seconds(moment - self._part_began), "dim")
            mark = _mark(broken_off=bool(self._broken_off))
            self._parts.append((mark, Text(self._now.part), spent))
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
        shown: list[RenderableType] = [_grid(map(self._phase, PHASES[self._first :]))]
        if self._now.part:
            # Only the latest: a study may have more parts than a screen has lines.
            earlier = len(self._parts) - PARTS_SHOWN
            above = [(Text(), Text(f"{earlier} earlier", "dim"), Text())] if earlier > 0 else []
            parts = _grid([*above, *self._parts[-PARTS_SHOWN:]])
            shown = [parts, Text(self._now.part, "bold"), *shown]
        if not self._over:
            rates = _grid((Text(name, "dim"), value) for name, value in self._now.figures)
            shown += [self._time(), rates]
        return Group(*shown)

    def _phase(self, phase: str) -> tuple[Text, Text, Text]:
        if phase in self._spent_s:
            mark = _mark(broken_off=phase == self._broken_off)
            return mark, Text(phase), Text(whole_seconds(self._spent_s[phase]), "dim")
        if phase == self._now.phase and not self._over:
            spent = f"{whole_seconds(self._clock() - self._phase_began)}  {self._now.note}"
            return Text("▸", "cyan"), Text(phase, "bold"), Text(spent)
        return Text("·", "dim"), Text(phase, "dim"), Text()

    def _time(self) -> Table:
        waited = self._clock() - self._updated_at
        elapsed = self._now.elapsed_s + waited
        left = max(0.0, self._now.remaining_s - waited)
        bar = ProgressBar(total=max(elapsed + left, 0.001), completed=elapsed, width=30)
        return _grid([(bar, f"{whole_seconds(elapsed)} elapsed", time_left(left))])


def _grid(rows: Iterable[Iterable[RenderableType]]) -> Table:
    table = Table.grid(padding=(0, 2))
    for row in rows:
        table.add_row(*row)
    return table


def _mark(*, broken_off: bool) -> Text:
    return Text("✗", "red") if broken_off else Text("✓", "green")


def watcher(session: Session) -> Watcher:
    """The display that fits where standard error goes."""
    if session.err.is_terminal and not session.err.is_dumb_terminal:
        return LiveDisplay(session)
    return PlainLines(session)
