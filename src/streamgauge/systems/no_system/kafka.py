"""Messages that a broker gets before the first load.

A broker that was just started is slow for some seconds, because its Java has yet to compile what it
runs often. That is no figure of the first case.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from streamgauge.channels.kafka.channel import KafkaOffer
from streamgauge.channels.kafka.client import client_settings

_MESSAGE = bytes(200)
_AT_ONCE = 1_000
_STEP_S = 0.005
_FLUSH_S = 30.0


def rehearse(offer: Mapping[str, Any], seconds: float) -> None:
    """Sends to the topics of the rehearsal for a while, in small batches, as without linger."""
    from confluent_kafka import Producer

    told = KafkaOffer.model_validate(offer)
    producer = Producer({**client_settings(told.client), "linger.ms": 0, "acks": "1"})
    messages = [{"value": _MESSAGE} for _ in range(_AT_ONCE)]
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        for topic in told.rehearsal.values():
            producer.produce_batch(topic, messages, 0)
        # The queue of the client must not grow: then batches would be large.
        while len(producer) > _AT_ONCE and time.monotonic() < end_s:
            producer.poll(_STEP_S)
        producer.poll(0)
    producer.flush(_FLUSH_S)
