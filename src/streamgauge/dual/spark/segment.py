"""A segment: neighbouring operations that run as one query from a topic to a topic."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from streamgauge.dual.pipeline import Operation
from streamgauge.dual.spark.following import Steps, followed, steps_of
from streamgauge.dual.spark.rows import as_rows, as_text
from streamgauge.dual.topics import SOURCE
from streamgauge.errors import StreamgaugeError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader
    from pyspark.sql.types import StructType

_PARTITION, _OFFSET, _TIME = "__dual_partition", "__dual_offset", "__dual_time"
_HIDDEN = (_PARTITION, _OFFSET, _TIME)
RECORD = ("key", "value", "timestamp")
"""The columns of the rows that the first operation gets."""


@dataclass(frozen=True, eq=False)
class Segment:
    """What is the same of a segment in both paradigms."""

    session: SparkSession
    operations: tuple[Operation, ...]
    source: str
    sink: str
    partitions: int
    """Of the source, and of a topic between segments."""
    client: Mapping[str, str]
    """Options of Spark's Kafka source and sink."""
    reads: StructType | None
    """Of the rows in the source; None: records of any kind, for the first operation."""
    last: bool
    """Whether the sink is that of the pipeline."""

    @property
    def name(self) -> str:
        return "+".join(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.operations)

    @cached_property
    def steps(self) -> Steps:
        return steps_of(self._applied(self._any_records))

    @property
    def stateful(self) -> bool:
        return self.steps.stateful > 0

    @cached_property
    def returns(self) -> StructType:
        """Of the rows that the last of its operations returns."""
        return self._applied(self._any_records).schema

    @property
    def _any_records(self) -> DataFrame:
        return self._records(self.session.readStream, {"subscribe": self.source})

    def messages(
        self, offsets: Mapping[int, int] | None = None, limit: int | None = None
    ) -> DataFrame:
        """The stream of messages for the sink, of the records from `offsets` on.

        `limit`: most records of a micro-batch.
        """
        starting = "earliest" if offsets is None else offsets_option(self.source, offsets)
        options = {"subscribe": self.source, "startingOffsets": starting}
        if limit is not None:
            options["maxOffsetsPerTrigger"] = str(limit)
        return self._addressed(self._applied(self._records(self.session.readStream, options)))

    def messages_of(self, records: Mapping[int, int]) -> DataFrame:
        """The messages that one record of each partition, by its offset, gives."""
        after = {number: offset + 1 for number, offset in records.items()}
        options = {
            "assign": json.dumps({self.source: list(records)}),
            "startingOffsets": offsets_option(self.source, records),
            "endingOffsets": offsets_option(self.source, after),
        }
        rows = self._applied(self._records(self.session.read, options))
        told = followed(rows, [_PARTITION])
        return told.select(told[_PARTITION].alias("partition"), *self._contents(rows.schema))

    def _records(
        self, reader: DataStreamReader | DataFrameReader, options: Mapping[str, str]
    ) -> DataFrame:
        """Records of the source, with the columns that tell where they come from."""
        from pyspark.sql import functions as F  # noqa: N812

        given = {**self.client, "failOnDataLoss": "true", **options}
        records = reader.format("kafka").options(**given).load()
        return records.select(
            *RECORD,
            F.col("partition").alias(_PARTITION),
            F.col("offset").alias(_OFFSET),
            F.col("timestamp").alias(_TIME),
        )

    def _applied(self, base: DataFrame) -> DataFrame:
        """What the operations make of the records; they do not see the hidden columns."""
        if self.reads is None:
            rows = base.select(*RECORD)
        else:
            rows = as_rows(base, self.reads, _HIDDEN).select(*self.reads.names)
        for operation in self.operations:
            rows = operation.apply(rows)
        return rows

    def _addressed(self, rows: DataFrame) -> DataFrame:
        """With partition and header of each message."""
        from pyspark.sql import functions as F  # noqa: N812

        if self.stateful:
            told = followed(rows, [_TIME])
            source: Column = F.unix_micros(_TIME)
            # All updates of a key come out of one task, so they stay in order.
            partition = F.pmod(F.spark_partition_id(), F.lit(self.partitions))
        else:
            told = followed(rows, [_PARTITION, _OFFSET])
            source, partition = F.col(_OFFSET), F.col(_PARTITION)
        header = F.struct(
            F.lit(SOURCE).alias("key"), source.cast("string").cast("binary").alias("value")
        )
        columns = [F.array(header).alias("headers")]
        if not (self.stateful and self.last and "key" in rows.columns):
            columns.append(partition.alias("partition"))
        return told.select(*columns, *self._contents(rows.schema))

    def _contents(self, columns: StructType) -> list[Column]:
        """Of a message: the user's key and value, or a row for the next segment."""
        from pyspark.sql import functions as F  # noqa: N812

        if not self.last:
            return [as_text(columns).alias("value")]
        return [F.col(name) for name in ("key", "value") if name in columns.names]


def offsets_option(topic: str, offsets: Mapping[int, int]) -> str:
    """As Spark's Kafka source wants them."""
    return json.dumps({topic: {str(number): at for number, at in offsets.items()}})


def check_segments(segments: Sequence[Segment]) -> None:
    """Refuses what the runtime could not run exactly."""
    stateful = 0
    for segment in segments:
        steps = segment.steps
        where = f"the operations {segment.name}" if len(segment.names) > 1 else f"`{segment.name}`"
        if steps.unknown:
            raise StreamgaugeError(
                f"records cannot be followed through {where}: it has the step {steps.unknown[0]}",
                fix="use select, where, explode, a join with a static table, groupBy().agg or "
                "dropDuplicates",
            )
        if not steps.deterministic:
            raise StreamgaugeError(
                f"{where} gives another result when a record is processed again",
                fix="leave out rand(), uuid() and the like",
            )
        stateful += steps.stateful
    if stateful > 1:
        raise StreamgaugeError(
            f"the pipeline has {stateful} operations with state, and updates of the first would "
            "count twice in the next",
            fix="keep one aggregation, or run two pipelines",
        )
    last = segments[-1]
    if "value" not in last.returns.names:
        raise StreamgaugeError(
            f"the last operation, `{last.names[-1]}`, returns no column `value`",
            fix="return `value`, and `key` where results replace each other: the message",
        )
    if last.stateful and "key" not in last.returns.names:
        raise StreamgaugeError(
            f"the last operation, `{last.names[-1]}`, returns updates without a column `key`",
            fix="return the grouping columns as `key`: a reader must know what an update replaces",
        )
