"""Poisson arrivals are exponential, independent, and the same everywhere."""

from __future__ import annotations

from decimal import Context, Decimal

import numpy as np
import pytest
from numpy.typing import NDArray

from streamgauge.driver.schedules.poisson import (
    BLOCK,
    LOGARITHM_UNIT,
    SLOT_BITS,
    STREAM,
    logarithms,
    poisson,
)
from streamgauge.errors import ExperimentError

SECOND_US = 1_000_000
EVENTS = 200_000


@pytest.fixture(scope="module")
def gaps() -> NDArray[np.float64]:
    """Gaps of a load of one event per second, in units of their mean."""
    schedule = poisson(duration_us=EVENTS * SECOND_US, rate_per_s=1.0, seed=11)
    return np.diff(schedule.times_us(np.arange(schedule.total)), prepend=0) / SECOND_US


def test_gaps_have_the_mean_and_variance_of_an_exponential(gaps: NDArray[np.float64]) -> None:
    # Four standard errors: 1/√n of the mean, √(8/n) of the variance.
    assert abs(gaps.mean() - 1) < 4 / np.sqrt(gaps.size)
    assert abs(gaps.var() - 1) < 4 * np.sqrt(8 / gaps.size)


def test_gaps_follow_the_exponential_distribution(gaps: NDArray[np.float64]) -> None:
    expected = -np.expm1(-np.sort(gaps))
    found = np.arange(1, gaps.size + 1) / gaps.size
    distance = np.abs(found - expected).max()
    # Kolmogorov–Smirnov at the 0.1 % level.
    assert distance * np.sqrt(gaps.size) < 1.95


def test_the_tail_beyond_the_first_halvings_is_there(gaps: NDArray[np.float64]) -> None:
    for size in (3, 6, 9):
        expected = gaps.size * np.exp(-size)
        assert abs((gaps > size).sum() - expected) < 4 * np.sqrt(expected)


def test_gaps_are_independent_of_their_neighbours(gaps: NDArray[np.float64]) -> None:
    for distance in (1, 2, 4, BLOCK):
        correlation = np.corrcoef(gaps[:-distance], gaps[distance:])[0, 1]
        assert abs(correlation) < 4 / np.sqrt(gaps.size)


def test_counts_per_second_vary_as_much_as_their_mean() -> None:
    schedule = poisson(duration_us=2_000 * SECOND_US, rate_per_s=100.0, seed=3)
    counts = np.diff(schedule.counts_before(np.arange(0, 2_001) * SECOND_US))
    assert abs(counts.mean() - 100) < 4 * 10 / np.sqrt(counts.size)
    assert abs(counts.var() / counts.mean() - 1) < 4 * np.sqrt(2 / counts.size)


@pytest.mark.parametrize("rate_per_s", [0.001, 33_333.3, 1e7, 1e9])
def test_the_mean_rate_is_kept_from_slow_to_fast(rate_per_s: float) -> None:
    duration_us = round(100_000 / rate_per_s * 1e6)
    schedule = poisson(duration_us=duration_us, rate_per_s=rate_per_s, seed=5)
    assert abs(schedule.total - 100_000) < 4 * np.sqrt(100_000)


def test_an_event_at_the_border_of_a_block_is_not_counted_before_its_time() -> None:
    # With this seed, a block ends on a whole microsecond.
    schedule = poisson(duration_us=200, rate_per_s=1e9, seed=77)
    last_of_blocks = np.arange(BLOCK - 1, schedule.total, BLOCK)
    times_us = schedule.times_us(last_of_blocks)
    assert (schedule.counts_before(times_us) <= last_of_blocks).all()
    assert (last_of_blocks < schedule.counts_before(times_us + 1)).all()


def test_arrivals_are_these_on_every_machine() -> None:
    schedule = poisson(duration_us=10 * SECOND_US, rate_per_s=1_000.0, seed=0)
    events = np.array([0, 1, 2, 3, BLOCK - 1, BLOCK, 2 * BLOCK])
    assert schedule.total == 10_050
    expected_us = [334, 1_385, 1_388, 3_049, 4_075_781, 4_076_037, 8_146_391]
    assert schedule.times_us(events).tolist() == expected_us


def test_arrivals_are_logarithms_of_the_random_numbers() -> None:
    schedule = poisson(duration_us=20_000 * SECOND_US, rate_per_s=1.0, seed=9)
    random = np.random.Philox(key=STREAM | 9).random_raw(schedule.total)
    uniform = ((random >> np.uint64(11)) + np.uint64(1)) / 2**53
    expected_s = -np.log(uniform).cumsum()
    found_s = schedule.times_us(np.arange(schedule.total)) / SECOND_US
    # The table interpolates to 2e-7 of a gap, and times are rounded down.
    assert np.abs(found_s - expected_s).max() < 2e-7 * schedule.total + 1e-6


def test_no_machine_can_round_the_logarithms_differently() -> None:
    context = Context(prec=40)
    for slot, value in enumerate(logarithms()):
        exact = context.ln(1 + Decimal(slot) / 2**SLOT_BITS) * LOGARITHM_UNIT
        # A tie would be 0.5 away; a double errs by about 1e-6 here.
        assert abs(exact - value) < Decimal("0.4999")


def test_each_seed_has_its_own_arrivals() -> None:
    first, second, again = (
        poisson(duration_us=SECOND_US, rate_per_s=1_000.0, seed=seed).times_us(np.arange(100))
        for seed in (1, 2, 1)
    )
    assert (first != second).any()
    assert (first == again).all()


@pytest.mark.parametrize(
    ("wrong", "key"),
    [
        ({"seed": -1}, "load.schedule.seed"),
        ({"seed": 2**64}, "load.schedule.seed"),
        ({"seed": "x"}, "load.schedule.seed"),
        ({"seed": True}, "load.schedule.seed"),
        ({"rate_per_s": 0.0001}, "load.rate"),
        ({"rate_per_s": 1e9, "duration_us": 11 * SECOND_US}, "load.rate"),
        ({"duration_us": 0}, "duration"),
    ],
)
def test_a_wrong_parameter_is_refused_by_its_key(wrong: dict[str, object], key: str) -> None:
    arguments: dict[str, object] = {"duration_us": SECOND_US, "rate_per_s": 10.0, **wrong}
    with pytest.raises(ExperimentError) as caught:
        poisson(**arguments)  # type: ignore[arg-type]
    assert caught.value.key == key
