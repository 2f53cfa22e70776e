"""The program of the dual-paradigm runtime: `python -m … KIND SETTINGS SCRATCH`.

The operations of the query are those of the pipeline, with what the channel does around them:
`receive` and `parse` in front, `store` behind.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from streamgauge.channels.kafka.client import client_settings
from streamgauge.dual.api import Rehearsed, Running
from streamgauge.dual.pipeline import Pipeline
from streamgauge.dual.reports import Report, Switched
from streamgauge.queries.pipelines.base import PipelineQuery
from streamgauge.systems.dual.system import DualSystem
from streamgauge.systems.spark.kafka import KafkaConnector, as_messages
from streamgauge.systems.spark.program import Work, forget_state, main

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

REHEARSAL_EVENTS = 100_000
"""At least: a shorter backlog is gone before its speed can be seen."""


class DualWork(Work):
    """The pipeline of one assignment."""

    _rehearsed: ClassVar[dict[str, Rehearsed]] = {}
    """By query: the probes of a search rehearse once."""
    _pipeline: Running | None = None
    _early: list[Report] | None = None
    """What the runtime says before it is ready, when nobody listens yet."""

    def rehearse(self) -> None:
        """The runtime rehearses when it is started, because it measures the speeds then."""

    def begin(self) -> None:
        self.console.emit("phase", name="starting the pipeline")
        connector = cast(KafkaConnector, self.connector)
        system, offer = cast(DualSystem, self.system), connector.offer
        (stream,) = self.assignment.load.streams
        rehearsal, known = None, self._rehearsed.get(self.assignment.query.model_dump_json())
        if system.rehearsal and known is None and not self.assignment.resumed:
            rehearsal = offer.rehearsal[stream]
            self.console.emit("phase", name="rehearsing")
            connector.send_made_up(stream, rehearsal, system.rehearsal, REHEARSAL_EVENTS)
        client = client_settings(offer.client)
        self._early = []
        self._pipeline = Running(
            self.spark,
            self._as_pipeline(connector, stream),
            source=offer.topics[stream],
            sink=offer.output,
            brokers=str(client.pop("bootstrap.servers")),
            checkpoint=self.assignment.checkpoint / "dual",
            cuts=system.cuts,
            client=client,
            settings=system.choice,
            rehearsal=rehearsal,
            known=known,
            on_report=self._reported,
            on_failure=self.failed,
        )
        if self._pipeline.rehearsed is not None:
            self._rehearsed[self.assignment.query.model_dump_json()] = self._pipeline.rehearsed
        self.console.emit("ready")
        early, self._early = self._early, None
        for report in early:
            self._reported(report)

    def drain(self) -> None:
        self.console.emit("drained", known=False)

    def stop(self) -> None:
        if self._pipeline is not None:
            self._pipeline.stop()

    def end(self) -> None:
        self.stop()
        self.stop_following()
        if self._pipeline is not None:
            self._pipeline.remove()
        forget_state(self.spark)
        self.console.emit("ended", diagnostics=[])

    def _as_pipeline(self, connector: KafkaConnector, stream: str) -> Pipeline:
        query = self.query
        pipeline = Pipeline("query")
        pipeline.add("receive", _receive)
        pipeline.add("parse", partial(connector.events, stream))
        fixed = query.fixed_inputs(self.spark.createDataFrame)
        if isinstance(query, PipelineQuery):
            for one in query.operations(**fixed):
                pipeline.add(one.name, one.apply)
        else:
            pipeline.add("query", lambda events: self.defined({stream: events}))
        pipeline.add("store", partial(as_messages, shape=query.shape))
        return pipeline

    def _reported(self, report: Report) -> None:
        if self._early is not None:
            self._early.append(report)
            return
        fields = report.model_dump(mode="json")
        if isinstance(report, Switched):
            fields["gap_ms"] = report.gap_ms
        self.console.emit(report.event, **fields)


def _receive(messages: DataFrame) -> DataFrame:
    return messages.select("value", "timestamp")


if __name__ == "__main__":
    main(DualWork)
    # The JVM ends with our input pipe to it; an orderly shutdown of Spark would take seconds.
    os._exit(0)
