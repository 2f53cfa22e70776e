"""Events as a pure function of seed, driver instance and sequence number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import pyarrow as pa
import xxhash
from numpy.typing import NDArray

from streamgauge.events.numbers import BLOCK as BLOCK
from streamgauge.events.numbers import MASK, InstanceShare
from streamgauge.events.sources import Drawn, EventSource


class Clock(Protocol):
    """When the events of one driver instance are due, in microseconds since the load began."""

    def times_us(self, first: int, last: int) -> NDArray[np.int64]: ...


@dataclass(frozen=True)
class EventStream:
    """The events of one driver instance."""

    source: EventSource
    clock: Clock
    seed: int
    instance: int
    disorder_us: int = 0
    """An event is offered at its due time and happened up to this much earlier."""
    part: int = 0
    parts: int = 1
    """The instance is number `part` of the `parts` instances that offer the same stream."""

    @cached_property
    def _share(self) -> InstanceShare:
        return InstanceShare(self.seed, self.instance, self.part, self.parts)

    @property
    def schema(self) -> pa.Schema:
        return self.source.schema

    def batch(self, first: int, last: int, start_us: int = 0) -> pa.RecordBatch:
        """The events [first, last); `start_us` is the wall-clock time at which the load began."""
        pieces = [self._block(*place) for place in _blocks(first, last)]
        if len(pieces) == 1:
            return self._record_batch(pieces[0][0] + start_us, pieces[0][1])
        times = np.concatenate([times for times, _ in pieces])
        columns = zip(*(drawn for _, drawn in pieces), strict=True)
        return self._record_batch(times + start_us, [np.concatenate(one) for one in columns])

    def fingerprint(self, first: int, last: int) -> int:
        """A 64-bit hash of the events [first, last), without wall-clock time.

        Fingerprints of neighbouring ranges add up (modulo 2^64) to that of the whole when they
        meet at a block border, so blocks can be hashed in any order and in parallel.
        """
        places = _blocks(first, last)
        return sum(self._hash(place[0], *self._block(*place)) for place in places) & MASK

    def batch_and_fingerprint(
        self, first: int, last: int, start_us: int
    ) -> tuple[pa.RecordBatch, int]:
        """Both at once, for a range inside one block: the numbers are drawn only once."""
        (block, low, high), *rest = _blocks(first, last)
        if rest:
            raise ValueError("the range must lie inside one block")
        times, drawn = self._block(block, low, high)
        return self._record_batch(times + start_us, drawn), self._hash(block, times, drawn)

    def _record_batch(self, times: NDArray[np.int64], drawn: Drawn) -> pa.RecordBatch:
        arrays = [pa.array(times, type=pa.timestamp("us", tz="UTC")), *self.source.decode(drawn)]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _block(self, block: int, low: int, high: int) -> tuple[NDArray[np.int64], Drawn]:
        """Event times and drawn numbers of the places [low, high) of one block."""
        times = self.clock.times_us(block * BLOCK + low, block * BLOCK + high)
        if self.disorder_us:
            random = self._share.random(block, self.source.random_columns, low, high)
            behind = (random * np.uint64(self.disorder_us + 1)) >> np.uint64(32)
            times = times - behind.astype(np.int64)
        return times, self.source.draw(self._share, block, low, high)

    def _hash(self, block: int, times: NDArray[np.int64], drawn: Drawn) -> int:
        digest = xxhash.xxh3_64(seed=block)
        digest.update(np.array([self.instance, len(times)], dtype="<i8").data)
        digest.update(np.ascontiguousarray(times, dtype="<i8").data)
        for values in drawn:
            digest.update(np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).data)
        return digest.intdigest()


def _blocks(first: int, last: int) -> Iterator[tuple[int, int, int]]:
    """The blocks that [first, last) touches, each with its places inside the range."""
    if last <= first:
        yield first // BLOCK, first % BLOCK, first % BLOCK
        return
    for block in range(first // BLOCK, (last - 1) // BLOCK + 1):
        base = block * BLOCK
        yield block, max(first - base, 0), min(last - base, BLOCK)
