"""The supervisor: how often and after what pauses a dead program is started again."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from streamgauge.errors import ComponentError
from streamgauge.experiments.running.supervising import Supervisor
from streamgauge.processes.clock import SYSTEM_CLOCK
from streamgauge.systems.base import Assignment, Restart
from streamgauge.systems.running import Diagnostics, RunningSystem, Tell

PATIENCE_S = 10.0
BACK_OFF_MS = 20


class Mortal(RunningSystem):
    """Dies when told, and fails to start a given number of times."""

    def __init__(self, failures: int = 0) -> None:
        self.dead = False
        self.failures = failures
        self.tried_s: list[float] = []
        self.drains = 0

    @property
    def failed(self) -> bool:
        return self.dead

    def restart(self, timeout_s: float, tell: Tell) -> None:
        tell(f"within {timeout_s} s")
        self.tried_s.append(time.monotonic())
        if len(self.tried_s) <= self.failures:
            raise ComponentError("it does not start")
        self.dead = False

    def begin(self, assignment: Assignment, timeout_s: float, tell: Tell) -> None: ...

    def drain(self) -> None:
        self.drains += 1

    @property
    def drained(self) -> bool | None:
        return True

    def end(self) -> Diagnostics:
        return [{"ended": 1}]


def watched(system: RunningSystem, restart: Restart, *, disturbed: bool = True) -> Supervisor:
    supervisor = Supervisor(system, restart, timeout_s=1.0, clock=SYSTEM_CLOCK)
    supervisor.watch(SYSTEM_CLOCK.now_us(), lambda: disturbed)
    return supervisor


def always(most: int = 10) -> Restart:
    return Restart(when="always", back_off=f"{BACK_OFF_MS} ms", most=most)


def wait_for(true: object) -> None:
    assert callable(true)
    deadline_s = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline_s, "it did not happen"
        time.sleep(0.005)


def kill(system: Mortal) -> float:
    system.dead = True
    return time.monotonic()


def test_a_dead_program_is_started_again_and_is_told_to_drain() -> None:
    system = Mortal()
    supervisor = watched(system, always())
    supervisor.drain()
    kill(system)
    wait_for(lambda: supervisor.drained)
    (death,) = supervisor.news()
    assert death.ready_us is not None
    assert death.ready_us - death.noticed_us >= BACK_OFF_MS * 1_000
    assert supervisor.news() == []
    assert system.drains == 2
    assert supervisor.end() == [{"ended": 1}]


def test_the_pause_before_a_restart_doubles_after_one_that_failed() -> None:
    system = Mortal(failures=3)
    supervisor = watched(system, always())
    dead_s = kill(system)
    wait_for(lambda: supervisor.deaths and supervisor.deaths[0].ready_us is not None)
    supervisor.stop()
    times = [dead_s, *system.tried_s]
    pauses_ms = [1_000 * (later - earlier) for earlier, later in pairwise(times)]
    assert len(pauses_ms) == 4
    for tries, pause_ms in enumerate(pauses_ms):
        assert pause_ms >= BACK_OFF_MS * 2**tries


@pytest.mark.parametrize("most", [1, 3])
def test_it_gives_up_after_the_most_restarts_of_a_trial(most: int) -> None:
    system = Mortal()
    supervisor = watched(system, always(most))
    for deaths in range(1, most + 2):
        kill(system)
        wait_for(lambda: not system.dead or supervisor.gave_up)
        assert supervisor.gave_up == (deaths > most)
        wait_for(lambda: len(supervisor.deaths) == deaths)  # noqa: B023
        # Only a death that the supervisor is done with can be followed by the next one.
        wait_for(lambda: supervisor.deaths[-1].ready_us is not None or supervisor.gave_up)
        wait_for(lambda: supervisor.drained or supervisor.gave_up)
    assert len(system.tried_s) == most
    assert supervisor.end() == []


def test_nobody_starts_a_program_that_is_never_to_be_restarted() -> None:
    system = Mortal()
    supervisor = watched(system, Restart())
    kill(system)
    wait_for(lambda: supervisor.gave_up)
    assert system.tried_s == []
    assert supervisor.poll() == []
    assert len(supervisor.news()) == 1


def test_a_death_before_any_fault_is_an_error_of_the_program() -> None:
    class Dying(Mortal):
        def poll(self) -> list[object]:  # type: ignore[override]
            raise ComponentError("it died by itself")

    supervisor = watched(system := Dying(), Restart(), disturbed=False)
    kill(system)
    with pytest.raises(ComponentError, match="died by itself"):
        supervisor.poll()
    assert supervisor.deaths == []
    supervisor.stop()
