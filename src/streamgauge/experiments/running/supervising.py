"""Watches the program of a system, as an orchestrator would: one that dies may be started again."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

from streamgauge.errors import StreamgaugeError
from streamgauge.measure.record import DeathRecord
from streamgauge.processes.clock import Clock
from streamgauge.processes.component import Message
from streamgauge.systems.base import Restart
from streamgauge.systems.running import CanRestart, Diagnostics, RunningSystem

LOOK_EVERY_S = 0.02
LONGEST_BACK_OFF_S = 30.0
JOIN_S = 20.0


class Supervisor:
    """The running system of one trial.

    A death after a fault is what the trial measures, and no error; before, it is one, unless the
    supervisor is asked to start the program again.
    """

    def __init__(
        self, running: RunningSystem, restart: Restart, timeout_s: float, clock: Clock
    ) -> None:
        self._running = running
        self._restart = restart
        self._timeout_s = timeout_s
        self._clock = clock
        self._disturbed: Callable[[], bool] = lambda: False
        self._start_us = 0
        self._down = threading.Event()
        self._stopping = threading.Event()
        self._draining = False
        self._restarts = 0
        self._thread: threading.Thread | None = None
        self.deaths: list[DeathRecord] = []
        self._told = 0
        self.gave_up = False
        """The program is dead, and stays so."""

    def watch(self, start_us: int, disturbed: Callable[[], bool]) -> None:
        """From the begin of the load; `disturbed` says whether a fault has happened."""
        self._start_us, self._disturbed = start_us, disturbed
        self._thread = threading.Thread(target=self._watch, name="supervisor", daemon=True)
        self._thread.start()

    def poll(self) -> list[Message]:
        """What the program has reported; raises an error when it has failed by itself."""
        if self._down.is_set():
            return []
        try:
            return self._running.poll()
        except StreamgaugeError:
            if not self._tolerates:
                raise
            return []

    def news(self) -> list[DeathRecord]:
        """Deaths that are over, by a restart or for good, since the last call."""
        known = [one for one in self.deaths if one.ready_us is not None or self.gave_up]
        found, self._told = known[self._told :], len(known)
        return found

    def drain(self) -> None:
        self._draining = True
        if not self._down.is_set():
            self._running.drain()

    @property
    def drained(self) -> bool | None:
        if self._down.is_set() or (self._tolerates and self._running.failed):
            return False
        return self._running.drained

    def end(self) -> Diagnostics:
        """Ends the assignment; a program that is dead has nothing to say."""
        self.stop()
        if self._down.is_set() or (self._tolerates and self._running.failed):
            return []
        return self._running.end()

    def stop(self) -> None:
        """No restart from now on; one that is going on is broken off."""
        self._stopping.set()
        if self._thread is None or not self._thread.is_alive():
            return
        self._thread.join(2 * LOOK_EVERY_S)
        if self._thread.is_alive() and self._down.is_set():
            with contextlib.suppress(StreamgaugeError):
                self._running.stop()
        self._thread.join(JOIN_S)

    @property
    def _tolerates(self) -> bool:
        return self._restart.when == "always" or self._disturbed()

    def _now_us(self) -> int:
        return self._clock.now_us() - self._start_us

    def _watch(self) -> None:
        while not self._stopping.wait(LOOK_EVERY_S):
            if self._running.failed and self._tolerates:
                self._down.set()
                self.deaths.append(DeathRecord(noticed_us=self._now_us()))
                if not self._started_again():
                    self.gave_up = not self._stopping.is_set()
                    return

    def _started_again(self) -> bool:
        """Tries until the program runs, or may not be tried any more."""
        if self._restart.when == "never" or not isinstance(self._running, CanRestart):
            return False
        back_off_s = self._restart.back_off / 1e6
        while self._restarts < self._restart.most:
            if self._stopping.wait(back_off_s):
                return False
            self._restarts += 1
            try:
                self._running.restart(self._timeout_s, lambda _: None)
            except StreamgaugeError:
                back_off_s = min(2 * back_off_s, LONGEST_BACK_OFF_S)
                continue
            death = self.deaths[-1].model_copy(update={"ready_us": self._now_us()})
            self.deaths[-1] = death
            if self._draining:
                self._running.drain()
            self._down.clear()
            return True
        return False
