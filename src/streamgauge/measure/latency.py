"""Latency of every result, calculated on Spark from the run directory.

The shape of the query names the two columns of a result: the time of its output (by default the
arrival at the sink) and the time of its last input. Event-time latency is the difference.
Processing-time latency is the time from the hand-over of all input up to that event time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema

from streamgauge.measure.quantiles import QUANTILES, results_needed
from streamgauge.measure.summary import (
    Histogram,
    Latency,
    LatencySeries,
    LatencyStatistics,
    VisibilitySeries,
)
from streamgauge.measure.trend import growth_of
from streamgauge.queries.base import ResultShape

KINDS = ("event_time", "processing_time")
VISIBILITY = "visibility"
BINS_PER_DECADE = 40
_LATENCIES = pa.schema(
    [
        ("second", pa.int64()),
        ("event_time", pa.float64()),
        ("processing_time", pa.float64()),
        ("input_us", pa.int64()),
        ("output_us", pa.int64()),
    ]
)


class Handovers:
    """When all events up to a time of the schedule had been handed to the system."""

    def __init__(self, streams: Iterable[Sequence[pa.Table | None]]) -> None:
        """The hand-overs of the driver instances of each stream."""
        self._streams = [
            [_steps(table) for table in tables if table is not None] for tables in streams
        ]

    def at(self, times_us: NDArray[np.int64]) -> NDArray[np.float64]:
        """That of the slowest instance of a stream, and of the quickest of several streams.

        Which stream the last input of a result came from is not known. Its hand-over is not
        before that of the quickest stream, so the latency is never underestimated.
        """
        moments = np.full(len(times_us), np.inf)
        for instances in self._streams:
            handed = [
                handed_us[np.searchsorted(until_us, times_us, side="right")]
                for until_us, handed_us in instances
            ]
            if handed:
                moments = np.minimum(moments, np.max(handed, axis=0))
        return np.where(np.isfinite(moments), moments, np.nan)


def _steps(table: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The hand-overs of one instance in the order of the schedule, then infinity: never."""
    until = table.column("until_us").to_numpy()
    handed = table.column("handed_us").to_numpy()
    # A range that was read again, in other steps perhaps, counts from its first reading.
    order = np.lexsort((handed, until))
    until, first = np.unique(until[order], return_index=True)
    steps = np.minimum.accumulate(handed[order][first][::-1])[::-1]
    return until, np.append(steps.astype(np.float64), np.inf)


def latencies(
    results: DataFrame, start_us: int, handovers: Handovers, shape: ResultShape
) -> DataFrame:
    """One row per result whose times are known: second of the load, both latencies in
    milliseconds, and the two times."""

    def calculate(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            latest = batch.column(0).to_numpy() - start_us
            arrival = batch.column(1).to_numpy() - start_us
            processing = (arrival - handovers.at(latest)) / 1_000
            # A result whose input was never handed over has none: null, which no figure counts.
            known = pa.array(processing, from_pandas=True)
            columns = [latest // 1_000_000, (arrival - latest) / 1_000, known, *batch.columns]
            yield pa.record_batch(columns, schema=_LATENCIES)

    stamps = results.select(
        micros(results, shape.input_time).alias("input"),
        micros(results, shape.output_time).alias("output"),
    ).dropna()
    return stamps.mapInArrow(calculate, from_arrow_schema(_LATENCIES))


def micros(results: DataFrame, name: str) -> Column:
    """A time in microseconds since 1970; a column with a number has that unit already."""
    is_number = dict(results.dtypes)[name] in ("bigint", "int")
    return F.col(name).cast("bigint") if is_number else F.unix_micros(name)


def statistics(latency: DataFrame, warm_up_s: float, kinds: Sequence[str] = KINDS) -> Latency:
    """Exact figures over all rows after the warm-up, for each kind of latency."""
    settled = latency.where(F.col("second") >= warm_up_s)
    shares = F.array(*map(F.lit, QUANTILES.values()))
    figures = [
        F.struct(
            F.count(kind), F.avg(kind), F.min(kind), F.max(kind), F.percentile(kind, shares)
        ).alias(kind)
        for kind in kinds
    ]
    row = settled.agg(*figures).collect()[0]
    return Latency(**{kind: statistics_from(*row[kind]) for kind in kinds})


def statistics_from(
    count: int,
    mean: float | None,
    least: float | None,
    most: float | None,
    quantiles: Sequence[float] | None,
) -> LatencyStatistics:
    shown = {
        name: _rounded(value)
        for name, value in zip(QUANTILES, quantiles or (), strict=False)
        if count >= results_needed(name)
    }
    found = LatencyStatistics(
        count=count, mean=_rounded(mean), min=_rounded(least), max=_rounded(most)
    )
    return found.model_copy(update=shown)


def series(latency: DataFrame) -> LatencySeries:
    """Per second of the load."""
    shares = F.array(F.lit(0.5), F.lit(0.99))
    quantiles = [F.percentile(kind, shares).alias(kind) for kind in KINDS]
    drawn = latency.groupBy("second").agg(*quantiles, F.max("event_time").alias("max"))
    rows = drawn.orderBy("second").collect()

    def quantile(kind: str, place: int) -> list[float | None]:
        return [_rounded(row[kind][place]) if row[kind] else None for row in rows]

    return LatencySeries(
        time_s=[float(row["second"]) for row in rows],
        event_time_p50=quantile("event_time", 0),
        event_time_p99=quantile("event_time", 1),
        event_time_max=[_rounded(row["max"]) for row in rows],
        processing_time_p50=quantile("processing_time", 0),
        processing_time_p99=quantile("processing_time", 1),
    )


def visibility_series(visible: DataFrame) -> VisibilitySeries:
    """Per second of the load, over the input events of that second."""
    shares = F.array(F.lit(0.5), F.lit(0.99))
    quantiles = F.percentile(VISIBILITY, shares).alias("quantiles")
    drawn = visible.groupBy("second").agg(quantiles, F.max(VISIBILITY).alias("max"))
    rows = drawn.orderBy("second").collect()
    return VisibilitySeries(
        time_s=[float(row["second"]) for row in rows],
        p50=[_rounded(row["quantiles"][0]) for row in rows],
        p99=[_rounded(row["quantiles"][1]) for row in rows],
        max=[_rounded(row["max"]) for row in rows],
    )


def with_growth(latency: Latency, drawn: LatencySeries, warm_up_s: float) -> Latency:
    """Adds the growth of each latency: the mean of a growing latency has no meaning."""
    found = {}
    for kind in KINDS:
        medians = dict(zip(drawn.time_s, getattr(drawn, f"{kind}_p50"), strict=True))
        settled = {s: p50 for s, p50 in medians.items() if s >= warm_up_s and p50 is not None}
        growth = growth_of(list(settled), list(settled.values()))
        found[kind] = getattr(latency, kind).model_copy(
            update={"growing": growth is not None, "growth_per_s": _rounded(growth)}
        )
    return Latency(**found)


def histogram(latency: DataFrame, warm_up_s: float, visible: DataFrame | None = None) -> Histogram:
    """Counts on a logarithmic axis; `visible` has the visibility latency of input events."""
    settled = latency.where(F.col("second") >= warm_up_s)
    values = settled.unpivot([], list(KINDS), "kind", "value")
    if visible is not None:
        seen = visible.where(F.col("second") >= warm_up_s).unpivot(
            [], [VISIBILITY], "kind", "value"
        )
        values = values.unionByName(seen)
    values = values.where("value IS NOT NULL")
    place = F.floor(F.log10(F.greatest(F.col("value"), F.lit(0.1))) * BINS_PER_DECADE)
    rows = values.groupBy("kind", place.alias("bin")).count().collect()
    if not rows:
        return Histogram()
    counts = {(row["kind"], row["bin"]): row["count"] for row in rows}
    first, last = min(row["bin"] for row in rows), max(row["bin"] for row in rows)
    bins = range(first, last + 1)
    return Histogram(
        edges_ms=[round(10 ** (number / BINS_PER_DECADE), 4) for number in (*bins, last + 1)],
        event_time=[counts.get(("event_time", number), 0) for number in bins],
        processing_time=[counts.get(("processing_time", number), 0) for number in bins],
        visibility=[counts.get((VISIBILITY, number), 0) for number in bins],
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else round(float(value), 3)
