"""The program of the simulated system: `python -m … SETTINGS`."""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa

from streamgauge import plugins
from streamgauge.processes.component import Console
from streamgauge.queries.base import ResultShape
from streamgauge.queries.gaming.windows import WindowedQuery
from streamgauge.queries.load import build_query
from streamgauge.systems.base import Assignment
from streamgauge.systems.simulated.checkpoint import AfterRestart, Checkpoint, Reached, Saved
from streamgauge.systems.simulated.connector import SimulatedConnector
from streamgauge.systems.simulated.system import SimulatedSystem
from streamgauge.systems.simulated.windows import Window, WindowedResults

TICK_S = 0.05
SIXTH_DIGIT = 1 + 5e-6


class SimulatedProgram:
    """Pulls, computes, plants faults and delivers, for one assignment."""

    def __init__(self, system: SimulatedSystem, assignment: Assignment, console: Console) -> None:
        self._system = system
        self._assignment = assignment
        self._console = console
        # `SimulatedSystem.can_run` has refused every other query.
        query = cast(WindowedQuery, build_query(assignment.query))
        self._shape = query.shape
        self._windows = WindowedResults(query, assignment.load)
        self._channel: SimulatedConnector = plugins.load_path(assignment.connector)(assignment)
        self._position_us = 0
        self._waiting: deque[tuple[float, Window]] = deque()
        self._held_back: list[Window] = []
        self._results = 0
        self._checkpoint = Checkpoint(assignment.checkpoint)
        self._after_restart = AfterRestart(system, Reached())
        if assignment.resumed:
            self._resume()
        self._to_drop = system.drop
        self._planted = {"lost": 0, "doubled": 0, "falsified": 0, "delayed": 0}
        self.draining = threading.Event()
        self._stopping = threading.Event()
        self._worker = threading.Thread(target=self._work, daemon=True)
        self._worker.start()

    def end(self) -> None:
        self._stopping.set()
        self._worker.join()
        for window in self._held_back:
            self._deliver(window, "held back")
        self._channel.close()

    def _resume(self) -> None:
        """Goes on from the checkpoint; what it had taken and delivered after it comes again."""
        self._after_restart = AfterRestart(self._system, self._checkpoint.reached())
        saved = self._checkpoint.load()
        if saved is not None:
            self._position_us, self._results = saved.position_us, saved.results
            self._windows.restore(saved.windows)
            self._waiting.extend((0.0, window) for window in saved.waiting)

    def _save(self) -> None:
        waiting = [window for _, window in self._waiting]
        state = Saved(self._position_us, self._results, self._windows.state, waiting)
        self._checkpoint.save(state)
        self._channel.commit(self._position_us)

    def _work(self) -> None:
        if self._assignment.resumed and self._stopping.wait(self._system.reload / 1e6):
            return
        try:
            self._pull_until_stopped()
        except Exception as error:
            traceback.print_exc()
            self._console.emit("failed", reason=f"{type(error).__name__}: {error}")

    def _pull_until_stopped(self) -> None:
        began = last = saved = time.monotonic()
        allowance = 0.0
        drained = False
        while not self._stopping.wait(TICK_S):
            now = time.monotonic()
            if not self._paused(now - began):
                allowance += (now - last) * self._system.capacity
                allowance -= self._pull(int(allowance))
                # Time without work is no capacity for later.
                allowance = min(allowance, TICK_S * self._system.capacity)
            last = now
            while self._waiting and self._waiting[0][0] <= now:
                self._deliver(self._waiting.popleft()[1])
            if now >= saved + self._system.checkpoint / 1e6:
                saved = now
                self._save()
            if self.draining.is_set() and not drained and self._is_processed():
                if rest := self._windows.flush():
                    self._send_later(rest)
                    continue
                drained = True
                self._console.emit("planted", **self._planted)
                self._console.emit("drained")

    def _paused(self, elapsed_s: float) -> bool:
        every, length = self._system.pause_every / 1e6, self._system.pause / 1e6
        return every > 0 and elapsed_s % every > every - length

    def _pull(self, most: int) -> int:
        """Takes up to `most` events from all streams together; returns how many it took."""
        until = self._channel.head_us(self._position_us, most)
        if until <= self._position_us:
            return 0
        if self._to_drop and until > self._assignment.load.duration_us // 2:
            self._to_drop = False
            self._channel.drop_connection(self._position_us)
        count = received_us = 0
        self._after_restart.asked()
        for stream, batch in self._channel.fetch(self._position_us, until):
            if not count:
                # It has begun to take the range; if it is killed now, it was there.
                self._checkpoint.take(until)
            received_us = time.time_ns() // 1_000
            count += batch.num_rows
            self._windows.add(stream, batch)
        self._position_us = until
        for said in self._after_restart.taken(until, received_us or time.time_ns() // 1_000):
            self._console.emit("recovered", **said)
        self._send_later(self._windows.close(self._windows.complete_until_us))
        return count

    def _send_later(self, windows: Sequence[Window]) -> None:
        due = time.monotonic() + self._system.latency / 1e6
        for window in windows:
            results = self._after_restart.planted(window)
            self._waiting.append((due, window._replace(results=self._with_faults(window, results))))

    def _deliver(self, window: Window, part: str = "window") -> None:
        self._channel.put(window.results, f"{part} {window.number}")
        self._checkpoint.deliver(window.number)
        for said in self._after_restart.delivered(window.number):
            self._console.emit("resumed", **said)

    def _is_processed(self) -> bool:
        head_us = self._channel.head_us(self._position_us)
        return head_us <= self._position_us and not self._waiting

    def _with_faults(self, window: Window, results: pa.Table) -> pa.Table:
        """Plants the faults; which results they hit depends only on their number."""
        system = self._system
        numbers = np.arange(self._results, self._results + results.num_rows)
        self._results += results.num_rows
        lost, doubled = _every(numbers, system.lose, 1.0), _every(numbers, system.double, 1 / 2)
        false, held = _every(numbers, system.falsify, 1 / 3), _every(numbers, system.delay, 1 / 5)
        for name, hit in zip(self._planted, (lost, doubled, false, held), strict=True):
            self._planted[name] += int(hit.sum())
        if false.any():
            results = _falsified(results, self._shape, false)
        if held.any():
            self._held_back.append(window._replace(results=results.filter(pa.array(held))))
        kept = results.filter(pa.array(~(lost | held)))
        return pa.concat_tables([kept, results.filter(pa.array(doubled))])


def _falsified(results: pa.Table, shape: ResultShape, chosen: np.ndarray) -> pa.Table:
    """The first value of each chosen result is wrong: in the sixth digit, or by one."""
    place, field = next(
        (place, field)
        for place, field in enumerate(results.schema)
        if field.name not in shape.keys and not pa.types.is_timestamp(field.type)
    )
    values = results.column(place).to_numpy().copy()
    if pa.types.is_floating(field.type):
        values[chosen] *= SIXTH_DIGIT
    else:
        values[chosen] += 1
    return results.set_column(place, field, pa.array(values))


def _every(numbers: np.ndarray, share: float, phase: float) -> np.ndarray:
    """Every n-th; the phases keep different faults of one share from hitting the same result."""
    if share <= 0:
        return np.zeros(len(numbers), dtype=bool)
    step = max(1, round(1 / share))
    hits: np.ndarray = numbers % step == int(phase * (step - 1))
    return hits


def main() -> None:
    console = Console()
    system = SimulatedSystem.model_validate_json(Path(sys.argv[1]).read_text())
    console.emit("up")
    program: SimulatedProgram | None = None
    for message in console.commands():
        if message["command"] == "begin":
            assignment = Assignment.model_validate(message["assignment"])
            program = SimulatedProgram(system, assignment, console)
            console.emit("ready")
        elif message["command"] == "drain" and program is not None:
            program.draining.set()
        elif message["command"] == "end" and program is not None:
            program.end()
            program = None
            console.emit("ended", diagnostics=[])
    if program is not None:
        program.end()


if __name__ == "__main__":
    main()
    os._exit(0)
