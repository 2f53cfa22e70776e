"""The sender, with a real broker: every event of the load once."""

from __future__ import annotations

import json
import secrets
import time
from typing import Any

import pytest

from streamgauge import Keys, StreamSpec, Uuid
from streamgauge.channels.kafka.client import make_topics
from streamgauge.channels.kafka.sender import Sender, SenderConfig
from streamgauge.events.stream import BLOCK
from tests.loads import load_of

PARTITIONS = 2
EVENTS = {"events": StreamSpec(columns={"id": Uuid(), "sensor": Keys(size=10)})}
SECONDS = 2


class Sending:
    """A sender and what it reported."""

    def __init__(self, broker: str, key: str | None = None, rate: int = BLOCK, **more: Any) -> None:
        self.client = {"bootstrap.servers": broker}
        self.topic = f"sent-{secrets.token_hex(4)}"
        self.reports: list[dict[str, Any]] = []
        make_topics(self.client, [self.topic], PARTITIONS, 1, {})
        self.load = load_of(EVENTS, rate_per_s=rate, seconds=SECONDS, instances=1)
        config = SenderConfig(
            load=self.load,
            instance=0,
            topic=self.topic,
            partitions=PARTITIONS,
            format="json",
            key=key,
            client=self.client,
            **more,
        )
        self.sender = Sender(
            config, lambda event, **more: self.reports.append({"event": event, **more})
        )

    def received(self, count: int) -> list[Any]:
        from confluent_kafka import Consumer, TopicPartition

        consumer = Consumer({**self.client, "group.id": self.topic})
        consumer.assign([TopicPartition(self.topic, part, 0) for part in range(PARTITIONS)])
        found: list[Any] = []
        while len(found) < count and (more := consumer.consume(count, timeout=10)):
            found += more
        found += consumer.consume(1, timeout=0.5)
        consumer.close()
        return found


@pytest.mark.parametrize("key", [None, "sensor"])
def test_every_event_is_sent_once_and_no_block_is_mixed_up(broker: str, key: str | None) -> None:
    sending = Sending(broker, key)
    start_us = time.time_ns() // 1_000
    sending.sender.start(start_us)
    sending.sender.finish()
    feed = sending.load.build_feed(0)
    total = feed.times.total
    assert sending.reports[-1] == {"event": "sent", "count": total, "lag_us": 0, "unsent": 0}
    found = sending.received(total)
    events = feed.events.batch(0, total).to_pydict()
    sent = [json.loads(message.value()) for message in found]
    due = [int(time_us.timestamp() * 1e6 + 0.5) + start_us for time_us in events["event_time"]]
    asked = zip(due, events["id"], events["sensor"], strict=True)
    assert sorted(tuple(one.values()) for one in sent) == sorted(asked)
    keys = [message.key() for message in found]
    assert keys == [None if key is None else str(one["sensor"]).encode() for one in sent]


def test_a_load_that_is_cut_ends_there(broker: str) -> None:
    sending = Sending(broker)
    sending.sender.start(time.time_ns() // 1_000)
    sending.sender.cut(SECONDS * 500_000)
    sending.sender.finish()
    assert sending.reports[-1]["count"] == sending.load.build_feed(0).times.total // 2


def test_a_sender_that_is_late_stops_at_the_end_if_it_has_to(broker: str) -> None:
    sending = Sending(broker, rate=20_000_000, ends_on_time=True)
    sending.sender.start(time.time_ns() // 1_000)
    time.sleep(SECONDS + 0.5)
    reported = len(sending.reports)
    time.sleep(0.5)
    assert len(sending.reports) == reported, "it has stopped by itself"
    sending.sender.finish()
    sent = sending.reports[-1]["count"]
    assert 0 < sent < sending.load.build_feed(0).times.total
    ends = _ends(sending)
    assert sum(ends) == sent


def _ends(sending: Sending) -> list[int]:
    from streamgauge.channels.kafka.log import next_offsets

    return next_offsets(sending.client, sending.topic, PARTITIONS)
