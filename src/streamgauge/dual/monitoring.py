"""What is seen of a segment from outside: the ends of its topics and what its last results tell.

Real-time mode reports only at the end of a batch, so nothing is asked of the query itself but the
durations of finished micro-batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from streamgauge.dual.model.estimates import Estimates, Observation
from streamgauge.dual.model.latency import Paradigm

BUSY_QUEUE_S = 0.3
"""A queue that never was shorter than what arrives in this time has kept the segment busy."""
LEAST_BUSY_QUEUE = 1_000
_RECENT = 40
"""Micro-batches from which the cost of scheduling is taken."""


@dataclass(frozen=True)
class Counts:
    """Records since the topics were made, at one time."""

    time_s: float
    arrived: int
    """In the source."""
    processed: int
    """Of these, those whose results, if any, are in the sink."""
    emitted: int
    """In the sink."""
    delay_s: float | None = None
    """From the time of the last record that was processed to the time of its result."""

    @property
    def queue(self) -> int:
        return max(0, self.arrived - self.processed)


@dataclass(frozen=True)
class Batch:
    """A finished micro-batch."""

    records: int
    seconds: float


@dataclass
class SegmentMonitor:
    """Turns counts into observations and estimates."""

    partitions: int
    estimates: Estimates = field(default_factory=Estimates)
    last: Counts | None = None
    batches: list[Batch] = field(default_factory=list)
    processed_per_s: float | None = None
    """Between the last two looks."""

    @property
    def queue(self) -> float:
        """L. Records without a result are silent: the last few may be done."""
        if self.last is None:
            return 0.0
        out = self.estimates.magnification.value
        silent = self.partitions * (2 / out if out else 0.0)
        return max(0.0, self.last.queue - silent)

    def restarted(self) -> None:
        """After a switch: the time of the gap is no observation."""
        self.last = None

    def seen(self, counts: Counts, paradigm: Paradigm, finished: Sequence[Batch] = ()) -> None:
        """One more look; micro-batches that have finished since the last one."""
        before, self.last = self.last, counts
        if finished:
            self.batches = [*self.batches, *finished][-_RECENT:]
        if before is None or counts.time_s <= before.time_s:
            return
        elapsed_s = counts.time_s - before.time_s
        arrived = max(0, counts.arrived - before.arrived)
        emitted = max(0, counts.emitted - before.emitted)
        processed = max(0, counts.processed - before.processed)
        self.processed_per_s = processed / elapsed_s
        busy_s: float | None = None
        schedule_s: float | None = None
        if paradigm is Paradigm.DATA:
            least = max(LEAST_BUSY_QUEUE, arrived / elapsed_s * BUSY_QUEUE_S)
            busy_s = elapsed_s if min(before.queue, counts.queue) > least else None
        elif finished:
            schedule_s = scheduling_s(self.batches, self.estimates.schedule.value)
            total_s = sum(batch.seconds for batch in finished)
            busy_s = total_s - schedule_s * len(finished)
            processed = sum(batch.records for batch in finished)
        transmission_s = counts.delay_s if paradigm is Paradigm.DATA and busy_s is None else None
        self.estimates = self.estimates.updated(
            Observation(
                time_s=counts.time_s,
                elapsed_s=elapsed_s,
                paradigm=paradigm,
                arrived=arrived,
                processed=processed,
                emitted=emitted,
                busy_s=busy_s if busy_s is None or busy_s > 0 else None,
                schedule_s=schedule_s,
                batches=len(finished) or 1,
                transmission_s=transmission_s,
            )
        )


def scheduling_s(batches: Sequence[Batch], known_s: float | None = None) -> float:
    """t_s: what a micro-batch takes however few records it has.

    The part of the duration that does not grow with the records, by least squares; where all have
    about as many records, what is known already. It is never longer than the shortest batch.
    """
    shortest_s = min(batch.seconds for batch in batches)
    records = np.array([batch.records for batch in batches], dtype=float)
    if records.max() < 2 * records.min() or len(batches) < 3:
        return shortest_s if known_s is None else min(shortest_s, known_s)
    seconds = np.array([batch.seconds for batch in batches])
    slope = float(np.cov(records, seconds, bias=True)[0, 1] / records.var())
    return float(np.clip(seconds.mean() - slope * records.mean(), 0.0, shortest_s))


_LEAST_WORK = 0.1
"""The share of a large micro-batch that is at least spent on its records, not on scheduling."""


def rehearsed_speed(small: Sequence[Batch], large: Sequence[Batch]) -> tuple[float, float]:
    """t_s in seconds and PO in records per second, of micro-batches of two sizes.

    Of each size the fastest counts: while the JVM compiles, a micro-batch can take several times as
    long as it will, and never less.
    """
    few = min(small, key=lambda batch: batch.seconds)
    many = min(large, key=lambda batch: batch.seconds)
    per_record_s = (many.seconds - few.seconds) / max(1, many.records - few.records)
    per_record_s = max(per_record_s, _LEAST_WORK * many.seconds / many.records)
    return max(0.0, few.seconds - few.records * per_record_s), 1 / per_record_s
