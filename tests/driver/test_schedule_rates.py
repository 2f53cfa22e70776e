"""Shapes of the rate: the events of each schedule over time."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.driver.schedules import KnotSchedule, Schedule
from streamgauge.driver.schedules.rates import (
    SINE_SEGMENTS,
    bursts,
    constant,
    ramp,
    sine,
    sine_heights,
    steps,
)
from streamgauge.errors import ExperimentError

SECOND_US = 1_000_000
DAY_US = 86_400 * SECOND_US


def _per_second(schedule: Schedule) -> list[int]:
    """Events in each second of the load."""
    edges = np.arange(0, schedule.duration_us + 1, SECOND_US)
    events: list[int] = np.diff(schedule.counts_before(edges)).tolist()
    return events


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, DAY_US), st.integers(0, 10**10)), min_size=1, max_size=5),
    st.floats(0.0, 1.0),
)
def test_events_between_knots_are_spread_by_the_stated_formula(
    segments: list[tuple[int, int]], place: float
) -> None:
    knots_us = [0, *np.cumsum([span for span, _ in segments]).tolist()]
    counts = [0, *np.cumsum([size for _, size in segments]).tolist()]
    schedule = KnotSchedule(knots_us, counts)
    assert schedule.total == counts[-1]
    if schedule.total:
        event = int(place * (schedule.total - 1))
        j = max(j for j in range(len(segments)) if counts[j] <= event < counts[j + 1])
        span_us, size = segments[j]
        expected = knots_us[j] + (event - counts[j]) * span_us // size
        assert schedule.times_us(np.array([event])).tolist() == [expected]
        # The same in company with events of other segments.
        assert schedule.times_us(np.array([0, event, counts[-1] - 1]))[1] == expected


@pytest.mark.parametrize(
    ("knots_us", "counts", "duration_us"),
    [
        ([], [], None),
        ([0], [0], None),
        ([1, 5], [0, 5], None),
        ([0, 5], [1, 5], None),
        ([0, 5, 5], [0, 1, 2], None),
        ([0, 5, 6], [0, 2, 1], None),
        ([0, 5, 6], [0, 2], None),
        ([0, 5], [0, 2], 0),
        ([0, 5], [0, 2], 6),
        ([0, 2**52], [0, 2], None),
        ([0, 5], [0, 2**52], None),
    ],
)
def test_knots_that_are_no_schedule_are_refused(
    knots_us: list[int], counts: list[int], duration_us: int | None
) -> None:
    with pytest.raises(ValueError, match=r"knot|duration|schedule"):
        KnotSchedule(knots_us, counts, duration_us)


@settings(max_examples=100, deadline=None)
@given(st.decimals("0.0001", "2000000", places=5), st.integers(1, DAY_US), st.floats(0.0, 1.0))
def test_a_constant_rate_is_exact(rate: Decimal, duration_us: int, place: float) -> None:
    schedule = constant(duration_us=duration_us, rate_per_s=float(rate))
    exact = Fraction(rate)
    assert schedule.total == math.ceil(exact * duration_us / SECOND_US)
    event = int(place * (schedule.total - 1))
    assert schedule.times_us(np.array([event])).tolist() == [math.floor(event * 10**6 / exact)]


def test_rates_below_one_and_thirds_are_what_they_look_like() -> None:
    half = constant(duration_us=10 * SECOND_US, rate_per_s=0.5)
    events = np.arange(half.total)
    assert half.times_us(events).tolist() == [0, 2_000_000, 4_000_000, 6_000_000, 8_000_000]
    third = constant(duration_us=9 * SECOND_US, rate_per_s=1 / 3)
    assert third.times_us(np.arange(third.total)).tolist() == [0, 3_000_000, 6_000_000]


def test_a_day_at_a_hundred_thousand_per_second_ends_where_it_should() -> None:
    schedule = constant(duration_us=DAY_US, rate_per_s=115_740.7)
    last = schedule.total - 1
    assert last == 9_999_996_480 - 1
    assert schedule.times_us(np.array([last]))[0] == last * 10**7 // 1_157_407


def test_steps_have_equal_length_and_their_factors_of_the_rate() -> None:
    schedule = steps(duration_us=6 * SECOND_US, rate_per_s=840, levels=[1.0, 1 / 3, 0])
    assert _per_second(schedule) == [840, 840, 280, 280, 0, 0]
    staircase = steps(duration_us=4 * SECOND_US, rate_per_s=100)
    assert _per_second(staircase) == [25, 50, 75, 100]


@settings(max_examples=50, deadline=None)
@given(st.floats(0.0, 5.0))
def test_a_ramp_has_the_events_of_the_line_between_its_ends(start: float) -> None:
    schedule = ramp(duration_us=10 * SECOND_US, rate_per_s=1_000, start=start)
    edges = np.arange(0, 10 * SECOND_US + 1, SECOND_US // 2)
    share = edges / schedule.duration_us
    line = 10_000 * (start * share + (1 - start) * share**2 / 2)
    assert np.abs(schedule.counts_before(edges) - line).max() <= 2


def test_a_ramp_starts_from_zero_by_default() -> None:
    found = _per_second(ramp(duration_us=4 * SECOND_US, rate_per_s=1_000))
    assert found == [125, 375, 625, 875]


@settings(max_examples=50, deadline=None)
@given(st.floats(0.0, 1.0), st.integers(1, 40).map(lambda tenths: tenths * 100_000))
def test_a_sine_swings_about_its_rate(amplitude: float, period_us: int) -> None:
    rate = 1_000
    schedule = sine(
        duration_us=8 * SECOND_US, rate_per_s=rate, period_us=period_us, amplitude=amplitude
    )
    moments = np.arange(0, 8 * SECOND_US, 50_000)
    turns = 2 * np.pi * moments / period_us
    swing = amplitude * period_us / (2 * np.pi) * (1 - np.cos(turns))
    expected = rate * (moments + swing) / SECOND_US
    assert np.abs(schedule.counts_before(moments) - expected).max() <= 2


def test_no_machine_can_round_the_sine_differently() -> None:
    with localcontext(Context(prec=40)):
        for segment, height in enumerate(sine_heights()):
            exact = _sine(Decimal(2 * segment + 1) / SINE_SEGMENTS) * 10**9
            # A tie would be 0.5 away; a double errs by about 1e-7 here.
            assert abs(exact - height) < Decimal("0.4999")


def _sine(half_turns: Decimal) -> Decimal:
    """sin(π x) by its series, to more digits than a double has."""
    angle = half_turns * Decimal("3.14159265358979323846264338327950288419717")
    term, total, power = angle, angle, 1
    while abs(term) > Decimal("1e-35"):
        term = -term * angle * angle / ((power + 1) * (power + 2))
        power += 2
        total += term
    return total


def test_a_burst_stands_in_the_middle_of_every_cycle() -> None:
    schedule = bursts(
        duration_us=12 * SECOND_US,
        rate_per_s=100,
        burst=5,
        every_us=5 * SECOND_US,
        length_us=SECOND_US,
    )
    assert _per_second(schedule) == [100, 100, 500, 100, 100, 100, 100, 500, 100, 100, 100, 100]


def test_a_quick_run_of_ten_seconds_sees_a_whole_burst_by_default() -> None:
    schedule = bursts(duration_us=10 * SECOND_US, rate_per_s=1_000)
    assert schedule.total == 9 * 1_000 + 3_000


Case = tuple[Callable[..., Schedule], dict[str, object], str]

WRONG: list[Case] = [
    (constant, {"rate_per_s": -1}, "load.rate"),
    (constant, {"rate_per_s": 0}, "load.rate"),
    (constant, {"rate_per_s": math.nan}, "load.rate"),
    (constant, {"rate_per_s": math.inf}, "load.rate"),
    (constant, {"rate_per_s": 10**400}, "load.rate"),
    (constant, {"rate_per_s": "fast"}, "load.rate"),
    (constant, {"rate_per_s": None}, "load.rate"),
    (constant, {"rate_per_s": True}, "load.rate"),
    (constant, {"duration_us": 0}, "duration"),
    (constant, {"duration_us": -5}, "duration"),
    (constant, {"duration_us": 1.5}, "duration"),
    (constant, {"duration_us": "1 min"}, "duration"),
    (constant, {"duration_us": 2**51}, "duration"),
    (constant, {"duration_us": 2**50, "rate_per_s": 1e9}, "load.rate"),
    (ramp, {"duration_us": 2**50, "rate_per_s": 1e9}, "load.rate"),
    (steps, {"levels": []}, "load.schedule.levels"),
    (steps, {"levels": "1, 2"}, "load.schedule.levels"),
    (steps, {"levels": 3}, "load.schedule.levels"),
    (steps, {"levels": [1, -1]}, "load.schedule.levels"),
    (steps, {"levels": [1, "x"]}, "load.schedule.levels"),
    (steps, {"levels": [0, 0]}, "load.schedule.levels"),
    (steps, {"levels": [1, 2, 3], "duration_us": 2}, "load.schedule.levels"),
    (ramp, {"start": -0.1}, "load.schedule.start"),
    (ramp, {"start": []}, "load.schedule.start"),
    (sine, {"amplitude": 1.01}, "load.schedule.amplitude"),
    (sine, {"amplitude": -0.1}, "load.schedule.amplitude"),
    (sine, {"period_us": 0}, "load.schedule.period"),
    (sine, {"period_us": 100_000, "duration_us": DAY_US}, "load.schedule.period"),
    (bursts, {"burst": -1}, "load.schedule.burst"),
    (bursts, {"every_us": 2}, "load.schedule.every"),
    (bursts, {"every_us": 3, "length_us": 1, "duration_us": DAY_US}, "load.schedule.every"),
    (bursts, {"length_us": 10 * SECOND_US}, "load.schedule.length"),
    (bursts, {"length_us": 0}, "load.schedule.length"),
]


@pytest.mark.parametrize(("shape", "wrong", "key"), WRONG)
def test_a_wrong_parameter_is_refused_by_its_key(
    shape: Callable[..., Schedule], wrong: dict[str, object], key: str
) -> None:
    arguments = {"duration_us": 60 * SECOND_US, "rate_per_s": 1_000.0, **wrong}
    with pytest.raises(ExperimentError) as caught:
        shape(**arguments)
    assert caught.value.key == key
    assert caught.value.fix


def test_a_list_without_levels_is_not_called_silent() -> None:
    with pytest.raises(
        ExperimentError, match=r"load\.schedule\.levels: \[\] is not a list of factors"
    ):
        steps(duration_us=SECOND_US, rate_per_s=1, levels=[])


def test_lengths_of_time_are_shown_in_seconds() -> None:
    with pytest.raises(
        ExperimentError, match=r"load\.schedule\.period: 0\.05 s is out of range"
    ) as caught:
        sine(duration_us=SECOND_US, rate_per_s=1, period_us=50_000)
    assert caught.value.fix.startswith("use a length of time from 0.1 s to ")
