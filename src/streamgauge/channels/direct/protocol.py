"""The calls of the direct channel between a system and the driver, over Arrow Flight.

    action `head`    {after_us, max_events}  → {until_us}   how far the queue may be read
    action `commit`  {until_us}              → {}           what lies before will not be asked again
    exchange         {from_us, until_us}     → events, END  a range; the same range, the same events
                     TAKEN                   ←              the system has taken them all
    put              [name]                  ← results      to the sink, which stamps their arrival;
                                                            a delivery with a name counts once

Positions are microseconds of the schedule, the same in every driver instance.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import suppress

import pyarrow as pa
import pyarrow.flight as flight

from streamgauge.channels.direct.security import Endpoint
from streamgauge.models import StrictModel

HEAD = "head"
COMMIT = "commit"
END = b"end"
TAKEN = b"taken"


class Range(StrictModel):
    """A part of the schedule: [from_us, until_us)."""

    from_us: int
    until_us: int


class _Client:
    def __init__(self, endpoint: Endpoint) -> None:
        self._client = endpoint.connect()
        self._options = endpoint.call_options()

    def close(self) -> None:
        self._client.close()


class QueueClient(_Client):
    """Reads the queue of one driver instance."""

    def head_us(self, after_us: int = 0, max_events: int | None = None) -> int:
        answer = self._act(HEAD, {"after_us": after_us, "max_events": max_events})
        return int(answer["until_us"])

    def commit(self, until_us: int) -> None:
        self._act(COMMIT, {"until_us": until_us})

    def fetch(self, wanted: Range) -> Generator[pa.RecordBatch, None, None]:
        """The events of the range; one that is not read to its end is a dropped connection."""
        descriptor = flight.FlightDescriptor.for_command(wanted.model_dump_json().encode())
        answer, events = self._client.do_exchange(descriptor, self._options)
        try:
            while (chunk := events.read_chunk()).data is not None:
                yield chunk.data
            answer.write_metadata(TAKEN)
            answer.done_writing()
            # The call ends when the driver instance has the answer.
            events.read_all()
        finally:
            events.cancel()
            with suppress(pa.ArrowException):
                answer.close()

    def _act(self, name: str, body: dict[str, int | None]) -> dict[str, int]:
        action = flight.Action(name, json.dumps(body).encode())
        (result,) = self._client.do_action(action, self._options)
        answer: dict[str, int] = json.loads(result.body.to_pybytes())
        return answer


class SinkClient(_Client):
    """Delivers results."""

    def put(self, table: pa.Table, name: str | None = None) -> None:
        """Returns when the sink has stamped and stored everything.

        A delivery with a name is stored as a whole or not at all, and only once.
        """
        descriptor = flight.FlightDescriptor.for_path("results", *([] if name is None else [name]))
        writer, _ = self._client.do_put(descriptor, table.schema, self._options)
        with writer:
            writer.write_table(table)
