"""Collects results from a topic: the message, the broker's time and the time of arrival."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.json

from streamgauge.channels.kafka.client import Setting, client_settings
from streamgauge.channels.kafka.log import message_columns
from streamgauge.driver.sink import ResultSink, SinkStatus
from streamgauge.events.spec import LATEST_EVENT_TIME
from streamgauge.models import StrictModel

MOST_AT_ONCE = 10_000
REQUEST_TIMEOUT_S = 10.0
SETTLE_TIMEOUT_S = 60.0
_TIMES = (pa.int64(), pa.timestamp("us", tz="UTC"), pa.timestamp("us"))
"""A time is whole microseconds since 1970, or a text of ISO 8601."""


class CollectorConfig(StrictModel):
    topic: str
    partitions: int
    folder: Path
    input_time: str
    """The field of a result, or of its key, with the time of its last input."""
    in_key: bool = False
    """Whether that field is in the key, because the message is a text of its own form."""
    client: dict[str, Setting]


class Collector:
    """A consumer of every partition, in a thread; it begins with the next message of each."""

    def __init__(self, config: CollectorConfig, report: Callable[..., None]) -> None:
        from confluent_kafka import Consumer, TopicPartition

        self._config = config
        self._report = report
        self._sink = ResultSink(config.folder)
        settings = {
            **client_settings(config.client),
            "group.id": f"{config.topic}-sink",
            "enable.auto.commit": False,
        }
        self._consumer = Consumer(settings)
        # The end of a topic, asked of a consumer that another thread polls, may never be answered.
        self._asking = Consumer(settings)
        self._positions = self._ends(range(config.partitions))
        begin = [TopicPartition(config.topic, n, at) for n, at in self._positions.items()]
        self._consumer.assign(begin)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._guarded, daemon=True)
        self._thread.start()

    def status(self) -> SinkStatus:
        return self._sink.status()

    def settle(self) -> None:
        """Waits until every message that the broker has now is collected."""
        ends = self._ends(self._positions)
        deadline = time.monotonic() + SETTLE_TIMEOUT_S
        while any(self._positions[n] < end for n, end in ends.items()):
            if time.monotonic() > deadline:
                raise RuntimeError(f"results could not be read within {SETTLE_TIMEOUT_S:.0f} s")
            time.sleep(0.01)

    def close(self) -> SinkStatus:
        self._stopping.set()
        self._thread.join()
        self._consumer.close()
        self._asking.close()
        return self._sink.close()

    def _ends(self, partitions: Any) -> dict[int, int]:
        from confluent_kafka import TopicPartition

        topic, timeout = self._config.topic, REQUEST_TIMEOUT_S
        return {
            n: self._asking.get_watermark_offsets(TopicPartition(topic, n), timeout=timeout)[1]
            for n in partitions
        }

    def _guarded(self) -> None:
        try:
            while not self._stopping.is_set():
                # `consume` alone would wait for as many messages as it may take.
                if (first := self._consumer.poll(0.1)) is not None:
                    self._collect([first, *self._consumer.consume(MOST_AT_ONCE, timeout=0)])
        except Exception as error:
            self._report("failed", reason=f"{type(error).__name__}: {error}")
            raise

    def _collect(self, messages: list[Any]) -> None:
        found = []
        for message in messages:
            if (error := message.error()) is None:
                found.append(message)
            elif error.fatal():
                raise RuntimeError(str(error))
        if not found:
            return
        in_key, name = self._config.in_key, self._config.input_time
        texts = [(one.key() if in_key else one.value()) or b"" for one in found]
        times = input_times(texts, name)
        self._sink.arrived(message_columns(found).append_column(LATEST_EVENT_TIME, times))
        for message in found:
            self._positions[message.partition()] = message.offset() + 1


def input_times(values: list[bytes], name: str) -> pa.Array:
    """The time of the last input of each result; null where it has none."""
    lines = b"\n".join(values)
    options = pa.json.ReadOptions(block_size=len(lines) + 1)
    for kind in _TIMES:
        parse = pa.json.ParseOptions(
            explicit_schema=pa.schema([(name, kind)]), unexpected_field_behavior="ignore"
        )
        try:
            times = pa.json.read_json(BytesIO(lines), options, parse)[name].combine_chunks()
        except pa.ArrowInvalid:
            continue
        if len(times) == len(values):
            return times.cast(pa.int64())
    # A message that is no JSON object, or has another kind of time, must not hide the others.
    single = [input_times([value], name) for value in values] if len(values) > 1 else []
    return pa.concat_arrays(single) if single else pa.nulls(len(values), pa.int64())
