"""A broker that was just started gets messages until the load begins."""

from __future__ import annotations

import secrets
import time

from streamgauge.channels.kafka.client import make_topics
from streamgauge.channels.kafka.log import next_offsets
from streamgauge.channels.kafka.warm_up import WarmUp


def test_messages_are_sent_until_it_is_stopped(broker: str) -> None:
    client: dict[str, str | int | float | bool] = {"bootstrap.servers": broker}
    topic = f"warm-{secrets.token_hex(4)}"
    make_topics(client, [topic], 1, 1, {})
    warm_up = WarmUp(client, topic, [b"a", b"b"])
    deadline = time.monotonic() + 30
    while not (sent := next_offsets(client, topic, 1)[0]) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert sent > 0
    warm_up.stop()
    at_the_end = next_offsets(client, topic, 1)
    time.sleep(0.2)
    assert next_offsets(client, topic, 1) == at_the_end
