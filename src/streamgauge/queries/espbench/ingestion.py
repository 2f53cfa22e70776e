"""Ingestion: what the broker has of a sensor stream, without a system behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from streamgauge.events.sources import NUMBER, MadeSource
from streamgauge.events.spec import BROKER_TIME
from streamgauge.queries.base import Input, ResultShape, Stream
from streamgauge.queries.espbench.base import EspbenchQuery


class IngestionQuery(EspbenchQuery):
    """Ingestion: what senders and broker achieve alone; the log of the topic is the result."""

    results_are_the_log: ClassVar[bool] = True

    in_memory: bool = Field(
        default=True, description="false: a sender reads each block of lines from disk again"
    )

    @property
    def oracle_is(self) -> str:
        return "the events that were sent, made again: each once in the log, and unchanged"

    @property
    def inputs(self) -> Mapping[str, Input]:
        stream = self.sensor_stream(1)
        assert isinstance(stream.source, MadeSource)
        source = stream.source.model_copy(update={"in_memory": self.in_memory})
        return {"sensors": Stream(source, clock=stream.clock)}

    @property
    def shape(self) -> ResultShape:
        return ResultShape(keys=(NUMBER,), single=True, output_time=BROKER_TIME)
