"""The PySpark program that is the system under test: `python -m … CONFIG`.

One session for all assignments. For each it rehearses the query on made-up events, unless it has
run that query before, and starts it on the driver's queues.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from streamgauge.channels.direct.protocol import SinkClient
from streamgauge.errors import StreamgaugeError
from streamgauge.processes.component import Console
from streamgauge.queries.base import Query
from streamgauge.queries.load import build_query
from streamgauge.queries.own import QueryConfig
from streamgauge.systems.base import Assignment, SystemContext
from streamgauge.systems.spark.own_words import own_words

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from streamgauge.channels.direct.spark_source import SourceConfig


LONGEST_START_S = 30.0


class SparkProgramConfig(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    context: SystemContext
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
        from streamgauge.channels.direct.spark_source import DirectSource
        from streamgauge.compute.session import open_session

        config = self._config
        self._console.emit("phase", name="starting Spark")
        spark = open_session("streamgauge", config.master, config.context.scratch, config.conf)
        spark.dataSource.register(DirectSource)
        self._console.emit("up")
        work: _Work | None = None
        for message in self._console.commands():
            if message["command"] == "begin":
                assignment = Assignment.model_validate(message["assignment"])
                work = _Work(spark, self._config, assignment, self._console)
                if config.rehearsal_batches and assignment.query not in self._rehearsed:
                    self._console.emit("phase", name="rehearsing")
                    work.rehearse()
                    self._rehearsed.append(assignment.query)
                self._console.emit("phase", name="starting the query")
                work.begin()
            elif message["command"] == "drain" and work is not None:
                threading.Thread(target=work.drain, daemon=True).start()
            elif message["command"] == "end" and work is not None:
                work.end()
                work = None
        if work is not None:
            work.stop()


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
        self._running: StreamingQuery | None = None
        self._ending = threading.Event()

    def rehearse(self) -> None:
        rehearsal = self._start(self._rehearsal_sources(), lambda _: None, "rehearsal")
        rehearsal.processAllAvailable()
        rehearsal.stop()

    def begin(self) -> None:
        sink = SinkClient(self._assignment.sink)
        self._running = self._start(self._sources(), sink.put, "run")
        threading.Thread(target=self._watch, daemon=True).start()
        self._wait_until_it_waits(self._running)
        self._console.emit("ready")

    def _wait_until_it_waits(self, running: StreamingQuery) -> None:
        """Spark starts a process for each source, and plans, before it looks for events; a load
        that began earlier would find nobody there."""
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
            # The watcher says why the query has failed.
            return
        self._console.emit("drained")

    def stop(self) -> None:
        self._ending.set()
        if self._running is not None:
            self._running.stop()

    def end(self) -> None:
        """Lets go of the input, of the state and of the checkpoint."""
        assert self._running is not None
        words = own_words(self._running)
        self.stop()
        _forget_state(self._spark)
        shutil.rmtree(self._checkpoints, ignore_errors=True)
        self._console.emit("ended", own_words=words)

    def _sources(self) -> list[SourceConfig]:
        from streamgauge.channels.direct.spark_source import SourceConfig

        load, queues = self._assignment.load, self._assignment.queues
        return [
            SourceConfig(
                load=load,
                stream=stream,
                endpoints={i: queues[i] for i in load.instances_of(stream)},
                max_events_per_batch=self._config.max_events_per_batch,
            )
            for stream in load.streams
        ]

    def _rehearsal_sources(self) -> list[SourceConfig]:
        from streamgauge.channels.direct.spark_source import SourceConfig, rehearsal_of

        load = rehearsal_of(self._assignment.load, self._config.rehearsal_batches)
        return [SourceConfig(load=load, stream=name, endpoints={}) for name in load.streams]

    @property
    def _checkpoints(self) -> Path:
        return self._config.context.scratch / f"checkpoints-{self._assignment.number}"

    def _start(
        self, sources: list[SourceConfig], put: Callable[[pa.Table], None], checkpoint: str
    ) -> StreamingQuery:
        from streamgauge.channels.direct.spark_source import read_events

        streams = [read_events(self._spark, source) for source in sources]

        def deliver(batch: DataFrame, _: int) -> None:
            results = batch.toArrow()
            if results.num_rows:
                put(results)

        writer = (
            self._query.define(*streams)
            .writeStream.foreachBatch(deliver)
            .outputMode(self._query.output_mode)
            .option("checkpointLocation", str(self._checkpoints / checkpoint))
            .trigger(processingTime=f"{self._config.trigger_us} microseconds")
        )
        return writer.start()

    def _watch(self) -> None:
        assert self._running is not None
        try:
            self._running.awaitTermination()
        except Exception as error:
            if self._ending.is_set():
                # A query that is stopped in the middle of a batch complains about it.
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
