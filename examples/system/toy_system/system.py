"""Pulls what there is, computes the windows that are complete, delivers; all in one thread."""

from __future__ import annotations

import threading
from typing import ClassVar

from streamgauge.channels.base import Connector
from streamgauge.queries.load import build_query
from streamgauge.systems.base import Assignment, System, SystemContext
from streamgauge.systems.running import Diagnostics, RunningSystem, Tell
from streamgauge.systems.simulated.direct import DirectConnector
from streamgauge.systems.simulated.windows import WindowedResults


class ToySystem(System):
    """A stream engine in a thread of the station."""

    kind: ClassVar = "windows"
    connectors: ClassVar = {"direct": Connector("toy_system", "Arrow Flight", "Arrow Flight")}

    def start(self, context: SystemContext) -> RunningSystem:  # noqa: ARG002
        return ToyEngine()


class ToyEngine(RunningSystem):
    drained = False

    def begin(self, assignment: Assignment, timeout_s: float, tell: Tell) -> None:  # noqa: ARG002
        self._channel = DirectConnector(assignment)
        self._windows = WindowedResults(build_query(assignment.query), assignment.load)
        self._draining, self._ending, self.drained = threading.Event(), threading.Event(), False
        self._worker = threading.Thread(target=self._work, daemon=True)
        self._worker.start()

    def drain(self) -> None:
        self._draining.set()

    def end(self) -> Diagnostics:
        self._ending.set()
        self._worker.join()
        self._channel.close()
        return []

    def _work(self) -> None:
        position_us = 0
        while not self._ending.wait(0.05):
            until_us = self._channel.head_us(position_us)
            for stream, batch in self._channel.fetch(position_us, until_us):
                self._windows.add(stream, batch)
            self._channel.commit(until_us)
            done = self._draining.is_set() and until_us == position_us
            closed = self._windows.close(self._windows.complete_until_us)
            for window in [*closed, *(self._windows.flush() if done else [])]:
                self._channel.put(window.results)
            position_us, self.drained = until_us, done
