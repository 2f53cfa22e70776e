"""The findings of a run without a system: the log of the broker is compared with what was sent.

Part by part and with arrays, because a log may have a hundred million messages: each is counted by
its id, and its line and time are compared with those of the event made again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from streamgauge.events.sources import EVENT_TIME, LINE
from streamgauge.events.spec import BROKER_TIME, MESSAGE, PARTITION
from streamgauge.measure.array_latency import event_time_latency
from streamgauge.measure.ingestion import FIRST_RECORDS, PerSecond, append_steps, rates
from streamgauge.measure.log_checks import times_back
from streamgauge.measure.record import RunRecord
from streamgauge.measure.summary import Validation
from streamgauge.measure.validation import input_matches
from streamgauge.queries.base import Query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FORM = r"^\d{1,18};\d{1,18};"
_MOST_COUNTED = 255
"""A message that is there more often is counted as being there so often."""
Whole = NDArray[np.int64]


class _Part(NamedTuple):
    """Messages of our form, in one file of the log."""

    numbers: Whole
    """Their ids."""
    sent_us: Whole
    appended_us: Whole
    lines: pa.Array
    messages: pa.Array
    partitions: Whole
    foreign: int
    """Messages of another form."""


def log_findings(spark: SparkSession, record: RunRecord, query: Query) -> dict[str, Any]:
    """The fields of `Findings`."""
    (stream,) = record.load.streams
    parts = [Path(part) for part in record.replay.log_parts(stream)]
    counted, per_second, first = _Counted(record, stream), PerSecond(), _FirstRecords(record)
    seconds, latencies = [np.zeros(0, np.int32)], [np.zeros(0)]
    for part in map(_read, parts):
        counted.add(part)
        appended_us = part.appended_us - record.start_us
        sizes = pc.binary_length(part.messages).to_numpy(zero_copy_only=False)
        per_second.add(appended_us, sizes.astype(np.int64))
        first.add(part.partitions, appended_us)
        seconds.append(((part.sent_us - record.start_us) // 1_000_000).astype(np.int32))
        latencies.append((part.appended_us - part.sent_us) / 1_000)
    warm_up_s = record.warm_up_us / 1e6
    latency, drawn, histogram = event_time_latency(
        np.concatenate(seconds), np.concatenate(latencies), warm_up_s
    )
    series = per_second.series(record.end_us)
    records, step_ms = append_steps(first.times_us)
    found = rates(series, record.warm_up_us, record.load.rate_per_s)
    return {
        "latency": latency,
        "series": drawn,
        "histogram": histogram,
        "ingestion": found.model_copy(update={"records_per_step": records, "step_ms": step_ms}),
        "ingestion_series": series,
        "append_times_ms": [float(one) / 1_000 for one in first.since_the_first_us],
        "validation": counted.validation.model_copy(
            update={
                "oracle": query.oracle_is,
                "input_matches": input_matches(spark, record),
                "times_back": times_back([part.parent for part in parts[:1]]),
            }
        ),
    }


def _read(path: Path) -> _Part:
    table = pq.read_table(path, columns=[MESSAGE, BROKER_TIME, PARTITION]).combine_chunks()
    ours = table.filter(pc.match_substring_regex(table[MESSAGE], _FORM))
    messages = _array(ours[MESSAGE])
    fields = pc.split_pattern(messages, ";", max_splits=2).flatten().to_numpy(zero_copy_only=False)
    # Three fields each: id, time and line.
    return _Part(
        numbers=_numbers(fields[0::3]),
        sent_us=_numbers(fields[1::3]),
        appended_us=ours[BROKER_TIME].to_numpy(),
        lines=pa.array(fields[2::3], pa.string()),
        messages=messages,
        partitions=ours[PARTITION].to_numpy(),
        foreign=table.num_rows - ours.num_rows,
    )


def _array(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


def _numbers(texts: NDArray[Any]) -> Whole:
    return np.asarray(pa.array(texts, pa.string()).cast(pa.int64()).to_numpy())


class _Counted:
    """How often each event that was sent is in the log, and which messages differ from theirs."""

    def __init__(self, record: RunRecord, stream: str) -> None:
        self._start_us = record.start_us
        load = record.replay.built_load
        # An event with the id n was sent by the sender n modulo their number.
        self._senders = [load.feeds[number].events for number in load.instances_of(stream)]
        self._seen = [
            np.zeros(record.instances[number].offered, np.uint8)
            for number in load.instances_of(stream)
        ]
        self._actual = self._extra = self._wrong = 0

    def add(self, part: _Part) -> None:
        self._actual += len(part.numbers) + part.foreign
        self._extra += part.foreign
        for sender, seen in enumerate(self._seen):
            places = np.flatnonzero(part.numbers % len(self._seen) == sender)
            own = part.numbers[places] // len(self._seen)
            known = own < len(seen)
            self._extra += int((~known).sum())
            places, own = places[known], own[known]
            found, counts = np.unique(own, return_counts=True)
            total = seen[found].astype(np.int64) + counts
            seen[found] = np.minimum(total, _MOST_COUNTED).astype(np.uint8)
            if len(own):
                self._wrong += self._differing(sender, own, part, places)

    def _differing(self, sender: int, own: Whole, part: _Part, places: Whole) -> int:
        first, last = int(own.min()), int(own.max()) + 1
        events = self._senders[sender].batch(first, last, self._start_us)
        rows = pa.array(own - first)
        sent_us = events.column(EVENT_TIME).cast(pa.int64()).take(rows).to_numpy()
        lines = pc.equal(events.column(LINE).take(rows), part.lines.take(pa.array(places)))
        same = lines.to_numpy(zero_copy_only=False) & (sent_us == part.sent_us[places])
        return int((~same).sum())

    @property
    def validation(self) -> Validation:
        return Validation(
            expected=sum(len(seen) for seen in self._seen),
            actual=self._actual,
            missing=sum(int((seen == 0).sum()) for seen in self._seen),
            extra=self._extra,
            duplicate=sum(int((seen[seen > 1].astype(np.int64) - 1).sum()) for seen in self._seen),
            wrong=self._wrong,
        )


class _FirstRecords:
    """The append times of the first messages after the warm-up, of one partition."""

    def __init__(self, record: RunRecord) -> None:
        self._from_us = record.warm_up_us
        self._partition: int | None = None
        self.times_us: Whole = np.zeros(0, np.int64)

    def add(self, partitions: Whole, times_us: Whole) -> None:
        if self._partition is None and len(partitions):
            self._partition = int(partitions[0])
        found = times_us[(times_us >= self._from_us) & (partitions == self._partition)]
        wanted = FIRST_RECORDS - len(self.times_us)
        self.times_us = np.concatenate([self.times_us, found[:wanted]])

    @property
    def since_the_first_us(self) -> Iterator[int]:
        return (int(one) - int(self.times_us[0]) for one in self.times_us)
