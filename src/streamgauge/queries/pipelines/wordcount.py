"""Word count: how often each word has come since the beginning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from streamgauge.compute.tasks import spread
from streamgauge.dual.pipeline import Operation
from streamgauge.events.sources import LINE, NUMBER
from streamgauge.events.spec import EVENT_TIME, LATEST_EVENT_TIME
from streamgauge.queries.base import EVENT, Input, ResultShape
from streamgauge.queries.pipelines.base import running_counts
from streamgauge.queries.pipelines.state import events_to_fill, pieces_sql
from streamgauge.queries.pipelines.text import LinesQuery, by_line
from streamgauge.queries.replay import Replay, Slice
from streamgauge.units import ByteCount

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WORD, COUNT = "word", "count"
_COUNTS = pa.schema([(WORD, pa.string()), (COUNT, pa.int64()), ("latest_us", pa.int64())])

_WORDS = f"{WORD} string, {LATEST_EVENT_TIME} timestamp, {EVENT} bigint"


class WordCountQuery(LinesQuery):
    """The number of each word so far; words are what stands between blanks."""

    state: ByteCount = Field(
        default=0, le=1 << 40, description="size of a text that the counting operator keeps besides"
    )

    @property
    def inputs(self) -> Mapping[str, Input]:
        return {"sentences": self.lines_stream(numbered=self.state > 0)}

    @property
    def shape(self) -> ResultShape:
        return ResultShape(keys=(WORD,))

    def operations(self, **fixed: Any) -> Sequence[Operation]:  # noqa: ARG002
        return (Operation("split", self._split), Operation("count", _count))

    def _split(self, events: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        words, time = F.split(LINE, " "), F.col(EVENT_TIME)
        if self.state:
            brings = F.col(NUMBER) < events_to_fill(self.state)
            pieces = F.expr(pieces_sql(self.state, NUMBER))
            words = F.when(brings, F.concat(words, pieces)).otherwise(words)
            # Pieces have no time, by which they are told from words behind the count.
            time = F.when(~F.startswith(F.col(WORD), F.lit(" ")), time).alias(EVENT_TIME)
        exploded = events.select(F.explode(words).alias(WORD), EVENT_TIME)
        return exploded.where(F.col(WORD) != "").select(WORD, time)

    def prefixes(self, **streams: DataFrame) -> DataFrame:
        words = streams[self.stream].mapInArrow(_split_by_arrow, _WORDS)
        return running_counts(words, (WORD,))

    def expected(self, spark: SparkSession, replay: Replay) -> DataFrame:
        """Every different line is split once, in Python, and counted as often as it came."""
        from pyspark.sql import functions as F  # noqa: N812

        def counts(slices: Iterator[Slice]) -> Iterator[pa.RecordBatch]:
            for part in slices:
                yield _counted(replay.batch(part))

        partial = spread(spark, replay.slices(self.stream), counts, _COUNTS).groupBy(WORD)
        totals = partial.agg(F.sum(COUNT).alias(COUNT), F.max("latest_us").alias("latest_us"))
        return totals.select(WORD, COUNT, F.timestamp_micros("latest_us").alias(LATEST_EVENT_TIME))


def _count(words: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    counts = words.groupBy(WORD).agg(
        F.count("*").alias(COUNT), F.max(EVENT_TIME).alias(LATEST_EVENT_TIME)
    )
    # A condition on the word itself would be pushed below the count, and keep pieces out of it.
    return counts.where(F.col(LATEST_EVENT_TIME).isNotNull())


def _split_by_arrow(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        words = pc.split_pattern(batch.column(LINE), " ")
        rows = batch.select([EVENT_TIME, EVENT]).take(pc.list_parent_indices(words))
        split = pa.record_batch([words.flatten(), *rows.columns], [WORD, LATEST_EVENT_TIME, EVENT])
        yield split.filter(pc.not_equal(split.column(WORD), ""))


def _counted(events: pa.RecordBatch) -> pa.RecordBatch:
    times = events.column(EVENT_TIME).cast(pa.int64()).to_numpy()
    words, which = by_line(events.column(LINE), lambda line: [w for w in line.split(" ") if w])
    came = np.bincount(which, minlength=len(words))
    latest = np.zeros(len(words), dtype=np.int64)
    np.maximum.at(latest, which, times)
    lengths = [len(one) for one in words]
    known, place = np.unique(np.array(list(chain(*words)), dtype=object), return_inverse=True)
    total = np.bincount(place, weights=np.repeat(came, lengths), minlength=len(known))
    last = np.zeros(len(known), dtype=np.int64)
    np.maximum.at(last, place, np.repeat(latest, lengths))
    return pa.record_batch(
        [pa.array(known, pa.string()), total.astype(np.int64), last], schema=_COUNTS
    )
