"""Where a segment without state goes on: behind the last result that it has sent.

Its results are in the partition of their record and in the order of the records, and tell its
offset. So the end of the output says what is done, whichever way the run before has ended.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from streamgauge.dual.spark.segment import Segment
from streamgauge.dual.topics import SOURCE, TIMEOUT_S, Tail, Topics

SETTLE_S = 0.1
"""A stopped query may have messages in its buffer for 5 ms more, and on the way."""
LONGEST_SETTLE_S = 10.0


def settled_tails(topics: Topics, topic: str, partitions: int) -> dict[int, Tail]:
    """The ends of an output topic that nobody writes any more."""
    deadline = time.monotonic() + LONGEST_SETTLE_S
    tails = topics.tails(topic, partitions)
    while time.monotonic() < deadline:
        time.sleep(SETTLE_S)
        again = topics.tails(topic, partitions)
        if again == tails:
            break
        tails = again
    return tails


def position(
    topics: Topics,
    segment: Segment,
    tails: Mapping[int, Tail],
    begin: Mapping[int, int],
    committed: Mapping[int, int],
) -> dict[int, int]:
    """The offset of the next record of each partition.

    `begin` is where the pipeline has begun, `committed` what Spark has logged as done. Sends what
    is missing of the results of the last record, if a record may have several.
    """
    offsets = {number: max(committed.get(number, 0), first) for number, first in begin.items()}
    last = {
        number: tail.source
        for number, tail in tails.items()
        if tail.source is not None and tail.source >= offsets[number]
    }
    if segment.steps.multiplying and last:
        _complete(topics, segment, tails, last)
    return {**offsets, **{number: offset + 1 for number, offset in last.items()}}


def _complete(
    topics: Topics, segment: Segment, tails: Mapping[int, Tail], last: Mapping[int, int]
) -> None:
    from confluent_kafka import Producer

    missing = segment.messages_of(last).collect()
    producer: Any = None
    for number, offset in last.items():
        there = Counter(topics.same_source(segment.sink, number, tails[number].end))
        for row in missing:
            if row["partition"] != number:
                continue
            value = _bytes(row["value"])
            if there[value]:
                there[value] -= 1
                continue
            producer = producer or Producer({**topics.settings, "acks": "all"})
            key = _bytes(row["key"]) if "key" in row else None
            headers = {SOURCE: str(offset)}
            producer.produce(segment.sink, value, key, partition=number, headers=headers)
    if producer is not None:
        producer.flush(TIMEOUT_S)


def _bytes(value: Any) -> bytes | None:
    return value.encode() if isinstance(value, str) else None if value is None else bytes(value)
