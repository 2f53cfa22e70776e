"""Reads what a topic has after the load: every message, with its place and the broker's time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from streamgauge.channels.kafka.client import Setting, client_settings
from streamgauge.events.spec import BROKER_TIME, MESSAGE, MESSAGE_KEY, OFFSET, PARTITION
from streamgauge.models import StrictModel
from streamgauge.parts import PartWriter

MOST_AT_ONCE = 10_000
REQUEST_TIMEOUT_S = 10.0
LATEST_S = 3.0
LOOK_EVERY_S = 0.1
"""How long, and how often, the end of a log that lacks messages is looked at."""
QUIET_S = 30.0
"""A broker that gives nothing for so long does not have what it should."""


class TopicLog(StrictModel):
    """The messages of a topic from the offsets of its partitions on."""

    topic: str
    begins: list[int]
    sent: int = 0
    """So many are waited for: without acknowledgements the broker may have some of them later."""


class LogConfig(StrictModel):
    streams: dict[str, TopicLog]
    folder: Path
    """Gets a folder for each stream."""
    client: dict[str, Setting]


def next_offsets(client: dict[str, Setting], topic: str, partitions: int) -> list[int]:
    """The offset of the next message of each partition."""
    from confluent_kafka import Consumer

    consumer = Consumer({**client_settings(client), "group.id": f"{topic}-log"})
    try:
        return _ends(consumer, topic, partitions)
    finally:
        consumer.close()


def read_logs(config: LogConfig, tell: Callable[[int], None] = lambda _: None) -> int:
    """Writes the messages of every topic as Parquet parts; their number."""
    from confluent_kafka import Consumer

    read = 0
    for stream, log in config.streams.items():
        writer = PartWriter(config.folder / stream)
        settings = {**client_settings(config.client), "group.id": f"{log.topic}-log"}
        consumer = Consumer({**settings, "enable.auto.commit": False})
        try:
            for messages in _messages(consumer, log):
                writer.append(message_columns(messages))
                read += len(messages)
                tell(read)
        finally:
            consumer.close()
        writer.flush()
    return read


def message_columns(messages: list[Any]) -> pa.RecordBatch:
    """Message, key, time and place of each."""
    values = [message.value() or b"" for message in messages]
    keys = [message.key() for message in messages]
    return pa.record_batch(
        {
            MESSAGE: pa.array(values, pa.binary()).cast(pa.string()),
            MESSAGE_KEY: pa.array(keys, pa.binary()).cast(pa.string()),
            BROKER_TIME: pa.array([one.timestamp()[1] * 1_000 for one in messages], pa.int64()),
            PARTITION: pa.array([one.partition() for one in messages], pa.int32()),
            OFFSET: pa.array([one.offset() for one in messages], pa.int64()),
        }
    )


def _messages(consumer: Any, log: TopicLog) -> Iterator[list[Any]]:
    """Everything that the topic has now."""
    from confluent_kafka import TopicPartition

    ends = _ends_of_all(consumer, log)
    consumer.assign([TopicPartition(log.topic, n, at) for n, at in enumerate(log.begins)])
    places, heard_s = list(log.begins), time.monotonic()
    while any(place < end for place, end in zip(places, ends, strict=True)):
        found = [one for one in consumer.consume(MOST_AT_ONCE, timeout=0.5) if one.error() is None]
        for message in found:
            places[message.partition()] = message.offset() + 1
        # What came after the end was asked for is not a part of the load.
        wanted = [one for one in found if one.offset() < ends[one.partition()]]
        if wanted:
            heard_s = time.monotonic()
            yield wanted
        elif time.monotonic() > heard_s + QUIET_S:
            raise RuntimeError(f"the broker has not given all messages of {log.topic}")


def _ends_of_all(consumer: Any, log: TopicLog) -> list[int]:
    """The ends when everything that was sent is there, or when nothing has come for a while."""
    found, changed_s = _ends(consumer, log.topic, len(log.begins)), time.monotonic()
    while sum(found) < sum(log.begins) + log.sent and time.monotonic() < changed_s + LATEST_S:
        time.sleep(LOOK_EVERY_S)
        now = _ends(consumer, log.topic, len(log.begins))
        if now != found:
            found, changed_s = now, time.monotonic()
    return found


def _ends(consumer: Any, topic: str, partitions: int) -> list[int]:
    from confluent_kafka import TopicPartition

    return [
        consumer.get_watermark_offsets(TopicPartition(topic, n), timeout=REQUEST_TIMEOUT_S)[1]
        for n in range(partitions)
    ]
