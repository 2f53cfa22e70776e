"""A clock that a test sets by hand."""

from __future__ import annotations


class ManualClock:
    """Stands still, except when it is advanced or slept on; sleeping returns at once."""

    def __init__(self, now_us: int = 1_800_000_000_000_000) -> None:
        self._start_us = now_us
        self._passed_s = 0.0

    def now_us(self) -> int:
        return self._start_us + round(self._passed_s * 1e6)

    def monotonic_s(self) -> float:
        return self._passed_s

    def sleep(self, seconds: float) -> None:
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        assert seconds >= 0
        self._passed_s += seconds
