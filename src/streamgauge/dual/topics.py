"""Topics of a Kafka cluster: where they end, what their last messages tell, and their making."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from streamgauge.errors import StreamgaugeError

SOURCE = "dual-source"
"""The header of a message that tells the offset, or the time, of the record that it comes from."""
TIMEOUT_S = 30.0
_STEP = 64
"""Messages that are read at once, backwards."""


@dataclass(frozen=True)
class Tail:
    """The end of one partition of an output topic."""

    end: int
    """The offset of the next message."""
    source: int | None
    """What the header of the last message tells; None: there is no message, or no header."""
    time_us: int | None
    """When the last message was sent."""


class Topics:
    """A client of the cluster; for one thread."""

    def __init__(self, brokers: str, client: Mapping[str, Any] | None = None) -> None:
        from confluent_kafka import Consumer
        from confluent_kafka.admin import AdminClient

        self.settings: dict[str, Any] = {"bootstrap.servers": brokers, **(client or {})}
        # An address where nobody listens is tried many times a second, and each is logged.
        quiet = {**self.settings, "log_level": 0}
        self._admin = AdminClient(quiet)
        self._consumer = Consumer(
            {
                **quiet,
                "group.id": "streamgauge-dual",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 10,
            }
        )

    def close(self) -> None:
        self._consumer.close()

    def partitions(self, topic: str) -> int | None:
        """None: there is no such topic."""
        from confluent_kafka import KafkaException

        try:
            found = self._admin.list_topics(topic, TIMEOUT_S).topics.get(topic)
        except KafkaException:
            raise StreamgaugeError(
                f"no broker answers at {self.settings['bootstrap.servers']}",
                fix="check the address, and that the broker is up",
            ) from None
        return len(found.partitions) if found is not None and found.error is None else None

    def make(self, topic: str, partitions: int) -> None:
        from confluent_kafka.cimpl import NewTopic

        for future in self._admin.create_topics([NewTopic(topic, partitions)]).values():
            future.result(TIMEOUT_S)
        # A broker names a new topic before it answers for all of its partitions.
        deadline = time.monotonic() + TIMEOUT_S
        while not self._answers(topic, partitions):
            if time.monotonic() > deadline:
                raise _silent(topic)
            time.sleep(0.05)

    def delete(self, topics: Iterable[str]) -> None:
        if names := list(topics):
            for future in self._admin.delete_topics(names).values():
                future.result(TIMEOUT_S)

    def ends(self, topic: str, partitions: int) -> dict[int, int]:
        """The offset of the next message of each partition."""
        return {number: self._bounds(topic, number)[1] for number in range(partitions)}

    def starts(self, topic: str, partitions: int) -> dict[int, int]:
        """The offset of the first message of each partition that is still there."""
        return {number: self._bounds(topic, number)[0] for number in range(partitions)}

    def tails(self, topic: str, partitions: int) -> dict[int, Tail]:
        """The ends, with what the last messages tell."""
        return {number: self._tail(topic, number) for number in range(partitions)}

    def same_source(self, topic: str, partition: int, end: int) -> list[bytes | None]:
        """The values of the last messages before `end` that come from one and the same record."""
        found: list[bytes | None] = []
        source: int | None = None
        first = self._bounds(topic, partition)[0]
        while end > first:
            begin = max(first, end - _STEP)
            for message in reversed(self._read(topic, partition, begin, end)):
                told = _source(message)
                source = told if source is None else source
                if told != source:
                    return found
                found.append(message.value())
            end = begin
        return found

    def first_time_us(self, topic: str, froms: Mapping[int, int]) -> int | None:
        """The earliest time of a message at these offsets, or None if there is none yet."""
        times = [
            messages[0].timestamp()[1] * 1_000
            for partition, offset in froms.items()
            if self._bounds(topic, partition)[1] > offset
            and (messages := self._read(topic, partition, offset, offset + 1))
        ]
        return min(times, default=None)

    def count_until(self, topic: str, partitions: int, time_us: int) -> int:
        """The number of messages that were sent up to that time, since the topic was made."""
        from confluent_kafka import TopicPartition

        after_ms = time_us // 1_000 + 1
        asked = [TopicPartition(topic, number, after_ms) for number in range(partitions)]
        found = self._consumer.offsets_for_times(asked, timeout=TIMEOUT_S)
        ends = self.ends(topic, partitions)
        return sum(one.offset if one.offset >= 0 else ends[one.partition] for one in found)

    def delete_before(self, topic: str, offsets: Mapping[int, int]) -> None:
        """Frees what nobody will read again."""
        from confluent_kafka import TopicPartition

        asked = [TopicPartition(topic, number, at) for number, at in offsets.items() if at > 0]
        for future in self._admin.delete_records(asked).values() if asked else ():
            future.result(TIMEOUT_S)

    def _answers(self, topic: str, partitions: int) -> bool:
        from confluent_kafka import KafkaException

        try:
            self._consumer.list_topics(topic, TIMEOUT_S)
            self.ends(topic, partitions)
        except KafkaException:
            return False
        return True

    def _bounds(self, topic: str, partition: int) -> tuple[int, int]:
        from confluent_kafka import TopicPartition

        place = TopicPartition(topic, partition)
        low, high = self._consumer.get_watermark_offsets(place, timeout=TIMEOUT_S)
        return int(low), int(high)

    def _tail(self, topic: str, partition: int) -> Tail:
        low, end = self._bounds(topic, partition)
        messages = self._read(topic, partition, end - 1, end) if end > low else []
        if not messages:
            return Tail(end, None, None)
        last = messages[-1]
        return Tail(end, _source(last), last.timestamp()[1] * 1_000)

    def _read(self, topic: str, partition: int, begin: int, end: int) -> list[Any]:
        """The messages from `begin` to before `end`, which are there."""
        from confluent_kafka import TopicPartition

        self._consumer.assign([TopicPartition(topic, partition, begin)])
        found: list[Any] = []
        while len(found) < end - begin:
            messages = self._consumer.consume(end - begin - len(found), timeout=TIMEOUT_S)
            if not messages:
                raise _silent(topic)
            found += [one for one in messages if one.error() is None]
        self._consumer.unassign()
        return [one for one in found if one.offset() < end]


def _silent(topic: str) -> StreamgaugeError:
    return StreamgaugeError(
        f"the broker does not answer: the topic `{topic}` cannot be read",
        fix="see whether the broker runs",
    )


def _source(message: Any) -> int | None:
    told = dict(message.headers() or []).get(SOURCE)
    return None if told is None else int(told)
