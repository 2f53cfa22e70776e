"""The checkpoint of the simulated system, and what it does after a restart."""

from __future__ import annotations

import json
import os
import pickle
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from streamgauge.systems.simulated.system import SimulatedSystem
from streamgauge.systems.simulated.windows import Window

PULLS_BEYOND = 3


class Saved(NamedTuple):
    """The state from which it restarts."""

    position_us: int
    results: int
    windows: bytes
    waiting: list[Window]


@dataclass
class Reached:
    """How far it was when it ended, which no system of the world remembers."""

    position_us: int = 0
    window: int = -1


class Checkpoint:
    """The saved state, and beside it what the test of a restart wants to know."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._reached = Reached()
        folder.mkdir(parents=True, exist_ok=True)

    def save(self, state: Saved) -> None:
        self._write("state.pickle", pickle.dumps(state))

    def load(self) -> Saved | None:
        path = self._folder / "state.pickle"
        if not path.exists():
            return None
        saved: Saved = pickle.loads(path.read_bytes())
        return saved

    def take(self, until_us: int) -> None:
        self._reached.position_us = max(self._reached.position_us, until_us)
        self._note()

    def deliver(self, number: int) -> None:
        self._reached.window = max(self._reached.window, number)
        self._note()

    def reached(self) -> Reached:
        path = self._folder / "reached.json"
        if path.exists():
            self._reached = Reached(**json.loads(path.read_text()))
        return Reached(**vars(self._reached))

    def _note(self) -> None:
        self._write("reached.json", json.dumps(vars(self._reached)).encode())

    def _write(self, name: str, content: bytes) -> None:
        unfinished = self._folder / f"{name}.unfinished"
        unfinished.write_bytes(content)
        os.replace(unfinished, self._folder / name)  # noqa: PTH105


class AfterRestart:
    """Says when it took input again and when it was where it had been; plants its faults."""

    def __init__(self, system: SimulatedSystem, reached: Reached) -> None:
        self._reached = reached
        self._asked_us: int | None = None
        self._restarted = reached.position_us > 0
        self._pulls: list[tuple[int, int]] = []
        self._beyond = 0
        self._silent = self._restarted
        self._to_lose = system.lose_at_restart if self._restarted else 0
        self._to_double = system.double_at_restart if self._restarted else 0

    def asked(self) -> None:
        """It asks for input now."""
        if self._asked_us is None:
            self._asked_us = time.time_ns() // 1_000

    def taken(self, until_us: int, at_us: int) -> Iterator[dict[str, object]]:
        """The times of its recovery, once, a few pulls after it was where it had been.

        What it was handed when it was killed it may not have noted, so each pull has its time.
        """
        if not self._restarted:
            return
        self._pulls.append((until_us, at_us))
        self._beyond += until_us >= self._reached.position_us
        if self._beyond >= PULLS_BEYOND:
            self._restarted = False
            yield {"reloaded_us": self._asked_us, "pulls": self._pulls}

    def delivered(self, number: int) -> Iterator[dict[str, int]]:
        """The time of its first result that had not come before the restart, once."""
        if self._silent and number > self._reached.window:
            self._silent = False
            yield {"delivered_us": time.time_ns() // 1_000}

    def planted(self, window: Window) -> pa.Table:
        """Loses and doubles results of windows that were not delivered before the restart."""
        results, places = window.results, np.arange(window.results.num_rows)
        if window.number <= self._reached.window:
            return results
        lost = min(self._to_lose, len(places))
        self._to_lose -= lost
        doubled = min(self._to_double, len(places) - lost)
        self._to_double -= doubled
        return results.take(pa.array(np.append(places[lost:], places[lost : lost + doubled])))
