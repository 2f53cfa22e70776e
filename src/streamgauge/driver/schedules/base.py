"""A schedule: the times of the events of a whole load, of all driver instances together.

Events are numbered 0, 1, 2, …; times are whole microseconds since the start of the load.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

# About 35 years. Up to twice these the arithmetic is exact, see `exact`.
MAX_DURATION_US = 2**50
MAX_EVENTS = 2**50


class Schedule(ABC):
    """Maps sequence numbers to times and back, in integers, the same on any machine.

    For every event n: `counts_before(times(n)) <= n < counts_before(times(n) + 1)`.
    """

    duration_us: int
    """Length of the load; every event is due before it."""

    @abstractmethod
    def times_us(self, sequence: NDArray[np.int64]) -> NDArray[np.int64]:
        """Scheduled times, non-decreasing; IndexError for a number outside [0, total)."""

    @abstractmethod
    def counts_before(self, times_us: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many events are due before each time; 0 up to time 0, total after the end."""

    def count_before(self, time_us: int) -> int:
        """How many events are due before that time."""
        return int(self.counts_before(np.array([time_us], dtype=np.int64))[0])

    @cached_property
    def total(self) -> int:
        """How many events the load has."""
        return self.count_before(self.duration_us)

    def _require_scheduled(self, sequence: NDArray[np.int64]) -> None:
        # A time for an event that will never be sent would hide a mistake of the caller.
        if sequence.size and (sequence.min() < 0 or sequence.max() >= self.total):
            raise IndexError(
                f"events {sequence.min()} to {sequence.max()} asked of a schedule"
                f" that has events 0 to {self.total - 1}"
            )
