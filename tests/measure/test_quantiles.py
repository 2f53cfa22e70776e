from __future__ import annotations

import pytest

from streamgauge.experiments.planning.thresholds import Threshold
from streamgauge.measure.figures import why_not
from streamgauge.measure.quantiles import results_needed
from streamgauge.measure.summary import Latency, LatencyStatistics, TrialSummary


@pytest.mark.parametrize(
    ("statistic", "needed"),
    [("p50", 20), ("p90", 100), ("p95", 200), ("p99", 1_000), ("p99_9", 10_000), ("max", 1)],
)
def test_ten_results_lie_beyond_a_quantile(statistic: str, needed: int) -> None:
    assert results_needed(statistic) == needed


def summary(count: int) -> TrialSummary:
    statistics = LatencyStatistics(count=count, mean=1.0)
    return TrialSummary(name="a", run="r", latency_ms=Latency(event_time=statistics))


@pytest.mark.parametrize(
    ("name", "count", "reason"),
    [
        ("event_time.p99", 54, "54 results; p99 needs 1,000"),
        ("event_time.p50", 1, "1 result; p50 needs 20"),
        ("event_time.max", 0, "no results after the warm-up"),
        ("processing_time.p99", 54, "no results after the warm-up"),
        ("validation.missing", 54, "the results were not checked"),
        ("drained_per_s", 54, "not measured"),
    ],
)
def test_a_figure_without_a_value_has_a_reason(name: str, count: int, reason: str) -> None:
    assert why_not(summary(count), name) == reason


def test_a_threshold_that_was_not_measured_fails_and_says_why() -> None:
    result = Threshold.model_validate("p99 < 5 s").check(summary(54))
    assert (result.passed, result.reason) == (False, "54 results; p99 needs 1,000")
