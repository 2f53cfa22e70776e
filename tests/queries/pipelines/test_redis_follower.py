"""The follower of a topic of results, with a real broker and a real Redis."""

from __future__ import annotations

import json
from collections.abc import Iterable
from uuid import uuid4

import pytest

from streamgauge.channels.kafka.client import make_topics
from streamgauge.queries.base import Mirror
from streamgauge.queries.pipelines import redis_counts
from streamgauge.queries.pipelines.redis_counts import RedisCounts
from streamgauge.services.base import HOST, free_ports
from streamgauge.systems.spark.following import Follower
from tests.experiments.test_cleaning_up import wait_until
from tests.queries.pipelines.test_redis_counts import COLUMNS, Message, Update, held

PARTITIONS = 2


def made(broker: str) -> str:
    topic = f"results-{uuid4()}"
    make_topics({"bootstrap.servers": broker}, [topic], PARTITIONS, 1, {})
    return topic


def send(broker: str, topic: str, updates: Iterable[Update]) -> None:
    """All updates of a campaign to one partition."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": broker})
    for update in updates:
        one, part = Message(update), ord(update[1][0]) % PARTITIONS
        producer.produce(topic, one.value(), one.key(), partition=part)
    producer.flush(30)


def followed(broker: str, topic: str, mirror: Mirror, begins: tuple[int, int]) -> Follower:
    def failed(error: Exception) -> None:
        raise AssertionError from error

    return Follower({"bootstrap.servers": broker}, topic, begins, mirror, failed)


def test_the_mirror_has_the_last_update_of_each_count(broker: str, redis_address: str) -> None:
    topic = made(broker)
    # What an earlier run has left in a topic of the user's.
    send(broker, topic, [(0, "a", 99), (0, "b", 99), (0, "b", 100)])
    begins = (2, 1) if ord("a") % PARTITIONS else (1, 1)
    mirror = RedisCounts(redis_address, f"test-{uuid4()}", COLUMNS)
    follower = followed(broker, topic, mirror, begins)
    counts = [(10, name, count) for count in range(1, 5_001) for name in "abcd"]
    send(broker, topic, counts)
    assert follower.settle()
    assert held(mirror) == {(10, name): 5_000 for name in "abcd"}
    follower.stop()
    # Restarted, the system sends some updates again, and the follower begins again.
    again = followed(broker, topic, mirror, begins)
    replayed = [(10, "a", count) for count in range(4_000, 6_001)]
    send(broker, topic, replayed)
    assert again.settle()
    assert held(mirror) == {(10, name): 6_000 if name == "a" else 5_000 for name in "abcd"}
    again.stop()


def test_a_mirror_that_fails_is_reported_and_not_waited_for(
    broker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_counts, "PATIENCE_S", 0.1)
    topic, failures = made(broker), list[Exception]()
    (port,) = free_ports(1)
    gone = RedisCounts(f"{HOST}:{port}", "gone", COLUMNS)
    client = {"bootstrap.servers": broker}
    follower = Follower(client, topic, (0, 0), gone, failures.append)
    send(broker, topic, [(0, "a", 1)])
    wait_until(lambda: bool(failures), 30)
    assert "takes no more results" in str(failures[0])
    assert not follower.settle()
    follower.stop()


def test_messages_are_those_of_the_query() -> None:
    one = Message((10, "a", 1))
    assert json.loads(one.value()).items() >= json.loads(one.key()).items()
