"""Spark on the Kafka channel: its own Kafka source and sink; JSON, CSV or lines in, JSON out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from streamgauge.channels.kafka.channel import KafkaOffer
from streamgauge.channels.kafka.client import client_settings
from streamgauge.channels.kafka.messages import encoded
from streamgauge.dual.spark.client import spark_options
from streamgauge.events.sources import EVENT_TIME, LINE, NUMBER
from streamgauge.events.spec import SCHEDULED_TIME
from streamgauge.queries.base import Mirror, ResultShape
from streamgauge.queries.load import build_query
from streamgauge.systems.base import Assignment
from streamgauge.systems.spark.connector import SparkConnector
from streamgauge.systems.spark.following import Follower

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter
    from pyspark.sql.types import DataType

    from streamgauge.systems.spark.system import SparkBase

REHEARSAL_ROWS = 200_000
REHEARSAL_STEP_US = 1_000_000
_FLUSH_TIMEOUT_S = 30.0
# The defaults send every row at once, and halve the throughput.
_SINK = {"kafka.linger.ms": "5", "kafka.batch.size": "262144"}


class KafkaConnector(SparkConnector):
    """Reads a topic for each stream and writes one topic."""

    def __init__(self, session: SparkSession, assignment: Assignment, system: SparkBase) -> None:
        super().__init__(session, assignment, system)
        self.offer = KafkaOffer.model_validate(assignment.offer)
        self.shape = build_query(assignment.query).shape
        self.client = spark_options(client_settings(self.offer.client))

    def read(self, stream: str) -> DataFrame:
        limit = self.system.most_per_batch
        share = None if limit is None else max(1, limit // len(self.assignment.load.streams))
        return self._read(stream, self.offer.topics[stream], share)

    def write(self, results: DataFrame) -> DataStreamWriter:
        return self._write(results, self.offer.output)

    def rehearse(self, stream: str, batches: int) -> DataFrame:
        """Made-up events in a topic of their own, through the same source."""
        topic = self.offer.rehearsal[stream]
        sent = self.send_made_up(stream, topic, batches)
        # Real-time mode takes no limit: its batches are as long as they last.
        return self._read(
            stream, topic, max(1, sent // batches) if self.system.micro_batches else None
        )

    def discard(self, results: DataFrame) -> DataStreamWriter:
        return self._write(results, self.offer.rehearsal_output)

    def follow(self, mirror: Mirror, failed: Callable[[Exception], None]) -> Follower:
        begins = self.offer.output_begins
        return Follower(self.offer.client, self.offer.output, begins, mirror, failed)

    def _read(self, stream: str, topic: str, most_per_batch: int | None) -> DataFrame:
        reader = self.session.readStream.format("kafka").options(
            **self.client, subscribe=topic, startingOffsets="earliest", failOnDataLoss="true"
        )
        if most_per_batch is not None:
            reader = reader.option("maxOffsetsPerTrigger", most_per_batch)
        return self.events(stream, reader.load())

    def events(self, stream: str, messages: DataFrame) -> DataFrame:
        """The events in messages of a topic, with the watermark of the load."""
        from pyspark.sql import functions as F  # noqa: N812
        from pyspark.sql.pandas.types import from_arrow_schema

        load = self.assignment.load
        settings = load.streams[stream]
        fields = from_arrow_schema(settings.source.schema).fields
        text = F.col("value").cast("string")
        if self.offer.format == "lines":
            event = _line(text)
        else:
            schema = ", ".join(f"`{one.name}` {_in_message(one.dataType)}" for one in fields)
            parse = F.from_json if self.offer.format == "json" else F.from_csv
            event = parse(text, schema)
        events = messages.select(event.alias("event"), "timestamp")
        columns = [_typed(F.col(f"event.`{one.name}`"), one.dataType, one.name) for one in fields]
        if settings.clock == "broker":
            scheduled = columns[0].alias(SCHEDULED_TIME)
            columns[:1] = [F.col("timestamp").alias(EVENT_TIME), scheduled]
        delay = f"{load.watermark_delay_us // 1_000} milliseconds"
        return events.select(*columns).withWatermark(EVENT_TIME, delay)

    def _write(self, results: DataFrame, topic: str) -> DataStreamWriter:
        options = {**_SINK, **self.client, "topic": topic}
        messages = as_messages(results, self.shape)
        return messages.writeStream.format("kafka").options(**options)

    def send_made_up(self, stream: str, topic: str, batches: int, least: int = 0) -> int:
        """Events of some seconds of the load, but not fewer than `least`."""
        from confluent_kafka import Producer

        producer = Producer(
            {
                **client_settings(self.offer.client),
                "queue.buffering.max.messages": 2 * REHEARSAL_ROWS,
                "linger.ms": 5,
            }
        )
        given = self.assignment.load
        length_us = max(batches * REHEARSAL_STEP_US, round(least / given.rate_per_s * 1e6))
        load = given.evenly(length_us, REHEARSAL_ROWS * 1e6 / length_us)
        start_us, parts, sent = time.time_ns() // 1_000, self.offer.partitions, 0
        for number in load.instances_of(stream):
            feed = load.build_feed(number)
            events = feed.events.batch(0, feed.times.total, start_us)
            values = encoded(events, self.offer.format).to_pylist()
            for part in range(parts):
                messages = [{"value": value} for value in values[part::parts]]
                sent += producer.produce_batch(topic, messages, part)
        producer.flush(_FLUSH_TIMEOUT_S)
        return sent


def as_messages(results: DataFrame, shape: ResultShape) -> DataFrame:
    """Key and value of the message of each result."""
    from pyspark.sql import functions as F  # noqa: N812

    kinds = {one.name: one.dataType for one in results.schema}

    def json(names: Iterable[str]) -> Column:
        columns = [_micros(F.col(f"`{name}`"), kinds[name], name) for name in names]
        return F.to_json(F.struct(*columns))

    value = F.col(f"`{shape.text}`") if shape.text else json(kinds)
    # The key of a message that is a text tells the time of its input.
    names = [*shape.keys, *([shape.input_time] if shape.text else [])]
    # Updates of one result stay in order, because they go to one partition.
    key = json(names) if names else F.lit(None).cast("string")
    return results.select(key.alias("key"), value.alias("value"))


def _line(text: Column) -> Column:
    """`id;time;line` as a struct."""
    from pyspark.sql import functions as F  # noqa: N812

    parts = F.split(text, ";", 3)
    return F.struct(
        parts[0].cast("bigint").alias(NUMBER),
        parts[1].cast("bigint").alias(EVENT_TIME),
        parts[2].alias(LINE),
    )


def _in_message(kind: DataType) -> str:
    """The type of a column in a message: times are whole microseconds."""
    from pyspark.sql.types import StructType, TimestampType

    if isinstance(kind, StructType):
        inner = ", ".join(f"`{one.name}`: {_in_message(one.dataType)}" for one in kind.fields)
        return f"struct<{inner}>"
    return "bigint" if isinstance(kind, TimestampType) else kind.simpleString()


def _typed(column: Column, kind: DataType, name: str) -> Column:
    """A column of a message in its own type."""
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.types import StructType, TimestampType

    if isinstance(kind, StructType):
        fields = [_typed(column[one.name], one.dataType, one.name) for one in kind.fields]
        return F.struct(*fields).alias(name)
    typed = F.timestamp_micros(column) if isinstance(kind, TimestampType) else column
    return typed.alias(name)


def _micros(column: Column, kind: DataType, name: str) -> Column:
    """A column as it is written into a message."""
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.types import StructType, TimestampType

    if isinstance(kind, StructType):
        fields = [_micros(column[one.name], one.dataType, one.name) for one in kind.fields]
        return F.struct(*fields).alias(name)
    written = F.unix_micros(column) if isinstance(kind, TimestampType) else column
    return written.alias(name)
