"""Settings of a Kafka client, and the topics of a run."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from streamgauge.errors import ComponentError
from streamgauge.references import has_reference, revealed

Setting = str | int | float | bool
ClientSettings = Mapping[str, Setting]
TIMEOUT_S = 30.0
_SECRET = ("password", "secret", "key.pem", "oauthbearer.config", "jaas.config")
_FIX = "check `channel.brokers` and `channel.client`, and that the broker is up"


def client_settings(settings: ClientSettings) -> dict[str, Any]:
    """For a client of this process, with its secrets."""
    return {
        key: revealed(value) if isinstance(value, str) else value for key, value in settings.items()
    }


def open_secrets(settings: ClientSettings) -> list[str]:
    """Settings whose secret is written out instead of referred to."""
    return [
        key
        for key, value in settings.items()
        if any(word in key for word in _SECRET) and not has_reference(str(value))
    ]


def existing_topics(settings: ClientSettings) -> dict[str, int]:
    """By name, the number of partitions."""
    from confluent_kafka import KafkaException

    # The client must live as long as the answer is awaited.
    admin = _admin(settings)
    try:
        found = admin.list_topics(timeout=TIMEOUT_S).topics
    except KafkaException as error:
        cause = f"the Kafka broker at {settings['bootstrap.servers']} does not answer: {error}"
        raise ComponentError(cause, fix=_FIX) from None
    return {name: len(topic.partitions) for name, topic in found.items()}


def make_topics(
    settings: ClientSettings,
    names: Sequence[str],
    partitions: int,
    replication: int,
    config: Mapping[str, str],
) -> None:
    from confluent_kafka import KafkaException
    from confluent_kafka.cimpl import NewTopic

    admin = _admin(settings)
    topics = [NewTopic(name, partitions, replication, config=dict(config)) for name in names]
    try:
        for made in admin.create_topics(topics, request_timeout=TIMEOUT_S).values():
            made.result(TIMEOUT_S)
    except (KafkaException, TimeoutError) as error:
        cause = f"the topics of the run could not be made: {error}"
        raise ComponentError(cause, fix=_FIX) from None


def topics_read(settings: ClientSettings) -> set[str]:
    """Those of which a member of a consumer group reads a partition."""
    from confluent_kafka import ConsumerGroupState, KafkaException

    admin, found = _admin(settings), set()
    stable = {ConsumerGroupState.STABLE}
    try:
        listed = admin.list_consumer_groups(states=stable, request_timeout=TIMEOUT_S).result()
        groups = [group.group_id for group in listed.valid]
        described = admin.describe_consumer_groups(groups, request_timeout=TIMEOUT_S)
    except (KafkaException, ValueError):
        return set()
    for group in described.values():
        with contextlib.suppress(KafkaException):
            for member in group.result().members:
                found |= {part.topic for part in member.assignment.topic_partitions}
    return found


def delete_topics(settings: ClientSettings, names: Sequence[str]) -> None:
    """As far as the broker still answers."""
    admin = _admin(settings)
    for deleted in admin.delete_topics(list(names), request_timeout=5).values():
        deleted.exception(5)


def _admin(settings: ClientSettings) -> Any:
    from confluent_kafka.admin import AdminClient

    return AdminClient({**client_settings(settings), "log_level": 2})
