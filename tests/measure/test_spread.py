from __future__ import annotations

import math
from statistics import NormalDist, fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.measure.spread import (
    probability_beyond,
    repetitions_for,
    slowdown_of,
    spread_of,
    student_quantile,
    variation_of,
)

# Two-sided critical values, as printed in every table of Student's distribution.
TABLE_95 = {
    1: 12.7062,
    2: 4.3027,
    3: 3.1824,
    4: 2.7764,
    5: 2.5706,
    6: 2.4469,
    7: 2.3646,
    8: 2.3060,
    9: 2.2622,
    10: 2.2281,
    15: 2.1314,
    20: 2.0860,
    29: 2.0452,
    30: 2.0423,
    60: 2.0003,
    120: 1.9799,
}
TABLE_99 = {1: 63.6567, 2: 9.9248, 5: 4.0321, 10: 3.1693, 30: 2.7500, 120: 2.6174}
TABLE_90 = {1: 6.3138, 2: 2.9200, 5: 2.0150, 10: 1.8125, 30: 1.6973, 120: 1.6577}


@pytest.mark.parametrize(
    ("confidence", "degrees", "t"),
    [
        (confidence, degrees, t)
        for confidence, table in ((0.95, TABLE_95), (0.99, TABLE_99), (0.90, TABLE_90))
        for degrees, t in table.items()
    ],
)
def test_quantiles_are_those_of_the_printed_tables(
    confidence: float, degrees: int, t: float
) -> None:
    assert student_quantile(confidence, degrees) == pytest.approx(t, abs=5.1e-5)


@given(st.floats(0.01, 0.999))
def test_one_and_two_degrees_have_closed_forms(confidence: float) -> None:
    assert student_quantile(confidence, 1) == pytest.approx(
        math.tan(math.pi * confidence / 2), rel=1e-9
    )
    assert student_quantile(confidence, 2) == pytest.approx(
        confidence * math.sqrt(2 / (1 - confidence**2)), rel=1e-9
    )


@given(st.floats(0.05, 0.999), st.floats(0.5, 5_000))
def test_the_probability_beyond_the_quantile_is_the_rest(confidence: float, degrees: float) -> None:
    t = student_quantile(confidence, degrees)
    assert probability_beyond(t, degrees) == pytest.approx(1 - confidence, rel=1e-9)


@given(st.floats(1, 200), st.floats(0.01, 100))
def test_more_degrees_make_it_narrower(degrees: float, more: float) -> None:
    assert student_quantile(0.95, degrees + more) < student_quantile(0.95, degrees)


@pytest.mark.parametrize("degrees", [9.9e5, 1.1e6, math.inf])
def test_many_degrees_are_normal(degrees: float) -> None:
    assert student_quantile(0.95, degrees) == pytest.approx(NormalDist().inv_cdf(0.975), rel=1e-5)


@pytest.mark.parametrize(
    ("confidence", "degrees"), [(0.95, 0), (0.95, -1), (0.95, math.nan), (0, 5), (1, 5)]
)
def test_impossible_arguments_of_the_quantile_are_refused(
    confidence: float, degrees: float
) -> None:
    with pytest.raises(ValueError, match="no quantile"):
        student_quantile(confidence, degrees)


def test_three_repetitions() -> None:
    spread = spread_of([10, 12, 14])
    assert (spread.count, spread.mean, spread.min, spread.max) == (3, 12, 10, 14)
    assert spread.deviation == pytest.approx(2)
    # 4.3027 · 2 / √3
    assert spread.low == pytest.approx(12 - 4.9683, abs=1e-4)
    assert spread.high == pytest.approx(12 + 4.9683, abs=1e-4)


def test_one_repetition_has_no_interval() -> None:
    spread = spread_of([7])
    assert (spread.count, spread.mean, spread.min, spread.max) == (1, 7, 7, 7)
    assert spread.deviation is spread.low is spread.high is None


def test_equal_repetitions_have_an_interval_without_width() -> None:
    spread = spread_of([0.1] * 6)
    assert (spread.deviation, spread.mean) == (0, 0.1)
    assert spread.low == spread.high == 0.1


@pytest.mark.parametrize("values", [[], [1, math.nan], [math.inf, 2]])
def test_values_without_a_spread_are_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match="a spread needs"):
        spread_of(values)


@given(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=30))
def test_mean_and_interval_enclose_one_another(values: list[float]) -> None:
    spread = spread_of(values)
    assert spread.min <= spread.mean <= spread.max
    assert spread.low is not None
    assert spread.high is not None
    assert spread.low <= spread.mean <= spread.high
    assert spread.mean == pytest.approx(fmean(values))
    assert spread.deviation == pytest.approx(stdev(values))


# Execution times in seconds of ten runs each, with parallelism 1 and 2, as Hesse published them.
PARALLELISM_1 = (6.25, 21.56, 3.42, 3.31, 3.73, 12.69, 3.90, 3.96, 3.42, 3.01)
PARALLELISM_2 = (4.15, 3.77, 2.71, 5.29, 3.00, 3.93, 2.90, 3.66, 3.57, 4.45)


@pytest.mark.parametrize(
    ("runs", "mean", "deviation", "variation"),
    [(PARALLELISM_1, 6.525, 6.031, 0.924), (PARALLELISM_2, 3.743, 0.779, 0.208)],
)
def test_published_runs_have_their_published_statistics(
    runs: tuple[float, ...], mean: float, deviation: float, variation: float
) -> None:
    spread = spread_of(runs)
    assert spread.mean == pytest.approx(mean, abs=5e-4)
    assert spread.deviation == pytest.approx(deviation, abs=5e-4)
    assert variation_of(spread) == pytest.approx(variation, abs=5e-4)


def test_published_runs_have_the_published_slowdown() -> None:
    """With Beam the query took 30 s to 33 s at either parallelism."""
    plain = spread_of(PARALLELISM_1), spread_of(PARALLELISM_2)
    for beam, factor in ((30.0, 6.3), (33.0, 6.9)):
        found = slowdown_of([(one, spread_of([beam])) for one in plain])
        assert found == pytest.approx(factor, abs=0.05)
    assert slowdown_of([plain[::-1]]) == pytest.approx(1.74, abs=0.005)


def test_a_single_run_and_a_mean_of_zero_have_no_variation() -> None:
    assert variation_of(spread_of([3.0])) is None
    assert variation_of(spread_of([-1.0, 1.0])) is None


@given(st.lists(st.floats(50, 150), min_size=2, max_size=10), st.floats(0.02, 0.5))
def test_the_advised_repetitions_are_the_fewest_that_reach_the_margin(
    values: list[float], margin: float
) -> None:
    spread = spread_of(values)
    variation = variation_of(spread) or 0.0

    def reached(count: int) -> bool:
        return student_quantile(0.95, count - 1) * variation / math.sqrt(count) <= margin

    count = repetitions_for(spread, margin, most=500)
    assert reached(count) or count == 500
    assert count == 2 or not reached(count - 1)
