"""The program of the simulated system: `python -m … CONFIG`."""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from collections import deque
from pathlib import Path

import numpy as np
import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from streamgauge import plugins
from streamgauge.processes.component import Console
from streamgauge.queries.base import ResultShape
from streamgauge.queries.gaming.windows import WindowedQuery
from streamgauge.queries.load import build_query
from streamgauge.systems.base import Assignment
from streamgauge.systems.simulated.connector import SimulatedConnector
from streamgauge.systems.simulated.windows import WindowedResults

TICK_S = 0.05
DROP_AFTER_S = 2.0
SIXTH_DIGIT = 1 + 5e-6


class Faults(BaseModel):
    """Shares of results; a share of 1/n hits exactly every n-th result."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    lose: float = 0.0
    double: float = 0.0
    falsify: float = 0.0
    delay: float = 0.0


class SimulatedProgramConfig(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    capacity_per_s: float
    latency_us: int
    pause_every_us: int
    pause_us: int
    drop: bool
    faults: Faults


class SimulatedProgram:
    """Pulls, computes, plants faults and delivers, for one assignment."""

    def __init__(
        self, config: SimulatedProgramConfig, assignment: Assignment, console: Console
    ) -> None:
        self._config = config
        self._assignment = assignment
        self._console = console
        query = build_query(assignment.query)
        assert isinstance(query, WindowedQuery)
        self._shape = query.shape
        self._windows = WindowedResults(query, assignment.load)
        self._channel: SimulatedConnector = plugins.load_path(assignment.connector)(assignment)
        self._position_us = 0
        self._waiting: deque[tuple[float, pa.Table]] = deque()
        self._held_back: list[pa.Table] = []
        self._results = 0
        self._to_drop = config.drop
        self.planted = {"lost": 0, "doubled": 0, "falsified": 0, "delayed": 0}
        self._draining = threading.Event()
        self._stopping = threading.Event()
        self._worker = threading.Thread(target=self._work, daemon=True)

    def begin(self) -> None:
        self._worker.start()
        self._console.emit("ready")

    def drain(self) -> None:
        self._draining.set()

    def end(self) -> None:
        self._stopping.set()
        self._worker.join()
        for table in self._held_back:
            self._channel.put(table)
        self._channel.close()

    def _work(self) -> None:
        try:
            self._pull_until_stopped()
        except Exception as error:
            traceback.print_exc()
            self._console.emit("failed", reason=f"{type(error).__name__}: {error}")

    def _pull_until_stopped(self) -> None:
        began = last = time.monotonic()
        allowance = 0.0
        told = False
        while not self._stopping.wait(TICK_S):
            now = time.monotonic()
            if not self._paused(now - began):
                allowance = min(allowance + (now - last) * self._config.capacity_per_s, 1e9)
                allowance -= self._pull(int(allowance))
            last = now
            self._deliver(now)
            if self._draining.is_set() and not told and self._is_through():
                rest = self._windows.flush()
                if rest is not None:
                    self._send_later(rest)
                    continue
                told = True
                self._console.emit("planted", **self.planted)
                self._console.emit("drained")

    def _paused(self, elapsed_s: float) -> bool:
        every, length = self._config.pause_every_us / 1e6, self._config.pause_us / 1e6
        return every > 0 and elapsed_s % every > every - length

    def _pull(self, most: int) -> int:
        """Takes up to that many events from all streams together; returns how many it took."""
        until = self._channel.head_us(self._position_us, most)
        if until <= self._position_us:
            return 0
        if self._to_drop and until > self._assignment.load.duration_us // 2:
            self._to_drop = False
            # A short answer would fit the buffers of the connection and be gone before we are.
            time.sleep(DROP_AFTER_S)
            self._channel.drop_connection(self._position_us)
        count = 0
        for stream, batch in self._channel.fetch(self._position_us, until):
            count += batch.num_rows
            self._windows.add(stream, batch)
        self._position_us = until
        self._channel.commit(until)
        closed = self._windows.close(self._windows.complete_until_us)
        if closed is not None:
            self._send_later(closed)
        return count

    def _send_later(self, results: pa.Table) -> None:
        due = time.monotonic() + self._config.latency_us / 1e6
        self._waiting.append((due, self._with_faults(results)))

    def _deliver(self, now: float) -> None:
        while self._waiting and self._waiting[0][0] <= now:
            self._channel.put(self._waiting.popleft()[1])

    def _is_through(self) -> bool:
        head_us = self._channel.head_us(self._position_us)
        return head_us <= self._position_us and not self._waiting

    def _with_faults(self, results: pa.Table) -> pa.Table:
        """Plants the faults; which results they hit depends only on their number."""
        faults = self._config.faults
        numbers = np.arange(self._results, self._results + results.num_rows)
        self._results += results.num_rows
        false = _every(numbers, faults.falsify, phase=1 / 3)
        if false.any():
            results = _falsified(results, self._shape, false)
        lost, doubled = _every(numbers, faults.lose, 1.0), _every(numbers, faults.double, 1 / 2)
        held = _every(numbers, faults.delay, 1 / 5)
        counts = zip(self.planted, (lost, doubled, false, held), strict=True)
        for name, hit in counts:
            self.planted[name] += int(hit.sum())
        if held.any():
            self._held_back.append(results.filter(pa.array(held)))
        kept = results.filter(pa.array(~(lost | held)))
        return pa.concat_tables([kept, results.filter(pa.array(doubled))])


def _falsified(results: pa.Table, shape: ResultShape, chosen: np.ndarray) -> pa.Table:
    """The first value of each chosen result is wrong: in the sixth digit, or by one."""
    field = next(
        one
        for one in results.schema
        if one.name not in shape.keys and not pa.types.is_timestamp(one.type)
    )
    values = results.column(field.name).to_numpy().copy()
    if pa.types.is_floating(field.type):
        values[chosen] *= SIXTH_DIGIT
    else:
        values[chosen] += 1
    place = results.schema.get_field_index(field.name)
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
    config = SimulatedProgramConfig.model_validate_json(Path(sys.argv[1]).read_text())
    console.emit("up")
    program: SimulatedProgram | None = None
    for message in console.commands():
        if message["command"] == "begin":
            assignment = Assignment.model_validate(message["assignment"])
            program = SimulatedProgram(config, assignment, console)
            program.begin()
        elif message["command"] == "drain" and program is not None:
            program.drain()
        elif message["command"] == "end" and program is not None:
            program.end()
            program = None
            console.emit("ended", diagnostics=[])
    if program is not None:
        program.end()


if __name__ == "__main__":
    main()
    os._exit(0)
