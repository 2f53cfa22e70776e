"""The clock of code that waits; a test passes one that it sets by hand."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    def now_us(self) -> int:
        """Wall-clock time, in microseconds since 1970."""

    def monotonic_s(self) -> float:
        """Seconds since an arbitrary moment; never decreases. Used for deadlines."""

    def sleep(self, seconds: float) -> None:
        """Waits until that much time has passed on this clock."""


class SystemClock:
    def now_us(self) -> int:
        return time.time_ns() // 1_000

    def monotonic_s(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


SYSTEM_CLOCK: Clock = SystemClock()
