"""The PySpark program that is the system under test: `python -m … KIND SETTINGS SCRATCH`.

One session for all assignments. For each it checks the query, if it is the user's, and rehearses
it on made-up events, unless it has run that query before, and starts it on the channel.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamgauge import plugins
from streamgauge.compute.failures import explained
from streamgauge.processes.component import Console
from streamgauge.queries.load import build_query
from streamgauge.queries.own import QueryConfig
from streamgauge.systems.base import Assignment
from streamgauge.systems.spark.check import check_query
from streamgauge.systems.spark.following import Follower
from streamgauge.systems.spark.progress import reported_batches
from streamgauge.systems.spark.system import SparkBase

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from streamgauge.systems.spark.connector import SparkConnector

LONGEST_START_S = 30.0
REHEARSAL_S = 10
"""Of a system that cannot say when it has processed everything."""


def run(
    system: SparkBase, scratch: Path, console: Console, work_of: type[Work] | None = None
) -> None:
    from streamgauge.compute.session import open_session

    console.emit("phase", name="starting Spark")
    spark = open_session("streamgauge", system.url, scratch, system.settings())
    console.emit("up")
    known: list[QueryConfig] = []
    work: Work | None = None
    for message in console.commands():
        if message["command"] == "begin":
            assignment = Assignment.model_validate(message["assignment"])
            work = (work_of or Work)(spark, system, assignment, console)
            try:
                if assignment.query not in known and not assignment.resumed:
                    work.prepare()
                    known.append(assignment.query)
                work.follow()
                work.begin()
            except Exception as error:
                raise work.query.explained(error) from error
        elif message["command"] == "drain" and work is not None:
            threading.Thread(target=work.drain, daemon=True).start()
        elif message["command"] == "end" and work is not None:
            work.end()
            work = None
    if work is not None:
        work.stop()


class Work:
    """The query of one assignment."""

    def __init__(
        self, spark: SparkSession, system: SparkBase, assignment: Assignment, console: Console
    ) -> None:
        self.spark = spark
        self.system = system
        self.assignment = assignment
        self.console = console
        self.query = build_query(assignment.query)
        connector = plugins.load_path(assignment.connector)
        self.connector: SparkConnector = connector(spark, assignment, system)
        self.running: StreamingQuery | None = None
        self.follower: Follower | None = None
        self.ending = threading.Event()

    def prepare(self) -> None:
        """A mistake in the query is found now, and the JVM compiles the query now."""
        if self.query.file is not None:
            self.console.emit("phase", name="checking the query")
            check_query(self.spark, self.query, self.assignment.load)
        if self.system.rehearsal:
            self.console.emit("phase", name="rehearsing")
            self.rehearse()

    def rehearse(self) -> None:
        streams = {}
        for name in self.assignment.load.streams:
            stream = self.connector.rehearse(name, self.system.rehearsal)
            if stream is None:
                return
            streams[name] = stream

        results = self.defined(streams)
        # Rows would stay in the table.
        writer = (
            results.writeStream.format("noop")
            if self.query.stores_rows
            else self.connector.discard(results)
        )
        rehearsal = self._started(writer, "rehearsal")
        if self.system.micro_batches:
            rehearsal.processAllAvailable()
        else:
            rehearsal.awaitTermination(REHEARSAL_S)
        rehearsal.stop()

    def follow(self) -> None:
        """Keeps a mirror of the results where the user has named a service for it."""
        if self.query.mirrored_in:
            mirror = self.query.mirror(self.assignment.mirror)
            self.follower = self.connector.follow(mirror, self.failed)

    def stop_following(self) -> None:
        """After the last result: the mirror has it, too."""
        if self.follower is not None:
            self.follower.settle()
            self.follower.stop()

    def begin(self) -> None:
        self.console.emit("phase", name="starting the query")
        streams = {name: self.connector.read(name) for name in self.assignment.load.streams}
        results = self.defined(streams)
        writer = (
            results.writeStream.foreachBatch(self.query.stored.store)
            if self.query.stores_rows
            else self.connector.write(results)
        )
        self.running = running = self._started(writer, "run")
        threading.Thread(target=self._watch, args=(running,), daemon=True).start()
        # Spark starts a process for each source, and plans, before it asks for events; a load that
        # began earlier would queue up in the meantime.
        deadline = time.monotonic() + LONGEST_START_S
        while running.isActive and time.monotonic() < deadline:
            if self._waits_for_input(running):
                break
            time.sleep(0.05)
        self.console.emit("ready")

    def _waits_for_input(self, running: StreamingQuery) -> bool:
        status = running.status
        if self.assignment.resumed and status["isTriggerActive"]:
            # There is a backlog, so it will not wait for long.
            return True
        if self.system.micro_batches:
            return bool(status["message"].startswith("Waiting for"))
        # A real-time query is always inside its batch.
        return bool(status["isTriggerActive"] and status["message"].startswith("Processing"))

    def drain(self) -> None:
        assert self.running is not None
        if not self.system.micro_batches:
            self.console.emit("drained", known=False)
            return
        try:
            self.running.processAllAvailable()
        except Exception:
            # `_watch` reports the failure of the query.
            return
        if self.follower is not None:
            self.follower.settle()
        self.console.emit("drained")

    def stop(self) -> None:
        self.ending.set()
        if self.running is not None:
            self.running.stop()

    def end(self) -> None:
        """Stops the query and removes its state."""
        assert self.running is not None
        batches = reported_batches(self.running)
        self.stop()
        self.stop_following()
        forget_state(self.spark)
        self.console.emit("ended", diagnostics=[batch.model_dump() for batch in batches])

    def defined(self, streams: Mapping[str, DataFrame]) -> DataFrame:
        fixed = self.query.fixed_inputs(self.spark.createDataFrame)
        defined: DataFrame = self.query.implementation(SparkBase.kind)(**streams, **fixed)
        return defined

    def _started(self, writer: DataStreamWriter, checkpoint: str) -> StreamingQuery:
        return (
            writer.outputMode(self.query.output_mode)
            .option("checkpointLocation", str(self.assignment.checkpoint / checkpoint))
            .trigger(**self.system.trigger_arguments)
            .start()
        )

    def _watch(self, running: StreamingQuery) -> None:
        try:
            running.awaitTermination()
        except Exception as error:
            # A query that is stopped in the middle of a batch raises an error, too.
            if not self.ending.is_set():
                traceback.print_exc()
                self.failed(error)

    def failed(self, error: Exception) -> None:
        self.console.fail(self.query.explained(error))


def forget_state(spark: SparkSession) -> None:
    """The state of a query that has ended would stay in this JVM for another minute."""
    jvm: Any = spark._jvm
    state = jvm.org.apache.spark.sql.execution.streaming.state
    getattr(getattr(state, "StateStore$"), "MODULE$").stop()


def main(work: type[Work] = Work) -> None:
    console = Console()
    kind: type[SparkBase] = plugins.load_path(sys.argv[1])
    system = kind.model_validate_json(Path(sys.argv[2]).read_text())
    try:
        run(system, Path(sys.argv[3]), console, work)
    except Exception as error:
        traceback.print_exc()
        console.fail(explained(error))
        os._exit(1)


if __name__ == "__main__":
    main()
    # The JVM ends with our input pipe to it; an orderly shutdown of Spark would take seconds.
    os._exit(0)
