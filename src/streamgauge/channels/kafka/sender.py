"""A driver instance that sends its events to a topic on schedule."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa

from streamgauge.channels.kafka.client import Setting, client_settings
from streamgauge.channels.kafka.messages import Format, encoded, keys_of
from streamgauge.channels.kafka.warm_up import AT_ONCE, WarmUp
from streamgauge.driver.config import LoadConfig
from streamgauge.driver.instance import AHEAD_US
from streamgauge.events.stream import BLOCK
from streamgauge.models import StrictModel

STEP_S = 0.001
"""The longest sleep between two looks at the schedule."""
MOST_AT_ONCE = 10_000
FLUSH_TIMEOUT_S = 60.0
FINISH_STEP_S = 0.01
REPORT_EVERY_S = 0.1
METADATA_TIMEOUT_S = 30.0
MOST_MADE = 16 * BLOCK
"""Events that may wait to be sent: a sender that is late must not fill the memory."""


class SenderConfig(StrictModel):
    load: LoadConfig
    instance: int
    topic: str
    partitions: int
    format: Format
    key: str | None = None
    """Column that is the key of a message, which decides on its partition."""
    client: dict[str, Setting]
    warm_up: str | None = None
    """A topic for messages that do not count, if the broker was just started."""
    ends_on_time: bool = False
    """Events that are not sent by the end of the load are not sent at all."""


class _Encoded(NamedTuple):
    """The messages of the events from `first` on.

    They stay in Arrow until they are sent: to make objects of a whole second of events takes four
    times as long as to make them of a few thousand, whose memory is used again and again. It also
    keeps the interpreter free for the thread that sends.
    """

    first: int
    values: pa.BinaryArray
    keys: pa.BinaryArray | None

    @property
    def end(self) -> int:
        return self.first + len(self.values)


class Sender:
    """Makes messages ahead in one thread, and sends them when they are due in another."""

    def __init__(self, config: SenderConfig, report: Callable[..., None]) -> None:
        from confluent_kafka import Producer

        self._config = config
        self._report = report
        self._feed = config.load.build_feed(config.instance)
        # Makes or reads the table of events, which would delay the first of them.
        first = self._feed.events.batch(0, min(AT_ONCE, self._feed.times.total))
        self._producer = Producer(
            {
                **client_settings(config.client),
                # A callback for every message would cost more than sending it.
                "delivery.report.only.error": True,
                "error_cb": self._client_failed,
            }
        )
        # Otherwise the first events would wait until the client knows the partitions.
        self._producer.list_topics(config.topic, timeout=METADATA_TIMEOUT_S)
        self._warm_up: WarmUp | None = None
        if config.warm_up is not None:
            messages = encoded(first, config.format).to_pylist()
            self._warm_up = WarmUp(config.client, config.warm_up, messages)
        self._ready: deque[_Encoded] = deque()
        self._messages: list[dict[str, Any]] = [{} for _ in range(MOST_AT_ONCE)]
        self._made = 0
        self._sent = 0
        self._unsent = 0
        self._turn = config.instance
        self._end_us = self._feed.times.duration_us
        self._start_us = 0
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    @property
    def now_us(self) -> int:
        return time.time_ns() // 1_000 - self._start_us

    def start(self, start_us: int) -> None:
        if self._warm_up is not None:
            self._warm_up.stop()
        self._start_us = start_us
        for work in (self._make, self._send):
            thread = threading.Thread(target=self._guarded, args=(work,), daemon=True)
            thread.start()
            self._threads.append(thread)

    def cut(self, end_us: int) -> None:
        self._end_us = min(self._end_us, end_us)

    def finish(self) -> None:
        """Waits until the broker has every event of the load."""
        deadline = time.monotonic() + FLUSH_TIMEOUT_S
        times, wait = self._feed.times, not self._config.ends_on_time
        while wait and self._threads and self._sent < times.count_before(self._end_us):
            if time.monotonic() > deadline or not all(one.is_alive() for one in self._threads[1:]):
                break
            time.sleep(FINISH_STEP_S)
        self._stopping.set()
        for thread in self._threads:
            thread.join()
        self._threads.clear()
        if left := self._producer.flush(FLUSH_TIMEOUT_S):
            raise RuntimeError(f"the broker has not accepted {left:,} messages")
        self._tell(0)

    def _make(self) -> None:
        times = self._feed.times
        while self._made < times.total and not self._stopping.is_set():
            due_us = times.time_us(self._made)
            if due_us >= self._end_us:
                return
            if (ahead_us := due_us - self.now_us) > AHEAD_US:
                self._stopping.wait((ahead_us - AHEAD_US) / 1e6 + 0.001)
                continue
            if self._made - self._sent >= MOST_MADE:
                self._stopping.wait(STEP_S)
                continue
            last = min(self._made + BLOCK, times.total)
            events = self._feed.events.batch(self._made, last, self._start_us)
            keys = None if self._config.key is None else keys_of(events, self._config.key)
            values = encoded(events, self._config.format)
            self._ready.append(_Encoded(self._made, values, keys))
            self._made = last

    def _send(self) -> None:
        times, reported_s = self._feed.times, 0.0
        while not self._stopping.is_set():
            now_us = self.now_us
            if self._config.ends_on_time and now_us >= self._end_us:
                return
            due = times.count_before(min(now_us, self._end_us))
            last = min(due, self._made, self._sent + MOST_AT_ONCE)
            if last > self._sent:
                self._produce(last)
            else:
                time.sleep(STEP_S)
            # Also when it is behind: a message counts as acknowledged only after that.
            self._producer.poll(0)
            if time.monotonic() > reported_s + REPORT_EVERY_S and now_us >= 0:
                reported_s = time.monotonic()
                # An event is late until the broker has acknowledged it.
                acknowledged = self._acknowledged
                late = due > acknowledged
                self._tell(self.now_us - times.time_us(acknowledged) if late else 0)

    def _produce(self, last: int) -> None:
        """The events up to `last`, of the oldest block."""
        block = self._ready[0]
        messages = self._filled(block, self._sent - block.first, min(last, block.end) - block.first)
        try:
            queued = self._producer.produce_batch(
                self._config.topic, messages, self._partition(), on_delivery=self._not_delivered
            )
        except BufferError:
            queued = 0
        self._sent += queued
        if queued < len(messages):
            # The queue of the client is full; what is left is sent later, and late.
            self._producer.poll(0.01)
        if self._sent == block.end:
            self._ready.popleft()

    def _filled(self, block: _Encoded, first: int, end: int) -> list[dict[str, Any]]:
        """The client copies what it takes, so the same dictionaries serve for all messages."""
        messages = self._messages[: end - first]
        for message, value in zip(messages, block.values[first:end].to_pylist(), strict=True):
            message["value"] = value
        if block.keys is not None:
            for message, key in zip(messages, block.keys[first:end].to_pylist(), strict=True):
                message["key"] = key
        return messages

    def _partition(self) -> int:
        """The next one in turn, or -1 if the keys decide."""
        if self._config.key is not None:
            return -1
        self._turn = (self._turn + 1) % self._config.partitions
        return self._turn

    @property
    def _acknowledged(self) -> int:
        """Requests of the client count as messages in its queue."""
        return max(0, self._sent - len(self._producer))

    def _tell(self, lag_us: int) -> None:
        self._report(
            "sent",
            count=self._acknowledged - self._unsent,
            lag_us=lag_us,
            unsent=self._unsent,
        )

    def _not_delivered(self, error: Any, _: object) -> None:
        if error is not None:
            self._unsent += 1

    def _client_failed(self, error: Any) -> None:
        if error.fatal():
            self._report("failed", reason=f"the Kafka client failed: {error}")

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            self._report("failed", reason=f"{type(error).__name__}: {error}")
            raise
