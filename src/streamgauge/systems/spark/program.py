"""The PySpark program that is the system under test: `python -m … CONFIG`.

One session for all assignments. For each it rehearses the query on made-up events, unless it has
run that query before, and starts it on the channel.
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

from pydantic import BaseModel, ConfigDict

from streamgauge import plugins
from streamgauge.errors import StreamgaugeError
from streamgauge.processes.component import Console
from streamgauge.queries.base import Query
from streamgauge.queries.load import build_query
from streamgauge.queries.own import QueryConfig
from streamgauge.systems.base import Assignment
from streamgauge.systems.spark.progress import reported_batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from streamgauge.systems.spark.connector import SparkConnector


KIND = "spark"
"""The kind of implementation that it runs."""
LONGEST_START_S = 30.0


class SparkProgramConfig(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    scratch: Path
    master: str
    trigger_us: int
    max_events_per_batch: int | None
    rehearsal_batches: int
    conf: dict[str, str]


class SparkProgram:
    """One session, one query at a time."""

    def __init__(self, config: SparkProgramConfig, console: Console) -> None:
        self._config = config
        self._console = console
        self._rehearsed: list[QueryConfig] = []

    def run(self) -> None:
        from streamgauge.compute.session import open_session

        config = self._config
        self._console.emit("phase", name="starting Spark")
        spark = open_session("streamgauge", config.master, config.scratch, config.conf)
        self._console.emit("up")
        work: _Work | None = None
        for message in self._console.commands():
            if message["command"] == "begin":
                assignment = Assignment.model_validate(message["assignment"])
                work = _Work(spark, self._config, assignment, self._console)
                self._rehearse(work, assignment)
                self._console.emit("phase", name="starting the query")
                work.begin()
            elif message["command"] == "drain" and work is not None:
                threading.Thread(target=work.drain, daemon=True).start()
            elif message["command"] == "end" and work is not None:
                work.end()
                work = None
        if work is not None:
            work.stop()

    def _rehearse(self, work: _Work, assignment: Assignment) -> None:
        done = assignment.query in self._rehearsed
        if not self._config.rehearsal_batches or done or assignment.resumed:
            return
        self._console.emit("phase", name="rehearsing")
        work.rehearse(self._config.rehearsal_batches)
        self._rehearsed.append(assignment.query)


class _Work:
    """The query of one assignment."""

    def __init__(
        self,
        spark: SparkSession,
        config: SparkProgramConfig,
        assignment: Assignment,
        console: Console,
    ) -> None:
        self._spark = spark
        self._config = config
        self._assignment = assignment
        self._console = console
        self._query: Query = build_query(assignment.query)
        connector = plugins.load_path(assignment.connector)
        self._connector: SparkConnector = connector(spark, assignment, config.max_events_per_batch)
        self._running: StreamingQuery | None = None
        self._ending = threading.Event()

    def rehearse(self, batches: int) -> None:
        names = self._assignment.load.streams
        found = {name: self._connector.rehearse(name, batches) for name in names}
        streams = {name: stream for name, stream in found.items() if stream is not None}
        if len(streams) < len(found):
            return

        def discard(batch: DataFrame, _: int) -> None:
            batch.toArrow()

        writer = self._defined(streams).writeStream.foreachBatch(discard)
        rehearsal = self._started(writer, "rehearsal")
        rehearsal.processAllAvailable()
        rehearsal.stop()

    def begin(self) -> None:
        streams = {name: self._connector.read(name) for name in self._assignment.load.streams}
        writer = self._connector.write(self._defined(streams))
        self._running = self._started(writer, "run")
        threading.Thread(target=self._watch, daemon=True).start()
        self._wait_until_it_waits(self._running)
        self._console.emit("ready")

    def _wait_until_it_waits(self, running: StreamingQuery) -> None:
        """Spark starts a process for each source, and plans, before it looks for events; a load
        that began earlier would queue up in the meantime."""
        deadline = time.monotonic() + LONGEST_START_S
        while running.isActive and time.monotonic() < deadline:
            if running.status["message"].startswith("Waiting for"):
                return
            time.sleep(0.05)

    def drain(self) -> None:
        assert self._running is not None
        try:
            self._running.processAllAvailable()
        except Exception:
            # The watcher reports why the query has failed.
            return
        self._console.emit("drained")

    def stop(self) -> None:
        self._ending.set()
        if self._running is not None:
            self._running.stop()

    def end(self) -> None:
        """Lets go of the input and of the state."""
        assert self._running is not None
        batches = reported_batches(self._running)
        self.stop()
        _forget_state(self._spark)
        self._console.emit("ended", diagnostics=[batch.model_dump() for batch in batches])

    def _defined(self, streams: Mapping[str, DataFrame]) -> DataFrame:
        fixed = self._query.fixed_inputs(self._spark.createDataFrame)
        defined: DataFrame = self._query.implementation(KIND)(**streams, **fixed)
        return defined

    def _started(self, writer: DataStreamWriter, checkpoint: str) -> StreamingQuery:
        return (
            writer.outputMode(self._query.output_mode)
            .option("checkpointLocation", str(self._assignment.checkpoint / checkpoint))
            .trigger(processingTime=f"{self._config.trigger_us} microseconds")
            .start()
        )

    def _watch(self) -> None:
        assert self._running is not None
        try:
            self._running.awaitTermination()
        except Exception as error:
            if self._ending.is_set():
                # A query that is stopped in the middle of a batch raises an error.
                return
            traceback.print_exc()
            _tell_failure(self._console, error)


def _forget_state(spark: SparkSession) -> None:
    """The state of a query that has ended would stay in this JVM for another minute."""
    jvm: Any = spark._jvm
    state = jvm.org.apache.spark.sql.execution.streaming.state
    getattr(getattr(state, "StateStore$"), "MODULE$").stop()


def _tell_failure(console: Console, error: Exception) -> None:
    reason, fix = explained_failure(error)
    console.emit("failed", reason=reason, fix=fix)


def explained_failure(error: Exception) -> tuple[str, str]:
    """Cause and fix, in words."""
    if _jvm_is_gone(error):
        return "Spark's JVM has ended", _JVM_FIX
    return _telling_line(error), _QUERY_FIX


def _jvm_is_gone(error: Exception) -> bool:
    """Py4J says in several ways that nobody is at the other end any more."""
    signs = ("Py4JNetworkError", "Answer from Java side is empty", "Connection refused")
    text = f"{type(error).__name__} {error}"
    return any(sign in text for sign in signs)


_JVM_FIX = "the log may say why; for lack of memory raise `system.memory`"
_QUERY_FIX = "the log has Spark's own explanation; correct the query or its settings"


def _telling_line(error: Exception) -> str:
    """The line of a Spark error that says something, without the stack."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "Error:" in line or "Exception:" in line]
    return (telling[-1] if telling else lines[0] if lines else type(error).__name__)[:300]


def main() -> None:
    console = Console()
    config = SparkProgramConfig.model_validate_json(Path(sys.argv[1]).read_text())
    try:
        SparkProgram(config, console).run()
    except StreamgaugeError as error:
        console.emit("failed", reason=error.cause, fix=error.fix)
        os._exit(1)
    except Exception as error:
        traceback.print_exc()
        _tell_failure(console, error)
        os._exit(1)


if __name__ == "__main__":
    main()
    # The JVM ends with our input pipe to it; an orderly shutdown of Spark only costs seconds.
    os._exit(0)
