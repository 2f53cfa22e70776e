"""A switch of a segment, from the request to its first result in the other paradigm."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from streamgauge.dual.model.latency import Paradigm
from streamgauge.dual.reports import Switched

LONGEST_S = 60.0


@dataclass(frozen=True)
class Switch:
    """What is known once the new run has been started; times are durations in seconds."""

    operations: tuple[str, ...]
    paradigm: Paradigm
    """The new one."""
    asked_us: int
    asked_s: float
    last_output_us: int | None
    froms: Mapping[int, int]
    """Offsets of the sink from which on messages are those of the new run."""
    stop_s: float
    settle_s: float
    start_s: float
    interval_s: float | None
    preparation_s: float

    @property
    def overdue(self) -> bool:
        return time.monotonic() > self.asked_s + LONGEST_S

    def report(self, first_output_us: int | None) -> Switched:
        parts_s = {"stop": self.stop_s, "settle": self.settle_s, "start": self.start_s}
        if first_output_us is not None:
            whole_s = (first_output_us - self.asked_us) / 1e6
            parts_s["first result"] = max(0.0, whole_s - sum(parts_s.values()))
        return Switched(
            at_us=first_output_us or time.time_ns() // 1_000,
            operations=self.operations,
            paradigm=self.paradigm,
            asked_us=self.asked_us,
            last_output_us=self.last_output_us,
            first_output_us=first_output_us,
            parts_ms={name: round(seconds * 1_000, 1) for name, seconds in parts_s.items()},
            interval_ms=None if self.interval_s is None else self.interval_s * 1_000,
        )
