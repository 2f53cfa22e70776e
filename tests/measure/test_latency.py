from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from streamgauge.events.spec import ARRIVAL, LATEST_EVENT_TIME
from streamgauge.measure import latency
from streamgauge.measure.trend import growth_of
from streamgauge.queries.base import ResultShape

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

START_US = 1_700_000_000_000_000


def handovers(*steps: tuple[int, int]) -> pa.Table:
    return pa.table({"until_us": [s[0] for s in steps], "handed_us": [s[1] for s in steps]})


def test_the_slowest_instance_of_a_stream_counts() -> None:
    both = latency.Handovers(
        [[handovers((100, 150), (200, 260)), handovers((90, 155), (210, 240)), None]]
    )
    moments = both.at(np.array([80, 95, 99, 100, 199]))
    assert moments.tolist() == [155, 240, 240, 260, 260]


def test_the_quickest_of_several_streams_counts() -> None:
    streams = latency.Handovers([[handovers((100, 150))], [handovers((100, 170), (200, 300))]])
    assert streams.at(np.array([50, 150])).tolist() == [150, 300]


def test_events_that_were_never_handed_over_have_no_hand_over_time() -> None:
    short = latency.Handovers([[handovers((100, 150))]])
    assert np.isnan(short.at(np.array([100]))).all()
    assert np.isnan(latency.Handovers([[None]]).at(np.array([5]))).all()


def test_a_range_that_was_read_again_counts_from_its_first_reading() -> None:
    again = latency.Handovers([[handovers((100, 150), (200, 250), (100, 900))]])
    assert again.at(np.array([50, 150])).tolist() == [150, 250]


@pytest.fixture(scope="module")
def measured(spark: SparkSession) -> DataFrame:
    """2,000 results in each of ten seconds; result k of a second is k/10 ms late."""
    rows = spark.range(20_000).selectExpr(
        f"timestamp_micros({START_US} + (id DIV 2000) * 1000000L) AS {LATEST_EVENT_TIME}",
        f"{START_US} + (id DIV 2000) * 1000000L + (id % 2000 + 1) * 100L AS {ARRIVAL}",
    )
    given = latency.Handovers(
        [[handovers(*[(s * 1_000_000 + 1, s * 1_000_000 + 50) for s in range(10)])]]
    )
    return latency.latencies(rows, START_US, given, ResultShape(keys=())).cache()


def test_figures_are_exact_and_leave_the_warm_up_out(measured: DataFrame) -> None:
    figures = latency.statistics(measured, warm_up_s=4)
    event = figures.event_time
    assert event.count == 12_000
    assert (event.min, event.max) == (0.1, 200.0)
    assert event.mean == pytest.approx(100.05, abs=0.001)
    exact = np.quantile(np.tile(np.arange(1, 2_001) / 10, 6), [0.5, 0.9, 0.95, 0.99, 0.999])
    shown = [event.p50, event.p90, event.p95, event.p99, event.p99_9]
    assert shown == pytest.approx(exact, abs=0.001)
    assert figures.processing_time.max == pytest.approx(199.95)


def test_a_quantile_of_too_few_results_is_hidden(measured: DataFrame) -> None:
    few = latency.statistics(measured.where("event_time <= 10").where("second = 9"), 0).event_time
    assert few.count == 100
    assert few.p50 is not None
    assert few.p90 is not None
    assert (few.p95, few.p99, few.p99_9) == (None, None, None)
    none = latency.statistics(measured.where("second > 99"), 0).event_time
    assert (none.count, none.mean, none.p50) == (0, None, None)


def test_a_result_whose_input_was_never_handed_over_does_not_count(spark: SparkSession) -> None:
    results = spark.range(40).selectExpr(
        f"timestamp_micros({START_US} + id * 1000L) AS {LATEST_EVENT_TIME}",
        f"{START_US} + 100000L AS {ARRIVAL}",
    )
    given = latency.Handovers([[handovers((30_000, 50_000))]])
    rows = latency.latencies(results, START_US, given, ResultShape(keys=()))
    figures = latency.statistics(rows, warm_up_s=0)
    assert figures.event_time.count == 40
    processing = figures.processing_time
    assert (processing.count, processing.mean, processing.max) == (30, 50.0, 50.0)
    assert processing.p50 == 50.0
    assert sum(latency.histogram(rows, warm_up_s=0).processing_time) == 30
    assert latency.series(rows).processing_time_p99 == [50.0]


def test_the_shape_of_a_query_names_the_two_times_of_its_latency(spark: SparkSession) -> None:
    results = spark.range(100).selectExpr(
        f"timestamp_micros({START_US} + id * 1000L) AS {LATEST_EVENT_TIME}",
        f"{START_US} + 900000L AS {ARRIVAL}",
        f"{START_US} + id * 1000L + 5000L AS asked_us",
        f"timestamp_micros({START_US} + id * 1000L + 25000L) AS answered",
    )
    given = latency.Handovers([[handovers((200_000, 0))]])
    shape = ResultShape(keys=(), input_time="asked_us", output_time="answered")
    figures = latency.statistics(latency.latencies(results, START_US, given, shape), warm_up_s=0)
    assert (figures.event_time.min, figures.event_time.max) == (20.0, 20.0)
    assert figures.processing_time.max == pytest.approx(124.0)


def test_the_series_has_a_point_per_second(measured: DataFrame) -> None:
    drawn = latency.series(measured)
    assert drawn.time_s == [float(s) for s in range(10)]
    assert set(drawn.event_time_max) == {200.0}
    assert drawn.event_time_p50[0] == pytest.approx(100.05, abs=0.001)


def test_the_histogram_counts_every_result_once(measured: DataFrame) -> None:
    drawn = latency.histogram(measured, warm_up_s=5)
    assert sum(drawn.event_time) == sum(drawn.processing_time) == 10_000
    assert len(drawn.edges_ms) == len(drawn.event_time) + 1
    low, high = drawn.edges_ms[-2:]
    inside = [v for v in np.arange(1, 2_001) / 10 if low <= v < high]
    assert drawn.event_time[-1] == 5 * len(inside)


def test_steady_growth_is_found_and_noise_is_not() -> None:
    noise = np.random.default_rng(1).normal(0, 20, 60)
    seconds = list(range(60))
    assert growth_of(seconds, [500 + 30 * t + noise[t] for t in seconds]) == pytest.approx(30, 0.1)
    assert growth_of(seconds, [500 + noise[t] for t in seconds]) is None
    assert growth_of(seconds, [500 - 5 * t for t in seconds]) is None
    outliers = [500 + (3_000 if t == 50 else 0) + noise[t] for t in seconds]
    assert growth_of(seconds, outliers) is None
    assert growth_of([0, 1, 2], [1, 2, 3]) is None


@pytest.mark.parametrize("count", range(3, 8))
def test_few_points_in_any_order_seldom_seem_to_grow(count: int) -> None:
    orders = list(itertools.permutations(range(count)))
    times = list(range(count))
    grown = [order for order in orders if growth_of(times, [1.0 + v for v in order]) is not None]
    assert len(grown) <= 0.05 * len(orders)
    assert (growth_of(times, [1.0 + v for v in times]) is not None) == (count >= 4)
