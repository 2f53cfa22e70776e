"""The PySpark program that is the system under test: `python -m … CONFIG`.

It rehearses the query on made-up events, starts it on the driver's queues and waits for commands.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from streamgauge.channels.direct.protocol import SinkClient
from streamgauge.component import Console
from streamgauge.errors import StreamgaugeError
from streamgauge.queries.load import build_query
from streamgauge.systems.base import SystemContext

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from streamgauge.channels.direct.spark_source import SourceConfig


class SparkProgramConfig(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    context: SystemContext
    master: str
    trigger_us: int
    max_events_per_batch: int | None
    rehearsal_batches: int
    conf: dict[str, str]


class SparkProgram:
    """One session, one query."""

    def __init__(self, config: SparkProgramConfig, console: Console) -> None:
        self._config = config
        self._console = console
        self._query = build_query(config.context.query)
        self._running: StreamingQuery | None = None

    def run(self) -> None:
        from streamgauge.channels.direct.spark_source import DirectSource
        from streamgauge.systems.spark.session import open_session

        config = self._config
        self._console.emit("phase", name="starting Spark")
        spark = open_session("streamgauge", config.master, config.context.scratch, config.conf)
        spark.dataSource.register(DirectSource)
        if config.rehearsal_batches:
            self._console.emit("phase", name="rehearsing")
            self._rehearse(spark)
        sink = SinkClient(config.context.sink)
        self._running = self._start(spark, self._sources(), sink.put, "run")
        threading.Thread(target=self._watch, args=(self._running,), daemon=True).start()
        self._console.emit("ready")
        for message in self._console.commands():
            if message["command"] == "drain":
                threading.Thread(target=self._drain, daemon=True).start()
        self._running.stop()

    def _rehearse(self, spark: SparkSession) -> None:
        rehearsal = self._start(spark, self._rehearsal_sources(), lambda _: None, "rehearsal")
        rehearsal.processAllAvailable()
        rehearsal.stop()

    def _sources(self) -> list[SourceConfig]:
        from streamgauge.channels.direct.spark_source import SourceConfig

        context = self._config.context
        return [
            SourceConfig(
                load=context.load,
                stream=stream,
                endpoints={i: context.queues[i] for i in context.load.instances_of(stream)},
                max_events_per_batch=self._config.max_events_per_batch,
            )
            for stream in context.load.streams
        ]

    def _rehearsal_sources(self) -> list[SourceConfig]:
        from streamgauge.channels.direct.spark_source import SourceConfig, rehearsal_of

        load = rehearsal_of(self._config.context.load, self._config.rehearsal_batches)
        return [SourceConfig(load=load, stream=name, endpoints={}) for name in load.streams]

    def _start(
        self,
        spark: SparkSession,
        sources: list[SourceConfig],
        put: Callable[[pa.Table], None],
        checkpoint: str,
    ) -> StreamingQuery:
        from streamgauge.channels.direct.spark_source import CONFIG, FORMAT

        delay = f"{self._config.context.load.watermark_delay_us} microseconds"
        streams = [
            spark.readStream.format(FORMAT)
            .option(CONFIG, source.model_dump_json())
            .load()
            .withWatermark("event_time", delay)
            for source in sources
        ]

        def deliver(batch: DataFrame, _: int) -> None:
            results = batch.toArrow()
            if results.num_rows:
                put(results)

        writer = (
            self._query.define(*streams)
            .writeStream.foreachBatch(deliver)
            .outputMode(self._query.output_mode)
            .option("checkpointLocation", str(self._config.context.scratch / checkpoint))
            .trigger(processingTime=f"{self._config.trigger_us} microseconds")
        )
        return writer.start()

    def _drain(self) -> None:
        assert self._running is not None
        try:
            self._running.processAllAvailable()
        except Exception:
            # The watcher says why the query has failed.
            return
        self._console.emit("drained")

    def _watch(self, running: StreamingQuery) -> None:
        try:
            running.awaitTermination()
        except Exception as error:
            traceback.print_exc()
            self._console.emit("failed", reason=_first_cause(error), fix=_fix(error))


def _fix(error: Exception) -> str:
    return _JVM_FIX if _jvm_is_gone(error) else _QUERY_FIX


def _jvm_is_gone(error: Exception) -> bool:
    """Py4J says in several ways that nobody is at the other end any more."""
    signs = ("Py4JNetworkError", "Answer from Java side is empty", "Connection refused")
    text = f"{type(error).__name__} {error}"
    return any(sign in text for sign in signs)


_JVM_FIX = "the log may say why; for lack of memory raise `system.memory`"
_QUERY_FIX = "the log has Spark's own explanation; correct the query or its settings"


def _first_cause(error: Exception) -> str:
    """The line of a Spark error that says something, without the stack."""
    if _jvm_is_gone(error):
        return "Spark's JVM has ended"
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
        console.emit("failed", reason=_first_cause(error), fix=_fix(error))
        os._exit(1)


if __name__ == "__main__":
    main()
    # The JVM ends with our input pipe to it; an orderly shutdown of Spark only costs seconds.
    os._exit(0)
