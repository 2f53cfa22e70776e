"""The FIFO queue of a driver instance: generated ahead, released on schedule, kept until committed.

Positions in the queue are times: microseconds of the schedule. The schedule turns a time into a
sequence number, so one number describes the same moment in every driver instance. A consumer that
advances all instances to one time reads none of them further than the others.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass

import pyarrow as pa

from streamgauge.driver.schedules.instance import InstanceSchedule


@dataclass(frozen=True)
class Block:
    """Neighbouring events as they were generated."""

    first: int
    last: int
    batch: pa.RecordBatch


class AlreadyCommitted(Exception):
    """Events were asked for that are committed and no longer in memory."""


class DriverQueue:
    """Thread-safe; the generator pushes blocks, the channel reads the head, takes and commits."""

    def __init__(self, times: InstanceSchedule) -> None:
        self.generated = 0
        self.drained = 0
        """Events that were handed to the system."""
        self.end_us = times.duration_us
        """The end of the load: that of the schedule, or where it was cut."""
        self._times = times
        self._blocks: deque[Block] = deque()
        self._committed = 0
        self._lock = threading.Lock()

    def push(self, block: Block) -> None:
        with self._lock:
            if block.first != self.generated:
                raise ValueError(f"expected event {self.generated}, got {block.first}")
            self._blocks.append(block)
            self.generated = block.last

    def cut(self, end_us: int) -> None:
        """Ends the load early; released events stay released."""
        with self._lock:
            self.end_us = min(self.end_us, end_us)

    def released_until_us(self, now_us: int) -> int:
        """The time up to which every event can be handed out: now, unless the generator is late."""
        wanted = max(0, min(now_us, self.end_us))
        generated = self.generated
        if generated >= self._times.total:
            return wanted
        return min(wanted, self._times.time_us(generated))

    def head_us(self, now_us: int, after_us: int = 0, max_events: int | None = None) -> int:
        """How far a consumer may go that has read up to `after_us`: at most `max_events` more."""
        head = self.released_until_us(now_us)
        if max_events is None:
            return head
        last = self._times.count_before(after_us) + max_events
        if last >= self._times.total:
            return head
        # At least one microsecond, or a limit below the events of one moment would stall.
        return min(head, max(self._times.time_us(last), after_us + 1))

    def take(self, from_us: int, until_us: int) -> list[Block]:
        """The events of [from_us, until_us), in order; the same range gives the same events."""
        first, last = self._times.count_before(from_us), self._times.count_before(until_us)
        with self._lock:
            if last > self.generated:
                raise ValueError(f"event {last - 1} is not generated yet")
            if first < self._committed and first < last:
                raise AlreadyCommitted(
                    f"events from {first} were asked for, those before {self._committed} are "
                    "committed and gone"
                )
            self.drained = max(self.drained, last)
            blocks = list(self._blocks)
        begin = bisect_right(blocks, first, key=lambda block: block.last)
        touched = [block for block in blocks[begin:] if block.first < last]
        return [_cut(block, first, last) for block in touched] if first < last else []

    def commit(self, until_us: int) -> None:
        """Removes what lies before: the system will not ask for it again."""
        with self._lock:
            self._committed = max(self._committed, self._times.count_before(until_us))
            while self._blocks and self._blocks[0].last <= self._committed:
                self._blocks.popleft()


def _cut(block: Block, first: int, last: int) -> Block:
    low, high = max(first, block.first), min(last, block.last)
    return Block(low, high, block.batch.slice(low - block.first, high - low))
