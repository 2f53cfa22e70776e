"""Spark on the direct channel: a Python streaming data source that yields Arrow batches.

The offset is one number, a time of the schedule, for all driver instances of a stream together, so
that the watermark, which follows the highest event time, is never ahead of a queue.

Events are sent in packs: one row of the source has a list of values per column, and Spark's
compiled code makes one row per event of it. Rows of a Python source are expensive: single events
would cost more than a fifth of a windowed count. The watermark follows the packs for the same
reason: Spark's operator for it is outside the compiled code, and would divide it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, MutableMapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows
from pyspark.sql.types import StructType

from streamgauge.channels.direct.channel import DirectOffer
from streamgauge.channels.direct.protocol import QueueClient, Range, SinkClient
from streamgauge.channels.direct.security import Endpoint
from streamgauge.driver.config import LoadConfig
from streamgauge.events.spec import EVENT_TIME
from streamgauge.models import StrictModel
from streamgauge.systems.base import Assignment
from streamgauge.systems.spark.connector import SparkConnector

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from streamgauge.systems.spark.system import SparkBase

FORMAT = "streamgauge-direct"
CONFIG = "config"
PACK = 1_024
"""Most events in one row of the source. Of 256, 1,024 and 8,192 the last was a tenth slower."""
_PLACE = "place in pack"
_LATEST = "latest in pack"
_WATERMARK_DELAY_MS = "spark.watermarkDelayMs"
"""Marks a column as the event time for Spark's operators."""
OFFSET = "until_us"
REHEARSAL_STEP_US = 1_000_000
REHEARSAL_ROWS = 200_000
"""Most events in one batch of a rehearsal."""


class SourceConfig(StrictModel):
    """One stream, and the driver instances that offer it."""

    load: LoadConfig
    stream: str
    endpoints: dict[int, Endpoint]
    """By driver instance; empty in a rehearsal, where each task makes its events itself."""
    max_events_per_batch: int | None = None


class DirectConnector(SparkConnector):
    """Pulls from the queues of the driver; results go to its sink batch by batch."""

    def __init__(self, session: SparkSession, assignment: Assignment, system: SparkBase) -> None:
        super().__init__(session, assignment, system)
        self._offer = DirectOffer.model_validate(assignment.offer)
        session.dataSource.register(DirectSource)

    def read(self, stream: str) -> DataFrame:
        load, queues = self.assignment.load, self._offer.queues
        config = SourceConfig(
            load=load,
            stream=stream,
            endpoints={number: queues[number] for number in load.instances_of(stream)},
            max_events_per_batch=self.system.most_per_batch,
        )
        return read_events(self.session, config)

    def write(self, results: DataFrame) -> DataStreamWriter:
        sink, by_name = SinkClient(self._offer.sink), self._offer.by_name

        def deliver(batch: DataFrame, number: int) -> None:
            rows = batch.toArrow()
            if rows.num_rows:
                # Spark runs a batch again with the same number and the same input.
                sink.put(rows, f"batch {number}" if by_name else None)

        return results.writeStream.foreachBatch(deliver)

    def rehearse(self, stream: str, batches: int) -> DataFrame:
        load = self.assignment.load.evenly(batches * REHEARSAL_STEP_US, REHEARSAL_ROWS)
        return read_events(self.session, SourceConfig(load=load, stream=stream, endpoints={}))


def read_events(session: SparkSession, config: SourceConfig) -> DataFrame:
    """The events of a stream, one row each, with a watermark on their time.

    The watermark follows the highest time of each pack. The column of the events has only the mark
    by which windows and joins recognise the event time.
    """
    from pyspark.sql import functions as F  # noqa: N812

    delay_ms = config.load.watermark_delay_us // 1_000
    packs = (
        session.readStream.format(FORMAT)
        .option(CONFIG, config.model_dump_json())
        .load()
        .withWatermark(f"`{_LATEST}`", f"{delay_ms} milliseconds")
    )
    others = {
        name: F.col(f"`{name}`") for name in packs.columns if name not in (EVENT_TIME, _LATEST)
    }
    placed = packs.select(F.posexplode(EVENT_TIME).alias(_PLACE, EVENT_TIME), *others.values())
    time = F.col(EVENT_TIME).alias(EVENT_TIME, metadata={_WATERMARK_DELAY_MS: delay_ms})
    values = [column[F.col(_PLACE)].alias(name) for name, column in others.items()]
    return placed.select(time, *values)


class DirectSource(DataSource):
    """The stream in packs; `read_events` makes single events of them."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._config = SourceConfig.model_validate_json(options[CONFIG])

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        source = self._config.load.streams[self._config.stream].source
        return from_arrow_schema(_packed(source.schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: ARG002, N802
        return (_QueueReader if self._config.endpoints else _RehearsalReader)(self._config)


class _Part(InputPartition):
    """A range of one driver instance."""

    def __init__(self, instance: int, wanted: Range) -> None:
        super().__init__(None)
        self.instance = instance
        self.wanted = wanted


class _Reader(DataSourceStreamReader):
    def __init__(self, config: SourceConfig) -> None:
        self._config = config

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {OFFSET: 0}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[_Part]:
        wanted = Range(from_us=start[OFFSET], until_us=end[OFFSET])
        instances = self._config.load.instances_of(self._config.stream)
        return [_Part(instance, wanted) for instance in instances]


class _QueueReader(_Reader):
    """Pulls from the queues of the driver."""

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        limit = self._config.max_events_per_batch
        return ReadMaxRows(limit) if limit else ReadAllAvailable()

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        endpoints, after = self._config.endpoints.values(), start[OFFSET]
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        share = None if most is None else max(1, most // len(endpoints))
        return {OFFSET: max(after, min(_client(one).head_us(after, share) for one in endpoints))}

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _Part)
        endpoint = self._config.endpoints[partition.instance]
        yield from map(_packs, _client(endpoint).fetch(partition.wanted))

    def commit(self, end: dict[str, int]) -> None:
        for endpoint in self._config.endpoints.values():
            _client(endpoint).commit(end[OFFSET])


class _RehearsalReader(_Reader):
    """A few batches of made-up events before the run, so that the JVM has compiled the query."""

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: ARG002, N802
        end = self._config.load.duration_us
        return {OFFSET: min(start[OFFSET] + REHEARSAL_STEP_US, end)}

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _Part)
        feed = self._config.load.build_feed(partition.instance)
        first = feed.times.count_before(partition.wanted.from_us)
        last = feed.times.count_before(partition.wanted.until_us)
        yield _packs(feed.events.batch(first, last))


def _packed(schema: pa.Schema) -> pa.Schema:
    """The same columns, with lists of their values, and the highest time of each pack."""
    lists = [
        pa.field(one.name, pa.list_(pa.field("element", one.type, one.nullable)), nullable=False)
        for one in schema
    ]
    return pa.schema([*lists, pa.field(_LATEST, schema.field(EVENT_TIME).type, nullable=False)])


def _packs(events: pa.RecordBatch) -> pa.RecordBatch:
    """Without a copy: only the borders of the packs and their highest times are new."""
    begins = np.arange(0, events.num_rows, PACK)
    offsets = pa.array(np.append(begins, events.num_rows), type=pa.int32())
    schema = _packed(events.schema)
    lists = [
        pa.ListArray.from_arrays(offsets, values, type=kind)
        for values, kind in zip(events.columns, schema.types[:-1], strict=True)
    ]
    times = events.column(EVENT_TIME).cast(pa.int64()).to_numpy()
    latest = pa.array(np.maximum.reduceat(times, begins)).cast(schema.types[-1])
    return pa.RecordBatch.from_arrays([*lists, latest], schema=schema)


@lru_cache(maxsize=256)
def _client(endpoint: Endpoint) -> QueueClient:
    """One connection per process and instance: Spark keeps its Python workers between batches."""
    # Spark's worker collects garbage after every task, and a walk through all that was imported
    # takes longer than the task's own work in Python.
    gc.freeze()
    return QueueClient(endpoint)
