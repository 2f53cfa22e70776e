"""Messages for a broker that was just started, from its start to the beginning of the load.

Such a broker is slow for some seconds, because its Java has yet to compile what it runs often. The
first events of a load would be late by that.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from streamgauge.channels.kafka.client import Setting, client_settings

LONGEST_S = 30.0
STEP_S = 0.01
AT_ONCE = 100
FLUSH_TIMEOUT_S = 10.0


class WarmUp:
    """Sends to a topic of its own in a thread, at a moderate rate, until it is stopped."""

    def __init__(self, client: dict[str, Setting], topic: str, messages: list[bytes]) -> None:
        from confluent_kafka import Producer

        self._producer = Producer(client_settings(client))
        self._topic = topic
        self._messages: list[dict[str, Any]] = [{"value": one} for one in messages[:AT_ONCE]]
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._send, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()
        self._producer.flush(FLUSH_TIMEOUT_S)

    def _send(self) -> None:
        end_s = time.monotonic() + LONGEST_S
        while time.monotonic() < end_s and not self._stopping.wait(STEP_S):
            if len(self._producer) < AT_ONCE:
                self._producer.produce_batch(self._topic, self._messages, 0)
            self._producer.poll(0)
