"""The FIFO queue of a driver instance: generated ahead, released on schedule, kept until committed.

Positions in the queue are times: microseconds of the schedule. The schedule turns a time into a
sequence number, so one number describes the same moment in every driver instance, and a consumer
that advances all instances to one time can never let one of them overtake another.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa


class InstanceTimes(Protocol):
    """What the queue needs to know of the schedule of its instance."""

    @property
    def total(self) -> int: ...

    @property
    def duration_us(self) -> int: ...

    def time_us(self, sequence: int) -> int: ...

    def count_before(self, time_us: int) -> int: ...


@dataclass(frozen=True)
class Block:
    """Neighbouring events as they were generated."""

    first: int
    last: int
    batch: pa.RecordBatch


class AlreadyCommitted(Exception):
    """Somebody asks for events that were committed and are gone."""


class DriverQueue:
    """Thread-safe; the generator pushes blocks, the channel looks, takes and commits."""

    def __init__(self, times: InstanceTimes) -> None:
        self._times = times
        self._blocks: deque[Block] = deque()
        self._generated = 0
        self._drained = 0
        self._committed = 0
        self._end_us = times.duration_us
        self._lock = threading.Lock()

    @property
    def generated(self) -> int:
        return self._generated

    @property
    def end_us(self) -> int:
        """The load ends here: at the end of the schedule, or where it was cut short."""
        return self._end_us

    @property
    def drained(self) -> int:
        """How many events the system has been handed."""
        return self._drained

    def push(self, block: Block) -> None:
        with self._lock:
            if block.first != self._generated:
                raise ValueError(f"expected event {self._generated}, got {block.first}")
            self._blocks.append(block)
            self._generated = block.last

    def cut(self, end_us: int) -> None:
        """Ends the load early; what has been released already stays released."""
        with self._lock:
            self._end_us = min(self._end_us, end_us)

    def released_until_us(self, now_us: int) -> int:
        """The moment up to which every event can be handed out: now, unless we are late."""
        wanted = max(0, min(now_us, self._end_us))
        generated = self._generated
        if generated >= self._times.total:
            return wanted
        return min(wanted, self._times.time_us(generated))

    def head_us(self, now_us: int, after_us: int = 0, max_events: int | None = None) -> int:
        """How far a consumer that stands at `after_us` may go, at most `max_events` further."""
        head = self.released_until_us(now_us)
        if max_events is None:
            return head
        last = self._times.count_before(after_us) + max_events
        if last >= self._times.total:
            return head
        # At least one step of the clock, or a limit below the events of one moment would stall.
        return min(head, max(self._times.time_us(last), after_us + 1))

    def take(self, from_us: int, until_us: int) -> list[Block]:
        """The events of [from_us, until_us), in order; asking again gives the same again."""
        first, last = self._times.count_before(from_us), self._times.count_before(until_us)
        with self._lock:
            if last > self._generated:
                raise ValueError(f"event {last - 1} is not generated yet")
            if first < self._committed and first < last:
                raise AlreadyCommitted(
                    f"events from {first} were asked for, those before {self._committed} are "
                    "committed and gone"
                )
            self._drained = max(self._drained, last)
            blocks = list(self._blocks)
        return [_cut(block, first, last) for block in _touching(blocks, first, last)]

    def commit(self, until_us: int) -> None:
        """The system will never ask again for what lies before: forget it."""
        with self._lock:
            self._committed = max(self._committed, self._times.count_before(until_us))
            while self._blocks and self._blocks[0].last <= self._committed:
                self._blocks.popleft()


def _touching(blocks: list[Block], first: int, last: int) -> list[Block]:
    if first >= last:
        return []
    begin = bisect_right(blocks, first, key=lambda block: block.last)
    return [block for block in blocks[begin:] if block.first < last]


def _cut(block: Block, first: int, last: int) -> Block:
    low, high = max(first, block.first), min(last, block.last)
    return Block(low, high, block.batch.slice(low - block.first, high - low))
