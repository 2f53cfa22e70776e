"""The log of a topic: every message once, with its place and the broker's time."""

from __future__ import annotations

import secrets
import threading
from pathlib import Path

from confluent_kafka import Producer

from streamgauge.channels.kafka.client import make_topics
from streamgauge.channels.kafka.log import LogConfig, TopicLog, next_offsets, read_logs
from streamgauge.events.spec import BROKER_TIME, MESSAGE, OFFSET, PARTITION
from streamgauge.parts import read_parts


def test_the_messages_after_the_beginning_are_kept(broker: str, tmp_path: Path) -> None:
    client: dict[str, str | int | float | bool] = {"bootstrap.servers": broker}
    topic = f"log-{secrets.token_hex(4)}"
    make_topics(client, [topic], 2, 1, {"message.timestamp.type": "LogAppendTime"})
    producer = Producer(client)
    producer.produce(topic, "before", partition=0)
    producer.flush()
    begins = next_offsets(client, topic, 2)
    assert begins == [1, 0]
    for number in range(25_000):
        producer.produce(topic, f"{number}", partition=number % 2)
        producer.poll(0)
    producer.flush()
    config = LogConfig(
        streams={"events": TopicLog(topic=topic, begins=begins)}, folder=tmp_path, client=client
    )
    assert read_logs(config) == 25_000
    found = read_parts(tmp_path / "events")
    assert found is not None
    assert sorted(map(int, found[MESSAGE].to_pylist())) == list(range(25_000))
    places = set(zip(found[PARTITION].to_pylist(), found[OFFSET].to_pylist(), strict=True))
    assert places == {(0, n + 1) for n in range(12_500)} | {(1, n) for n in range(12_500)}
    assert min(found[BROKER_TIME].to_pylist()) > 1_700_000_000_000_000


def test_what_was_sent_and_is_not_there_yet_is_waited_for(broker: str, tmp_path: Path) -> None:
    client: dict[str, str | int | float | bool] = {"bootstrap.servers": broker}
    topic = f"log-{secrets.token_hex(4)}"
    make_topics(client, [topic], 1, 1, {})
    producer = Producer(client)

    def send(text: str) -> None:
        producer.produce(topic, text)
        producer.flush()

    def read(folder: str, sent: int) -> int:
        log = TopicLog(topic=topic, begins=[0], sent=sent)
        return read_logs(
            LogConfig(streams={"events": log}, folder=tmp_path / folder, client=client)
        )

    send("in time")
    later = threading.Timer(0.5, send, args=["later"])
    later.start()
    assert read("both", sent=2) == 2
    later.join()
    assert read("lost", sent=3) == 2
