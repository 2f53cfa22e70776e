"""Latency of every result, calculated on Spark from the run directory.

Both times of a latency are columns of the result, which the shape of the query names.
Event-time latency: time of the output (by default its arrival at the sink) − time of the last
input. Processing-time latency: time of the output − the time at which the inputs up to that event
time had been handed to the system.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from streamgauge.measure.summary import Histogram, Latency, LatencySeries, LatencyStatistics
from streamgauge.measure.trend import growth_of
from streamgauge.queries.base import ResultShape

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99_9": 0.999}
BEYOND = 10
"""A quantile is shown when at least this many results lie beyond it."""
KINDS = ("event_time", "processing_time")
BINS_PER_DECADE = 40
_LATENCIES = pa.schema(
    [("second", pa.int64()), ("event_time", pa.float64()), ("processing_time", pa.float64())]
)


class Handovers:
    """When the system had been handed what was due up to a time of the schedule."""

    def __init__(self, streams: Iterable[Sequence[pa.Table | None]]) -> None:
        """The hand-overs of the driver instances of each stream."""
        self._streams = [
            [_steps(table) for table in tables if table is not None] for tables in streams
        ]

    def at(self, times_us: NDArray[np.int64]) -> NDArray[np.float64]:
        """The slowest instance of a stream decides; of several streams, the quickest.

        Which stream the latest input of a result came from is not known. Its hand-over is not
        before that of the quickest stream, so the latency is never underestimated.
        """
        moments = np.full(len(times_us), np.inf)
        for instances in self._streams:
            handed = [steps.at(times_us) for steps in instances]
            if handed:
                moments = np.minimum(moments, np.max(handed, axis=0))
        return np.where(np.isfinite(moments), moments, np.nan)


@dataclass(frozen=True)
class _Steps:
    """The hand-overs of one instance, in the order of the schedule."""

    until_us: NDArray[np.int64]
    handed_us: NDArray[np.int64]

    def at(self, times_us: NDArray[np.int64]) -> NDArray[np.float64]:
        """Infinity for what was never handed over."""
        place = np.searchsorted(self.until_us, times_us, side="right")
        known = np.append(self.handed_us.astype(np.float64), np.inf)
        return known[place]


def _steps(table: pa.Table) -> _Steps:
    until = table.column("until_us").to_numpy()
    handed = table.column("handed_us").to_numpy()
    # A range that was read again counts from its first reading.
    order = np.lexsort((handed, until))
    until, first = np.unique(until[order], return_index=True)
    return _Steps(until, np.maximum.accumulate(handed[order][first]))


def latencies(
    results: DataFrame, start_us: int, handovers: Handovers, shape: ResultShape
) -> DataFrame:
    """One row per result: second of the load, and both latencies in milliseconds."""
    from pyspark.sql.pandas.types import from_arrow_schema

    def calculate(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            latest = batch.column(0).to_numpy() - start_us
            arrival = batch.column(1).to_numpy() - start_us
            processing = (arrival - handovers.at(latest)) / 1_000
            # A result whose input was never handed over has none: null, which no figure counts.
            known = pa.array(processing, from_pandas=True)
            columns = [latest // 1_000_000, (arrival - latest) / 1_000, known]
            yield pa.record_batch(columns, schema=_LATENCIES)

    stamps = results.select(_micros(results, shape.input_time), _micros(results, shape.output_time))
    return stamps.mapInArrow(calculate, from_arrow_schema(_LATENCIES))


def _micros(results: DataFrame, name: str) -> Column:
    """A time in microseconds since 1970; a column with a number has that unit already."""
    from pyspark.sql import functions as F  # noqa: N812

    is_number = dict(results.dtypes)[name] in ("bigint", "int")
    return F.col(name).cast("bigint") if is_number else F.unix_micros(name)


def statistics(latency: DataFrame, warm_up_s: float) -> Latency:
    """Exact figures over all results after the warm-up."""
    from pyspark.sql import functions as F  # noqa: N812

    settled = latency.where(F.col("second") >= warm_up_s)
    shares = F.array(*[F.lit(share) for share in QUANTILES.values()])
    figures = []
    for kind in KINDS:
        figures += [
            F.count(kind).alias(f"{kind}_count"),
            F.avg(kind).alias(f"{kind}_mean"),
            F.min(kind).alias(f"{kind}_min"),
            F.max(kind).alias(f"{kind}_max"),
            F.percentile(kind, shares).alias(f"{kind}_quantiles"),
        ]
    row = settled.agg(*figures).collect()[0]
    found = {}
    for kind in KINDS:
        count = row[f"{kind}_count"]
        carried = {
            name: _rounded(value)
            for (name, share), value in zip(
                QUANTILES.items(), row[f"{kind}_quantiles"] or [None] * len(QUANTILES), strict=True
            )
            if carries(count, share)
        }
        found[kind] = LatencyStatistics(
            count=count,
            mean=_rounded(row[f"{kind}_mean"]),
            min=_rounded(row[f"{kind}_min"]),
            max=_rounded(row[f"{kind}_max"]),
        ).model_copy(update=carried)
    return Latency(**found)


def carries(count: int, share: float) -> bool:
    """Can a sample of this size carry the quantile?"""
    return round(count * (1 - share), 6) >= BEYOND


def series(latency: DataFrame) -> LatencySeries:
    """Per second of the load."""
    from pyspark.sql import functions as F  # noqa: N812

    rows = (
        latency.groupBy("second")
        .agg(
            F.percentile("event_time", F.array(F.lit(0.5), F.lit(0.99))).alias("event"),
            F.max("event_time").alias("max"),
            F.percentile("processing_time", F.array(F.lit(0.5), F.lit(0.99))).alias("processing"),
        )
        .orderBy("second")
        .collect()
    )
    return LatencySeries(
        time_s=[float(row["second"]) for row in rows],
        event_time_p50=[_rounded(row["event"][0]) for row in rows],
        event_time_p99=[_rounded(row["event"][1]) for row in rows],
        event_time_max=[_rounded(row["max"]) for row in rows],
        processing_time_p50=[_rounded((row["processing"] or [None])[0]) for row in rows],
        processing_time_p99=[_rounded((row["processing"] or [None])[-1]) for row in rows],
    )


def with_growth(latency: Latency, drawn: LatencySeries, warm_up_s: float) -> Latency:
    """Says so when a latency grew steadily: then its mean means nothing."""
    found = {}
    for kind in KINDS:
        medians = getattr(drawn, f"{kind}_p50")
        settled = [
            (second, median)
            for second, median in zip(drawn.time_s, medians, strict=True)
            if second >= warm_up_s and median is not None
        ]
        growth = growth_of([s for s, _ in settled], [m for _, m in settled])
        found[kind] = getattr(latency, kind).model_copy(
            update={"growing": growth is not None, "growth_per_s": _rounded(growth)}
        )
    return Latency(**found)


def histogram(latency: DataFrame, warm_up_s: float) -> Histogram:
    """Counts on a logarithmic axis."""
    from pyspark.sql import functions as F  # noqa: N812

    settled = latency.where(F.col("second") >= warm_up_s)
    values = settled.unpivot([], list(KINDS), "kind", "value").where("value IS NOT NULL")
    place = F.floor(F.log10(F.greatest(F.col("value"), F.lit(0.1))) * BINS_PER_DECADE)
    counts: dict[str, dict[int, int]] = {kind: {} for kind in KINDS}
    for row in values.groupBy("kind", place.alias("bin")).count().collect():
        counts[row["kind"]][int(row["bin"])] = int(row["count"])
    bins = sorted(set(counts["event_time"]) | set(counts["processing_time"]))
    if not bins:
        return Histogram()
    axis = range(bins[0], bins[-1] + 1)
    edges = [round(10 ** (number / BINS_PER_DECADE), 4) for number in (*axis, bins[-1] + 1)]
    return Histogram(
        edges_ms=edges,
        event_time=[counts["event_time"].get(number, 0) for number in axis],
        processing_time=[counts["processing_time"].get(number, 0) for number in axis],
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else round(float(value), 3)
