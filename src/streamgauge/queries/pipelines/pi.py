"""Pi: terms of the Gregory–Leibniz series for every tuple, and a state of fixed size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pydantic import Field

from streamgauge.compute.tasks import spread
from streamgauge.dual.pipeline import Operation
from streamgauge.events.columns import Keys, Whole
from streamgauge.events.distributions import DistributionName
from streamgauge.events.spec import EVENT_TIME, LATEST_EVENT_TIME, StreamSpec
from streamgauge.queries.base import EVENT, Input, ResultShape, Stream
from streamgauge.queries.pipelines.base import PipelineQuery, running_counts
from streamgauge.queries.replay import Columns, Replay, Slice
from streamgauge.units import WholeNumber

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PART, TERMS, PI, TUPLES = "part", "terms", "pi", "tuples"
_COUNTS = pa.schema(
    [(PART, pa.int32()), (TUPLES, pa.int64()), ("latest_us", pa.int64()), (PI, pa.float64())]
)


class PiQuery(PipelineQuery):
    """The average estimate of π and the number of tuples, per part, since the beginning.

    Every tuple costs the same work, a number of terms of the series; the state is a row per part.
    """

    terms: WholeNumber = Field(
        default=1_000, ge=1, le=10_000_000, description="of the series, for every tuple"
    )
    parts: WholeNumber = Field(default=100, ge=1, le=1_000_000, description="rows of the state")
    distribution: DistributionName = Field(default="uniform", description="of parts")
    zipf_s: float = Field(default=1.0, gt=0, le=10, description="exponent of `zipf`")

    @property
    def inputs(self) -> Mapping[str, Input]:
        part = Keys(size=self.parts, distribution=self.distribution, zipf_s=self.zipf_s)
        # The number of terms is a part of the tuple: a constant would be computed once, in advance.
        terms = Whole(low=self.terms, high=self.terms)
        return {"tuples": Stream(StreamSpec(columns={PART: part, TERMS: terms}))}

    @property
    def shape(self) -> ResultShape:
        return ResultShape(keys=(PART,))

    def operations(self, **fixed: Any) -> Sequence[Operation]:  # noqa: ARG002
        return (Operation("compute", _compute), Operation("average", _average))

    def prefixes(self, **streams: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        time = F.col(EVENT_TIME).alias(LATEST_EVENT_TIME)
        counts = running_counts(streams[self.stream].select(PART, time, EVENT), (PART,))
        estimate = F.lit(_estimate(self.terms)).alias(PI)
        tuples = F.col("count").alias(TUPLES)
        return counts.select(PART, estimate, tuples, LATEST_EVENT_TIME, EVENT)

    def expected(self, spark: SparkSession, replay: Replay) -> DataFrame:
        """The series is summed once, exactly rounded; tuples are counted with NumPy."""
        from pyspark.sql import functions as F  # noqa: N812

        parts, estimate = self.parts, _estimate(self.terms)

        def counts(slices: Iterator[Slice]) -> Iterator[pa.RecordBatch]:
            for one in slices:
                yield _counted(replay.columns(one, (PART,)), parts, estimate)

        partial = spread(spark, replay.slices(self.stream), counts, _COUNTS).groupBy(PART)
        totals = partial.agg(
            F.max(PI).alias(PI), F.sum(TUPLES).alias(TUPLES), F.max("latest_us").alias("latest_us")
        )
        time = F.timestamp_micros("latest_us").alias(LATEST_EVENT_TIME)
        return totals.select(PART, PI, TUPLES, time)


def _compute(tuples: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    series = (
        f"4D * aggregate(sequence(0, {TERMS} - 1), 0D,"
        " (sum, n) -> sum + (1D - 2D * (n % 2)) / (2D * n + 1D))"
    )
    return tuples.select(PART, F.expr(series).alias(PI), EVENT_TIME)


def _average(estimates: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    return estimates.groupBy(PART).agg(
        F.avg(PI).alias(PI),
        F.count("*").alias(TUPLES),
        F.max(EVENT_TIME).alias(LATEST_EVENT_TIME),
    )


@lru_cache(maxsize=16)
def _estimate(terms: int) -> float:
    numbers = np.arange(terms)
    return 4.0 * fsum(np.where(numbers % 2, -1.0, 1.0) / (2 * numbers + 1))


def _counted(tuples: Columns, parts: int, estimate: float) -> pa.RecordBatch:
    count = np.bincount(tuples[PART], minlength=parts)
    latest = np.zeros(parts, dtype=np.int64)
    np.maximum.at(latest, tuples[PART], tuples[EVENT_TIME])
    (seen,) = np.nonzero(count)
    columns = [seen.astype(np.int32), count[seen], latest[seen], np.full(len(seen), estimate)]
    return pa.record_batch(columns, schema=_COUNTS)
