"""Messages to and from a child process, with small Python programs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from streamgauge.errors import ComponentError, ExitCode, UsageError
from streamgauge.processes.clock import SYSTEM_CLOCK, Clock
from streamgauge.processes.component import Component
from streamgauge.processes.launcher import Launcher
from tests.clocks import ManualClock

ECHO = """
from streamgauge.processes.component import Console
console = Console()
print("a library prints")
console.emit("up")
for message in console.commands():
    console.emit("answer", to=message["command"], fields=message)
"""
FAILING = """
from streamgauge.processes.component import Console
Console().emit("failed", reason="no memory", fix="give it more")
raise SystemExit(1)
"""
MISTAKEN = """
from streamgauge.errors import ExperimentError
from streamgauge.processes.component import Console
Console().fail(ExperimentError("workload.query", "sales.py:7 KeyError: 'vat'", fix="correct it"))
raise SystemExit(1)
"""
DEAF = "import time; time.sleep(600)"

Start = Callable[..., Component]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    with ExitStack() as stack:

        def start(program: str, clock: Clock = SYSTEM_CLOCK) -> Component:
            component = Component(
                "the child",
                [sys.executable, "-c", program],
                log=tmp_path / "child.log",
                launcher=Launcher({}),
                clock=clock,
            )
            stack.callback(component.stop, 0.1)
            return component

        yield start


def test_commands_are_answered_with_events_and_other_output_is_logged(
    start: Start, tmp_path: Path
) -> None:
    child = start(ECHO)
    child.wait_for("up", 30)
    child.send("count", upto=3)
    answer = child.wait_for("answer", 30)
    assert answer["fields"] == {"command": "count", "upto": 3}
    assert child.latest["answer"] == answer
    assert child.alive
    assert child.site == "this machine"
    child.stop()
    assert not child.alive
    assert (tmp_path / "child.log").read_text() == "a library prints\n"


def test_a_child_that_does_not_answer_in_time_is_named(start: Start) -> None:
    clock = ManualClock()
    child = start(DEAF, clock)
    with pytest.raises(ComponentError, match="did not report `up` within 3600 s") as failure:
        child.wait_for("up", 3_600, meanwhile=lambda: clock.advance(1_800))
    assert clock.monotonic_s() == 3_600
    assert "timeouts.start" in failure.value.fix


def test_the_death_of_a_child_is_reported_to_every_reader_with_its_own_reason(
    start: Start, tmp_path: Path
) -> None:
    child = start(FAILING)
    for _ in range(2):
        with pytest.raises(ComponentError) as failure:
            child.wait_for("up", 30)
        error = failure.value
        assert (error.cause, error.fix) == ("the child died: no memory", "give it more")
        assert error.log == tmp_path / "child.log"
    with pytest.raises(ComponentError, match="no memory"):
        child.poll()
    child.send("ignored")


def test_a_mistake_of_the_user_that_a_child_found_is_no_death(start: Start) -> None:
    with pytest.raises(UsageError) as failure:
        start(MISTAKEN).wait_for("up", 30)
    assert failure.value.cause == "workload.query: sales.py:7 KeyError: 'vat'"
    assert failure.value.fix == "correct it"
    assert failure.value.exit_code is ExitCode.USAGE


def test_a_child_that_ignores_the_end_of_its_input_is_killed(start: Start) -> None:
    child = start(DEAF)
    child.stop(0.1)
    assert not child.alive
