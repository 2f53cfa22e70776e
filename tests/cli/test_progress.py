from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from streamgauge.cli.progress import LiveDisplay, PlainLines, watcher
from streamgauge.cli.terminal import Session
from streamgauge.experiments.progress import Progress

from . import made_up

RUN = Path("runs/2026-01-02-1-quickstart")


class Told:
    """A session whose standard error is kept, and a clock that is set by hand."""

    def __init__(self, *, terminal: bool) -> None:
        self._file = io.StringIO()
        self.session = Session(
            err=Console(file=self._file, force_terminal=terminal, width=100, color_system=None)
        )
        self.now_s = 0.0

    def clock(self) -> float:
        return self.now_s

    @property
    def text(self) -> str:
        return self._file.getvalue()


@pytest.fixture
def plain() -> tuple[Told, PlainLines]:
    told = Told(terminal=False)
    return told, PlainLines(told.session, clock=told.clock)


def loading(elapsed_s: float) -> Progress:
    return Progress("load", "", elapsed_s, 60.0, 100_000.0, 99_000.0, 1_234, 5_678, 842.0)


def test_plain_lines_tell_the_run_and_each_new_phase_once(plain: tuple[Told, PlainLines]) -> None:
    told, lines = plain
    lines.started(RUN)
    for note in ("starting Spark", "starting Spark", "rehearsing", "rehearsing"):
        lines.progress(Progress("start", note, 2.0, 80.0))
    assert told.text.splitlines() == [
        f"run: {RUN}",
        "[2 s] start: starting Spark, about 1 min 20 s left",
        "[2 s] start: rehearsing, about 1 min 20 s left",
    ]
    assert told.session.logs == RUN / "logs"


def test_plain_lines_come_every_five_seconds_under_load(plain: tuple[Told, PlainLines]) -> None:
    told, lines = plain
    for half_seconds in range(41):
        told.now_s = half_seconds / 2
        lines.progress(loading(told.now_s))
    assert len(told.text.splitlines()) == 5
    assert told.text.splitlines()[1] == (
        "[5 s] load, offered 100,000/s, drained 99,000/s, queue 1,234, results 5,678, "
        "latency 842 ms, about 1 min 00 s left"
    )


def test_the_live_display_shows_phases_time_and_rates() -> None:
    told = Told(terminal=True)
    display = LiveDisplay(told.session, clock=told.clock)
    with display.shown():
        display.started(RUN)
        display.progress(Progress("start", "rehearsing", 3.0, 80.0))
        told.now_s = 7.0
        display.progress(loading(10.0))
        told.now_s = 9.0
    for expected in (
        "✓  prepare",
        "✓  start    7 s",
        "▸  load",
        "·  drain",
        "12 s elapsed",
        "about 58 s left",
        "offered  100,000/s",
        "drained  99,000/s",
        "queue    1,234",
        "results  5,678",
        "latency  842 ms",
    ):
        assert expected in told.text


def test_a_finished_run_leaves_only_the_phases_on_the_screen() -> None:
    told = Told(terminal=True)
    display = LiveDisplay(told.session, clock=told.clock)
    for phase in ("start", "load", "drain", "measure", "report"):
        display.progress(Progress(phase, "", 1.0, 1.0))
    display.finished(made_up.summary())
    told.session.err.print(display.render())
    assert told.text.count("✓") == 6
    assert "elapsed" not in told.text


def test_a_phase_that_was_broken_off_is_marked() -> None:
    told = Told(terminal=True)
    display = LiveDisplay(told.session, clock=told.clock)
    for phase in ("start", "load", "report"):
        display.progress(Progress(phase, "", 1.0, 1.0))
    display.finished(made_up.summary(status="interrupted"))
    told.session.err.print(display.render())
    assert "✗  load" in told.text
    assert "·  drain" in told.text


def test_without_a_terminal_there_are_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    assert isinstance(watcher(Told(terminal=True).session), LiveDisplay)
    assert isinstance(watcher(Told(terminal=False).session), PlainLines)
