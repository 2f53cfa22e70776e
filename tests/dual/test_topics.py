"""What the ends of topics tell, on a real broker."""

from __future__ import annotations

import secrets
import time

import pytest

from streamgauge.dual.topics import SOURCE, Tail, Topics


def _sent(brokers: str, topic: str, sources: list[int], partition: int = 0) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": brokers})
    for number, source in enumerate(sources):
        value, headers = str(number).encode(), {SOURCE: str(source)}
        producer.produce(topic, value, partition=partition, headers=headers)
    producer.flush()


@pytest.fixture
def topic(broker: str) -> str:
    name = f"tails-{secrets.token_hex(4)}"
    Topics(broker).make(name, 2)
    return name


def test_the_last_message_tells_its_source(broker: str, topic: str) -> None:
    topics = Topics(broker)
    assert topics.tails(topic, 2) == {0: Tail(0, None, None), 1: Tail(0, None, None)}
    before_us = time.time_ns() // 1_000
    _sent(broker, topic, [3, 8, 8, 8])
    tails = topics.tails(topic, 2)
    assert (tails[0].end, tails[0].source, tails[1].end) == (4, 8, 0)
    assert tails[0].time_us is not None
    assert abs(tails[0].time_us - before_us) < 60_000_000
    assert topics.same_source(topic, 0, 4) == [b"3", b"2", b"1"]
    assert topics.same_source(topic, 0, 1) == [b"0"]
    assert topics.first_time_us(topic, {0: 3, 1: 0}) == tails[0].time_us
    assert topics.first_time_us(topic, {0: 4, 1: 0}) is None


def test_more_results_of_a_record_than_are_read_at_once(broker: str, topic: str) -> None:
    _sent(broker, topic, [1] + [2] * 300)
    assert len(Topics(broker).same_source(topic, 0, 301)) == 300


def test_messages_are_counted_by_their_time(broker: str, topic: str) -> None:
    topics = Topics(broker)
    _sent(broker, topic, [0] * 5)
    middle_us = time.time_ns() // 1_000
    time.sleep(0.05)
    _sent(broker, topic, [0] * 3, partition=1)
    assert topics.count_until(topic, 2, middle_us) == 5
    assert topics.count_until(topic, 2, time.time_ns() // 1_000) == 8


def test_what_is_done_is_deleted(broker: str, topic: str) -> None:
    topics = Topics(broker)
    _sent(broker, topic, [0] * 5)
    topics.delete_before(topic, {0: 3, 1: 0})
    assert topics.starts(topic, 2) == {0: 3, 1: 0}
    assert topics.ends(topic, 2) == {0: 5, 1: 0}


def test_a_topic_that_is_not_there(broker: str) -> None:
    assert Topics(broker).partitions("nothing") is None
