"""The input of a finished run, regenerated for the oracles.

Events are a pure function of the seed, so nothing was stored. A replay has the number of events
that each driver instance offered, and regenerates them by time or by sequence number in any
process, also inside a Spark task.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from streamgauge.driver.config import Load, LoadConfig
from streamgauge.events.spec import BROKER_TIME, EVENT_TIME
from streamgauge.events.stream import BLOCK

Columns = dict[str, NDArray[np.int64]]
SLICE = 8 * BLOCK
"""Events that are made at once: few enough for the cache of a core, enough to be fast."""


@dataclass(frozen=True)
class Slice:
    """Neighbouring events of one driver instance."""

    instance: int
    first: int
    last: int


@dataclass(frozen=True)
class Replay:
    """The events that were offered, and when the load began."""

    load: LoadConfig
    start_us: int
    offered: tuple[int, ...]
    """Events offered by each driver instance."""
    log: Path | None = None
    """A folder for each stream in the time of a broker: what the broker has, as Parquet parts."""

    @cached_property
    def built_load(self) -> Load:
        return self.load.build()

    def __reduce__(self) -> tuple[type[Replay], tuple[object, ...]]:
        """Without the built load: the tables of the schedules are not sent to a Spark task."""
        return Replay, (self.load, self.start_us, self.offered, self.log)

    @cached_property
    def frontier_us(self) -> int:
        """The time, since 1970, up to which the input is complete."""
        return self.reached_us - self.load.watermark_delay_us

    @cached_property
    def reached_us(self) -> int:
        """The time, since 1970, that every stream has reached: the least of their highest times."""
        return min(
            self._log_reached_us(stream)
            if stream in self.load.in_broker_time
            else self.start_us + max(self._highest_us(i) for i in self.load.instances_of(stream))
            for stream in self.load.streams
        )

    def log_parts(self, stream: str) -> list[str]:
        """The files of the log of a stream."""
        assert self.log is not None, "the channel has kept no log"
        return sorted(map(str, (self.log / stream).glob("part-*.parquet")))

    def _log_reached_us(self, stream: str) -> int:
        tables = [pq.read_table(part, columns=[BROKER_TIME]) for part in self.log_parts(stream)]
        return int(pc.max(pa.concat_tables(tables)[BROKER_TIME]).as_py()) if tables else 0

    def slices(self, stream: str) -> list[Slice]:
        """The whole stream in pieces of about equal size."""
        return [
            Slice(instance, first, min(first + SLICE, self.offered[instance]))
            for instance in self.load.instances_of(stream)
            for first in range(0, self.offered[instance], SLICE)
        ]

    def batch(self, part: Slice) -> pa.RecordBatch:
        """Events as the system saw them."""
        events = self.built_load.feeds[part.instance].events
        return events.batch(part.first, part.last, self.start_us)

    def fingerprint(self, part: Slice) -> int:
        """Of the events of a slice; those of all slices add up to that of the driver."""
        return self.built_load.feeds[part.instance].events.fingerprint(part.first, part.last)

    def columns(self, part: Slice, names: tuple[str, ...]) -> Columns:
        """Columns as numbers; the event time in microseconds since 1970."""
        return columns_of(self.batch(part), (EVENT_TIME, *names))

    def between(self, stream: str, from_us: int, until_us: int, names: tuple[str, ...]) -> Columns:
        """All events of a stream whose event time lies in [from_us, until_us), since 1970."""
        pieces: list[Columns] = []
        for part in self._covering(stream, from_us - self.start_us, until_us - self.start_us):
            columns = self.columns(part, names)
            times = columns[EVENT_TIME]
            inside = (times >= from_us) & (times < until_us)
            pieces.append({name: values[inside] for name, values in columns.items()})
        nothing = np.empty(0, dtype=np.int64)
        return {
            name: np.concatenate([nothing, *(piece[name] for piece in pieces)])
            for name in (EVENT_TIME, *names)
        }

    def _covering(self, stream: str, from_us: int, until_us: int) -> Iterator[Slice]:
        # An event is offered up to `disorder_us` after its event time.
        for instance in self.load.instances_of(stream):
            times = self.built_load.feeds[instance].times
            first = times.count_before(max(0, from_us))
            last = times.count_before(max(0, until_us + self.load.disorder_us))
            last = min(last, self.offered[instance])
            for begin in range(first, last, SLICE):
                yield Slice(instance, begin, min(begin + SLICE, last))

    def _highest_us(self, instance: int) -> int:
        """Highest event time that the instance offered, in the time of the schedule."""
        offered = self.offered[instance]
        if not offered:
            return 0
        times = self.built_load.feeds[instance].times
        # No earlier event can have a higher event time.
        first = times.count_before(times.time_us(offered - 1) - self.load.disorder_us)
        columns = self.columns(Slice(instance, min(first, offered - 1), offered), ())
        return int(columns[EVENT_TIME].max()) - self.start_us


def columns_of(batch: pa.RecordBatch, names: Sequence[str]) -> Columns:
    """Columns of a batch as NumPy arrays; times in microseconds since 1970."""
    columns = {name: batch.column(name) for name in names}
    return {
        name: (one.cast(pa.int64()) if pa.types.is_timestamp(one.type) else one).to_numpy(False)
        for name, one in columns.items()
    }
