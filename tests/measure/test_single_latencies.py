"""The file of single latencies, and the sample that a report draws."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from streamgauge.events.spec import ARRIVAL, LATEST_EVENT_TIME
from streamgauge.measure import latency
from streamgauge.measure.single_latencies import MOST_DRAWN, sampled, write_single_latencies
from streamgauge.queries.base import ResultShape

START_US = 1_700_000_000_000_000


def measured(spark: SparkSession, count: int) -> DataFrame:
    """A result each millisecond, in an order of its own; result k is k µs late."""
    rows = spark.range(count).selectExpr(
        f"{START_US} + id * 1000L AS {LATEST_EVENT_TIME}",
        f"{START_US} + id * 1000L + id AS {ARRIVAL}",
    )
    shape = ResultShape(keys=())
    return latency.latencies(rows.repartition(3), START_US, latency.Handovers([]), shape)


def test_every_single_result_is_in_the_file_in_the_order_of_its_input(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "latencies.parquet"
    write_single_latencies(measured(spark, 5_000), path)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    table = pq.read_table(path)
    assert table.column_names == ["input_us", "output_us", "latency_ms"]
    assert table.column("input_us").to_pylist() == [START_US + k * 1_000 for k in range(5_000)]
    assert table.column("output_us").to_pylist() == [START_US + k * 1_001 for k in range(5_000)]
    assert table.column("latency_ms").to_pylist() == pytest.approx(
        [k / 1_000 for k in range(5_000)]
    )


@pytest.mark.parametrize(("count", "every"), [(2_000, 1), (2_001, 2), (7_000, 4)])
def test_the_sample_is_even_and_not_larger_than_a_chart_can_show(
    spark: SparkSession, tmp_path: Path, count: int, every: int
) -> None:
    path = tmp_path / "latencies.parquet"
    write_single_latencies(measured(spark, count), path)
    found = sampled(path, START_US)
    assert (found.every, found.count) == (every, count)
    assert len(found.time_s) == len(found.latency_ms) <= MOST_DRAWN
    assert found.time_s[:3] == [0.0, every / 1_000, 2 * every / 1_000]
    assert found.latency_ms[1] == every / 1_000


def test_without_results_there_is_nothing_to_draw(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "latencies.parquet"
    write_single_latencies(measured(spark, 0), path)
    assert sampled(path, START_US).time_s == []
    assert sampled(tmp_path / "none.parquet", START_US).count == 0
