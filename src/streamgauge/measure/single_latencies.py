"""The latency of every single result in a file, and an even sample of them for a chart."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq

from streamgauge.measure.summary import SingleLatencies

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_DRAWN = 2_000


def write_single_latencies(rows: DataFrame, path: Path) -> None:
    """One Parquet file in the order of the input: input_us, output_us and latency_ms."""
    unfinished = path.with_suffix(".unfinished")
    (
        rows.selectExpr("input_us", "output_us", "event_time AS latency_ms")
        .repartition(1)
        .sortWithinPartitions("input_us", "output_us")
        .write.mode("overwrite")
        .parquet(str(unfinished))
    )
    # Spark writes a folder; without a single row it has no part.
    for part in unfinished.glob("part-*.parquet"):
        part.replace(path)
    shutil.rmtree(unfinished)


def sampled(path: Path, start_us: int) -> SingleLatencies:
    """Every n-th result, so that at most `MOST_DRAWN` are drawn."""
    if not path.exists():
        return SingleLatencies()
    table = pq.read_table(path, columns=["input_us", "latency_ms"])
    every = max(1, -(-len(table) // MOST_DRAWN))
    times_s = (table.column("input_us").to_numpy()[::every] - start_us) / 1e6
    latencies = table.column("latency_ms").to_numpy()[::every]
    return SingleLatencies(
        time_s=np.round(times_s, 3).tolist(),
        latency_ms=np.round(latencies, 3).tolist(),
        every=every,
        count=len(table),
    )
