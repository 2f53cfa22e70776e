"""The Flight servers of the direct channel: one over the queue of a driver instance, one sink."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.flight as flight

from streamgauge.channels.direct.protocol import COMMIT, END, HEAD, TAKEN, Range
from streamgauge.channels.direct.security import Listen
from streamgauge.driver.instance import DriverInstance
from streamgauge.driver.queue import Block
from streamgauge.driver.sink import ResultSink


class Gate:
    """Whether the calls of the system are answered."""

    def __init__(self) -> None:
        self._closed_until_s = 0.0

    def close(self, for_s: float) -> None:
        self._closed_until_s = time.monotonic() + for_s

    def check(self) -> None:
        """Breaks a call off while the gate is closed."""
        if time.monotonic() < self._closed_until_s:
            raise flight.FlightUnavailableError("the connection was cut on purpose")


class QueueServer(flight.FlightServerBase):  # type: ignore[misc]
    """Offers the queue of one driver instance."""

    def __init__(self, instance: DriverInstance, listen: Listen) -> None:
        super().__init__(**listen.server_arguments())
        self._instance = instance
        self.gate = Gate()

    def do_action(self, context: Any, action: flight.Action) -> Iterator[bytes]:  # noqa: ARG002
        self.gate.check()
        body = json.loads(action.body.to_pybytes())
        queue = self._instance.queue
        if action.type == HEAD:
            until = queue.head_us(self._instance.now_us, body["after_us"], body["max_events"])
            return iter([json.dumps({"until_us": until}).encode()])
        if action.type == COMMIT:
            queue.commit(body["until_us"])
            return iter([b"{}"])
        raise flight.FlightServerError(f"unknown action {action.type}")

    def do_exchange(self, context: Any, descriptor: Any, reader: Any, writer: Any) -> None:  # noqa: ARG002
        """Hands a range over and waits for the answer that it was taken.

        Without the answer a range that fits the buffers of the connection would count as taken.
        """
        self.gate.check()
        wanted, instance = Range.model_validate_json(descriptor.command), self._instance
        blocks = instance.pull(wanted.from_us, wanted.until_us)
        last = instance.schedule.count_before(wanted.until_us)
        drop = (
            f"the system dropped its connection to driver instance {instance.config.instance} "
            f"before it had taken the events up to {last:,} that it had asked for"
        )
        instance.untaken.append(drop)
        taken = False
        with suppress(flight.FlightError, StopIteration):
            writer.begin(instance.events.schema)
            # Without time nothing is handed over: Spark asks for that when it only moves its
            # watermark.
            if wanted.from_us < wanted.until_us:
                for batch in self._hand_over(blocks, wanted.until_us):
                    self.gate.check()
                    writer.write_batch(batch)
            writer.write_metadata(END)
            taken = reader.read_chunk().app_metadata == TAKEN
        instance.untaken.remove(drop)
        if not taken:
            self.gate.check()
            instance.dropped.append(drop)

    def _hand_over(self, blocks: list[Block], until_us: int) -> Iterator[pa.RecordBatch]:
        if not blocks:
            # An empty range is recorded too: the slowest instance of a stream decides.
            self._instance.handed_over(until_us, 0)
            return
        time_us, last = self._instance.schedule.time_us, blocks[-1].last
        for block in blocks:
            covered_us = time_us(block.last) if block.last < last else until_us
            self._instance.handed_over(covered_us, block.batch.nbytes)
            yield block.batch


class SinkServer(flight.FlightServerBase):  # type: ignore[misc]
    """Receives the results of a system."""

    def __init__(self, sink: ResultSink, listen: Listen) -> None:
        super().__init__(**listen.server_arguments())
        self._sink = sink
        self.gate = Gate()

    def do_put(self, context: Any, descriptor: Any, reader: Any, writer: Any) -> None:  # noqa: ARG002
        """Results are stamped as they come; those of a delivery with a name, when all are there."""
        self.gate.check()
        _, *names = descriptor.path
        if names:
            self._sink.arrived_once(names[0].decode(), [chunk.data for chunk in reader])
            return
        for chunk in reader:
            self.gate.check()
            self._sink.arrived(chunk.data)
