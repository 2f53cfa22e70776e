"""Follows a topic of results and keeps the last value of each in a mirror.

A query has one sink, and real-time mode refuses Python code in a query: so a service is written
from the topic, beside the query. The updates of a result are in order in one partition; a program
that was started again follows from the beginning, and the mirror ends with the same values.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from streamgauge.channels.kafka.client import Setting, client_settings
from streamgauge.queries.base import Mirror

MOST_AT_ONCE = 10_000
REQUEST_TIMEOUT_S = 10.0
SETTLE_TIMEOUT_S = 40.0
"""Less than the station waits for the end of an assignment: what the mirror still lacks is then
found by the comparison."""


class Follower:
    """A consumer of every partition, in a thread."""

    def __init__(
        self,
        client: Mapping[str, Setting],
        topic: str,
        begins: Sequence[int],
        mirror: Mirror,
        failed: Callable[[Exception], None],
    ) -> None:
        from confluent_kafka import Consumer, TopicPartition

        self._topic = topic
        self._mirror = mirror
        self._failed = failed
        settings = {
            **client_settings(client),
            "group.id": f"{topic}-mirror",
            "enable.auto.commit": False,
        }
        self._consumer = Consumer(settings)
        # The end of a topic, asked of a consumer that another thread polls, may never be answered.
        self._asking = Consumer(settings)
        self._positions = dict(enumerate(begins))
        self._consumer.assign([TopicPartition(topic, n, at) for n, at in enumerate(begins)])
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._guarded, name="follower", daemon=True)
        self._thread.start()

    def settle(self, timeout_s: float = SETTLE_TIMEOUT_S) -> bool:
        """Waits until the mirror has all that is in the topic now; False if it is not in time."""
        ends, deadline_s = self._ends(), time.monotonic() + timeout_s
        while any(self._positions[n] < end for n, end in ends.items()):
            if not self._thread.is_alive() or time.monotonic() > deadline_s:
                return False
            time.sleep(0.01)
        return True

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()
        self._consumer.close()
        self._asking.close()

    def _ends(self) -> dict[int, int]:
        from confluent_kafka import TopicPartition

        topic, timeout = self._topic, REQUEST_TIMEOUT_S
        return {
            n: self._asking.get_watermark_offsets(TopicPartition(topic, n), timeout=timeout)[1]
            for n in self._positions
        }

    def _guarded(self) -> None:
        try:
            while not self._stopping.is_set():
                # `consume` alone would wait for as many messages as it may take.
                if (first := self._consumer.poll(0.1)) is not None:
                    self._take([first, *self._consumer.consume(MOST_AT_ONCE, timeout=0)])
        except Exception as error:
            traceback.print_exc()
            self._failed(error)

    def _take(self, messages: list[Any]) -> None:
        found = []
        for message in messages:
            if (error := message.error()) is None:
                found.append(message)
            elif error.fatal():
                raise RuntimeError(str(error))
        self._mirror.apply(newest(found))
        for message in found:
            self._positions[message.partition()] = message.offset() + 1


def newest(messages: Sequence[Any]) -> list[bytes]:
    """The last message of each result: those before it would be replaced at once."""
    return list({one.key(): one.value() for one in messages}.values())
