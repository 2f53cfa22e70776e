"""The simulated system on the direct channel."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from streamgauge.channels.direct.channel import DirectOffer
from streamgauge.channels.direct.protocol import QueueClient, Range, SinkClient
from streamgauge.systems.base import Assignment
from streamgauge.systems.simulated.connector import SimulatedConnector


class DirectConnector(SimulatedConnector):
    """Pulls from the queues of the driver over Arrow Flight."""

    def __init__(self, assignment: Assignment) -> None:
        offer = DirectOffer.model_validate(assignment.offer)
        self._load = assignment.load
        self._by_name = offer.by_name
        built = assignment.load.build()
        # The share of each queue in the events of the load.
        self._shares = {n: built.feeds[n].times.total / built.total for n in offer.queues}
        self._first = next(iter(offer.queues.values()))
        self._queues = {number: QueueClient(queue) for number, queue in offer.queues.items()}
        self._sink = SinkClient(offer.sink)

    def head_us(self, after_us: int, most: int | None = None) -> int:
        if most is None:
            return min(queue.head_us(after_us) for queue in self._queues.values())
        allowed = {number: int(most * share) for number, share in self._shares.items()}
        if min(allowed.values()) < 1:
            return after_us
        return min(q.head_us(after_us, allowed[number]) for number, q in self._queues.items())

    def fetch(self, from_us: int, until_us: int) -> Iterator[tuple[str, pa.RecordBatch]]:
        wanted = Range(from_us=from_us, until_us=until_us)
        for number, queue in self._queues.items():
            for batch in queue.fetch(wanted):
                yield self._load.feeds[number].stream, batch

    def commit(self, until_us: int) -> None:
        for queue in self._queues.values():
            queue.commit(until_us)

    def put(self, results: pa.Table, name: str | None = None) -> None:
        self._sink.put(results, name if self._by_name else None)

    def drop_connection(self, position_us: int) -> None:
        queue = QueueClient(self._first)
        # The connection is closed in the middle of the answer.
        answer = queue.fetch(Range(from_us=position_us, until_us=queue.head_us()))
        next(answer)
        answer.close()
        queue.close()

    def close(self) -> None:
        for queue in self._queues.values():
            queue.close()
        self._sink.close()
