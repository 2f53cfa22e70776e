"""What the places and times of messages in a broker tell: a clock that went back, a changed order,
and whether the log of a stream has the events that were offered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq

from streamgauge.events.sources import LINE, NUMBER
from streamgauge.events.spec import BROKER_TIME, MESSAGE, OFFSET, PARTITION
from streamgauge.measure.record import RunRecord
from streamgauge.queries.base import Query
from streamgauge.queries.own import batch_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SUM = "DECIMAL(38, 0)"


def times_back(folders: Iterable[Path]) -> int:
    """How often the time of a broker is before that of the message before it in its partition."""
    found = 0
    for folder in folders:
        last: dict[int, int] = {}
        for part in sorted(folder.glob("part-*.parquet")):
            names = pq.read_schema(part).names
            if PARTITION not in names:
                break
            table = pq.read_table(part, columns=[PARTITION, OFFSET, BROKER_TIME])
            partitions, offsets, times = (one.to_numpy() for one in table.columns)
            for partition in np.unique(partitions):
                own = partitions == partition
                in_order = times[own][np.argsort(offsets[own], kind="stable")]
                before = np.concatenate([[last.get(partition, in_order[0])], in_order[:-1]])
                found += int((in_order < before).sum())
                last[partition] = int(in_order[-1])
    return found


def out_of_order(results: DataFrame, query: Query) -> int | None:
    """Results before which a later one came in their partition; None if no order was asked for."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    column = query.shape.in_order
    if column is None:
        return None
    before = F.max(column).over(
        Window.partitionBy(PARTITION).orderBy(OFFSET).rowsBetween(Window.unboundedPreceding, -1)
    )
    marked = results.select((F.col(column) < before).alias("late"))
    return int(marked.where("late").count())


def log_matches(spark: SparkSession, record: RunRecord, streams: Sequence[str]) -> bool:
    """Whether the broker has every event that was offered, once and unchanged."""
    from pyspark.sql import functions as F  # noqa: N812

    def sums(events: DataFrame) -> tuple[int, int]:
        total = F.sum(F.xxhash64(NUMBER, LINE).cast(_SUM))
        row = events.agg(F.count("*").alias("count"), total.alias("total")).collect()[0]
        return int(row["count"]), int(row["total"] or 0)

    for stream in streams:
        parts = F.split(MESSAGE, ";", 3)
        log = spark.read.parquet(*record.replay.log_parts(stream)).select(
            parts[0].cast("bigint").alias(NUMBER), parts[2].alias(LINE)
        )
        if sums(log) != sums(batch_of(spark, record.replay, stream).select(NUMBER, LINE)):
            return False
    return True
