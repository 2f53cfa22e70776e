from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from streamgauge.cli.progress import LiveDisplay, PlainLines, watcher
from streamgauge.cli.terminal import Session
from streamgauge.experiments.running.log import Interrupted, Progress

RUN = Path("runs/2026-01-02-1-quickstart")


class Output:
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
def plain() -> tuple[Output, PlainLines]:
    output = Output(terminal=False)
    return output, PlainLines(output.session, clock=output.clock)


def loading(elapsed_s: float) -> Progress:
    return Progress("load", "", elapsed_s, 60.0, 100_000.0, 99_000.0, 1_234, 5_678, 842.0)


def test_plain_lines_show_the_run_and_each_new_phase_once(plain: tuple[Output, PlainLines]) -> None:
    output, lines = plain
    lines.started(RUN)
    for note in ("starting Spark", "starting Spark", "rehearsing", "rehearsing"):
        lines.progress(Progress("start", note, 2.0, 80.0))
    assert output.text.splitlines() == [
        f"run: {RUN}",
        "[2 s] start: starting Spark, about 1 min 20 s left",
        "[2 s] start: rehearsing, about 1 min 20 s left",
    ]
    assert output.session.logs == RUN / "logs"


def test_plain_lines_come_every_five_seconds_under_load(plain: tuple[Output, PlainLines]) -> None:
    output, lines = plain
    for half_seconds in range(41):
        output.now_s = half_seconds / 2
        lines.progress(loading(output.now_s))
    assert len(output.text.splitlines()) == 5
    assert output.text.splitlines()[1] == (
        "[5 s] load, offered 100,000/s, drained 99,000/s, queue 1,234, results 5,678, "
        "latency 842 ms, about 1 min 00 s left"
    )


@pytest.mark.parametrize("kind", [PlainLines, LiveDisplay])
def test_an_interrupt_is_acknowledged_at_once(kind: type[PlainLines | LiveDisplay]) -> None:
    output = Output(terminal=kind is LiveDisplay)
    display = kind(output.session, clock=output.clock)
    with display.shown():
        display(Interrupted())
        assert "interrupted: stopping, what was measured is kept" in output.text


def test_an_interrupt_of_the_writing_itself_does_no_harm(
    plain: tuple[Output, PlainLines], monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(*_: object) -> None:
        raise RuntimeError("reentrant call")

    monkeypatch.setattr(Session, "note", write)
    plain[1](Interrupted())


def test_the_live_display_shows_phases_time_and_rates() -> None:
    output = Output(terminal=True)
    display = LiveDisplay(output.session, clock=output.clock)
    with display.shown():
        display.started(RUN)
        display.progress(Progress("start", "rehearsing", 3.0, 80.0))
        output.now_s = 7.0
        display.progress(loading(10.0))
        output.now_s = 9.0
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
        assert expected in output.text


def test_a_finished_run_leaves_only_the_phases_on_the_screen() -> None:
    output = Output(terminal=True)
    display = LiveDisplay(output.session, clock=output.clock)
    for phase in ("start", "load", "drain", "measure", "report"):
        display.progress(Progress(phase, "", 1.0, 1.0))
    display.finished()
    output.session.err.print(display.render())
    assert output.text.count("✓") == 6
    assert "elapsed" not in output.text


def test_a_phase_that_was_broken_off_is_marked() -> None:
    output = Output(terminal=True)
    display = LiveDisplay(output.session, clock=output.clock)
    for phase in ("start", "load", "report"):
        display.progress(Progress(phase, "", 1.0, 1.0))
    display.finished()
    output.session.err.print(display.render())
    assert "✗  load" in output.text
    assert "·  drain" in output.text


def test_without_a_terminal_there_are_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    assert isinstance(watcher(Output(terminal=True).session), LiveDisplay)
    assert isinstance(watcher(Output(terminal=False).session), PlainLines)


def probing(number: int, note: str, phase: str = "load") -> Progress:
    words = f"probe {number} at {number}00,000/s"
    measured = 100_000.0 * number if phase == "load" else None
    return Progress(
        phase, f"{words}: {note}" if note else words, 9.0, 90.0, measured, part="search 1 of 2"
    )


def test_plain_lines_name_the_part_of_a_study_and_each_probe_once(
    plain: tuple[Output, PlainLines],
) -> None:
    output, lines = plain
    for number in (1, 2):
        for _ in range(10):
            lines.progress(probing(number, "starting the driver", "start"))
        for _ in range(20):
            output.now_s += 0.5
            lines.progress(probing(number, ""))
    lines.progress(Progress("start", "", 30.0, 60.0, part="trial 1: rate 90 %"))
    lines.progress(Progress("start", "", 30.0, 60.0, part="trial 2: rate 90 %"))
    assert output.text.splitlines() == [
        "[9 s] search 1 of 2 · start: probe 1 at 100,000/s: starting the driver, "
        "about 1 min 30 s left",
        "[9 s] search 1 of 2 · load: probe 1 at 100,000/s, offered 100,000/s, "
        "about 1 min 30 s left",
        "[9 s] search 1 of 2 · start: probe 2 at 200,000/s: starting the driver, "
        "about 1 min 30 s left",
        "[9 s] search 1 of 2 · load: probe 2 at 200,000/s, offered 200,000/s, "
        "about 1 min 30 s left",
        "[30 s] trial 1: rate 90 % · start, about 1 min 00 s left",
        "[30 s] trial 2: rate 90 % · start, about 1 min 00 s left",
    ]


def test_a_long_trial_of_a_study_prints_a_line_at_intervals(
    plain: tuple[Output, PlainLines],
) -> None:
    output, lines = plain
    for half_seconds in range(2 * 61):
        output.now_s = half_seconds / 2
        lines.progress(probing(1, ""))
    assert len(output.text.splitlines()) == 3


def rendered(output: Output, display: LiveDisplay) -> str:
    """What is on the screen at this moment."""
    with output.session.err.capture() as captured:
        output.session.err.print(display.render())
    return captured.get()


def test_the_phases_start_again_with_each_part_of_a_study() -> None:
    output = Output(terminal=True)
    display = LiveDisplay(output.session, clock=output.clock)
    for phase in ("start", "load", "drain", "measure", "report"):
        output.now_s += 10
        display.progress(Progress(phase, "", 1.0, 1.0, part="trial 1: rate 90 %"))
    output.now_s += 10
    display.progress(Progress("start", "", 1.0, 1.0, part="trial 2: rate 80 %"))
    output.now_s += 3

    text = rendered(output, display)

    assert "✓  trial 1: rate 90 %  50 s" in text
    assert text.index("trial 1") < text.index("trial 2: rate 80 %") < text.index("▸  start  ")
    assert "▸  start    3 s" in text
    assert "·  load" in text
    assert "✓  load" not in text
    assert "prepare" not in text


def test_the_phases_start_again_with_each_probe_of_a_search() -> None:
    output = Output(terminal=True)
    display = LiveDisplay(output.session, clock=output.clock)
    for number in (1, 2):
        display.progress(probing(number, "", "start"))
        output.now_s += 4
        display.progress(probing(number, ""))
        output.now_s += 20
    display.progress(probing(3, "", "start"))

    text = rendered(output, display)

    assert "▸  start    0 s  probe 3 at 300,000/s" in text
    assert "·  load" in text
    assert "✗" not in text
    assert text.count("search 1 of 2") == 1


def test_a_part_that_was_broken_off_is_marked() -> None:
    output = Output(terminal=True)
    display = LiveDisplay(output.session, clock=output.clock)
    for phase in ("start", "load", "report"):
        display.progress(Progress(phase, "", 1.0, 1.0, part="trial 1"))
    display.progress(Progress("start", "", 1.0, 1.0, part="trial 2"))

    text = rendered(output, display)

    assert "✗  trial 1" in text
    assert text.count("✗") == 1


def test_a_study_of_many_parts_does_not_fill_the_screen() -> None:
    output = Output(terminal=True)
    display = LiveDisplay(output.session, clock=output.clock)
    for number in range(1, 101):
        display.progress(Progress("load", "", 1.0, 1.0, part=f"trial {number}"))

    text = rendered(output, display)

    assert "94 earlier" in text
    assert "trial 94 " not in text
    assert "trial 95 " in text
    assert len(text.splitlines()) < 25
