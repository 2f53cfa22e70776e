"""The clock that waiting code reads; a test passes a clock that it sets by hand."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Two times and a way to wait."""

    def now_us(self) -> int:
        """Wall-clock time, in microseconds since 1970."""

    def monotonic_s(self) -> float:
        """Seconds since an arbitrary moment; never goes back. Deadlines are set on it."""

    def sleep(self, seconds: float) -> None:
        """Returns when that much time has passed on this clock."""


class SystemClock:
    """The clock of this machine."""

    def now_us(self) -> int:
        return time.time_ns() // 1_000

    def monotonic_s(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


SYSTEM_CLOCK: Clock = SystemClock()
