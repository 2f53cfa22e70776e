"""What the model says of the near future: interval, slope, queue, and what a switch is worth."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from streamgauge.dual.model.cost import (
    queue_area,
    saved_by_switching,
    waiting_if_it_stays,
    waiting_if_it_switches,
)
from streamgauge.dual.model.interval import best_interval_s
from streamgauge.dual.model.latency import Paradigm, Quantities, operation_stream_latency_s
from streamgauge.dual.model.limits import limits
from streamgauge.dual.model.trend import (
    certain_fall,
    certain_rise,
    certain_slope,
    crosses_within,
    queue_after,
)
from tests.dual.cases import BY_HAND, few, hysteresis, quantities, rates, seconds

STEPS = 2_000
slopes = st.floats(-1e5, 1e5)


def _interval(v: float, po: float, t_s: float, margin: float) -> float:
    return best_interval_s(v, po, t_s, margin=margin, shortest_s=0.001, longest_s=1e4)


def test_an_interval_worked_out_by_hand() -> None:
    # 1.2·(0.1 + 0.5·T) = T
    assert _interval(500, 1_000, 0.1, 0.2) == pytest.approx(0.3)


@few
@given(rates, st.floats(1, 100), st.floats(0.001, 1), st.floats(0.01, 0.5))
def test_the_best_interval_is_the_shortest_that_holds_its_micro_batch(
    v: float, faster: float, t_s: float, margin: float
) -> None:
    po = v * faster
    interval_s = _interval(v, po, t_s, margin)
    assume(0.001 < interval_s < 1e4)
    assert (1 + margin) * (t_s + v * interval_s / po) == pytest.approx(interval_s)
    shorter_s = interval_s * 0.99
    assert (1 + margin) * (t_s + v * shorter_s / po) > shorter_s
    longer = Quantities(v, 1.0, po, interval_s * 1.01, t_s)
    best = replace(longer, interval_s=interval_s)
    assert operation_stream_latency_s(best) < operation_stream_latency_s(longer)


@few
@given(rates, rates, st.floats(0, 1), st.floats(1, 3))
def test_more_arrivals_never_shorten_the_interval(
    v: float, po: float, t_s: float, factor: float
) -> None:
    assert _interval(v * factor, po, t_s, 0.2) >= _interval(v, po, t_s, 0.2)


def test_an_interval_stays_in_its_bounds() -> None:
    bounds = {"margin": 0.2, "shortest_s": 0.5, "longest_s": 2.0}
    assert best_interval_s(0, 1_000, 0.1, **bounds) == 0.5
    assert best_interval_s(2_000, 1_000, 0.1, **bounds) == 2.0


def test_a_ramp_is_seen_although_it_was_calm_before() -> None:
    calm = [(0.25 * n, 1_000.0) for n in range(12)]
    ramp = [(3 + 0.25 * n, 1_000.0 + 1_000 * n) for n in range(8)]
    assert certain_rise([*calm, *ramp]) == pytest.approx(4_000)
    whole = certain_slope([*calm, *ramp])
    assert whole is not None
    assert whole < 2_000
    assert certain_fall([*calm, *ramp]) is None
    fallen = [(time, 9_000 - value) for time, value in [*calm, *ramp]]
    assert certain_fall(fallen) == pytest.approx(4_000)


@few
@given(slopes, st.floats(0, 1e6))
def test_the_slope_of_a_line_is_certain(slope: float, start: float) -> None:
    points = [(1e6 + 0.5 * n, start + slope * 0.5 * n) for n in range(8)]
    assert certain_slope(points) == pytest.approx(slope, rel=1e-6, abs=1e-3)


@few
@given(st.lists(st.floats(-100, 100), min_size=8, max_size=8), slopes)
def test_a_slope_is_the_less_certain_the_more_the_points_scatter(
    noise: list[float], slope: float
) -> None:
    once = [(float(n), slope * n + value) for n, value in enumerate(noise)]
    alternating = [(t, v + (5_000 if t % 2 else -5_000)) for t, v in once]
    lower, upper = certain_slope(alternating), certain_slope(once)
    assert lower is not None
    assert upper is not None
    assert lower < upper


def test_few_points_have_no_slope() -> None:
    assert certain_slope([(0, 1), (1, 2), (2, 3), (3, 4)]) is None
    assert certain_slope([(1, n) for n in range(9)]) is None


@few
@given(st.floats(0, 1e5), st.floats(0, 1e4), st.floats(-1e3, 1e3), st.floats(1, 1e4), seconds)
def test_queue_and_area_agree_with_a_simulation_in_small_steps(
    queue: float, v: float, slope: float, speed: float, time_s: float
) -> None:
    step, ramped, constant, area = time_s / STEPS, queue, queue, 0.0
    for n in range(STEPS):
        arrival = max(0.0, v + slope * (n + 0.5) * step)
        ramped = max(0.0, ramped + (arrival - speed) * step)
        before, constant = constant, max(0.0, constant + (v - speed) * step)
        area += (before + constant) / 2 * step
    scale = queue + (v + abs(slope) * time_s + speed) * time_s
    near = 3 * scale / STEPS + 1e-9
    assert queue_after(queue, v, slope, speed, time_s) == pytest.approx(ramped, abs=near)
    assert queue_area(queue, v, speed, time_s) == pytest.approx(area, abs=near * (time_s + 1))


def test_a_ramp_is_seen_before_its_queue_is_there() -> None:
    # V passes PD after 1 s; after 4 s it is 1,900/s, L is 300·3²/2 = 1,350 and L_up 3,090.
    q = replace(BY_HAND, arrival_per_s=700)
    assert queue_after(0, 700, 300, 1_000, 4.0) == pytest.approx(1_350)
    assert not crosses_within(q, 0, 300, 0.5, 4.0)
    # After 5 s L is 2,400: above today's L_up of 2,370, but by then that is 3,270.
    assert not crosses_within(q, 0, 300, 0.5, 5.0)
    # After 6 s L is 3,750 and L_up 3,450.
    assert crosses_within(q, 0, 300, 0.5, 6.0)
    assert not crosses_within(q, 0, 0, 0.5, 1e6)


@few
@given(quantities, hysteresis, st.floats(0, 1e6), st.floats(0, 1e4), seconds)
def test_a_ramp_that_crosses_crosses_with_a_longer_queue_too(
    q: Quantities, delta: float, queue: float, slope: float, time_s: float
) -> None:
    crosses = crosses_within(q, queue, slope, delta, time_s)
    assert crosses <= crosses_within(q, queue * 2, slope, delta, time_s)


@few
@given(quantities, hysteresis, st.floats(0, 1), seconds)
def test_a_constant_load_that_is_sustained_is_no_ramp(
    q: Quantities, delta: float, share: float, time_s: float
) -> None:
    calm = replace(q, arrival_per_s=share * q.data_speed_per_s)
    queue = limits(calm, delta).up
    assert not crosses_within(calm, queue * (1 - 1e-9), 0.0, delta, time_s)


def test_a_switch_worked_out_by_hand() -> None:
    # Staying: 3,000 records, drained with 100/s for 20 s, and 900/s with 0.05 s each.
    staying = waiting_if_it_stays(BY_HAND, Paradigm.DATA, 3_000, 20)
    assert staying == pytest.approx(3_000 * 20 - 100 * 200 + 900 * 20 * 0.05)
    # Switching: 2 s without work, then 4,800 records drained with 4,100/s, 900/s with 1.71 s each.
    switching = waiting_if_it_switches(BY_HAND, Paradigm.DATA, 3_000, gap_s=2, ahead_s=20)
    in_gap, drained = 3_000 * 2 + 900 * 2, 4_800**2 / (2 * 4_100)
    assert switching == pytest.approx(in_gap + drained + 900 * 20 * 1.71)
    saved = saved_by_switching(BY_HAND, Paradigm.DATA, 3_000, gap_s=2, ahead_s=20)
    assert saved == pytest.approx(staying - switching)


@few
@given(quantities, st.floats(0, 1e6), st.floats(0, 5), st.floats(0, 5))
def test_a_longer_gap_never_makes_a_switch_cheaper(
    q: Quantities, queue: float, gap_s: float, more_s: float
) -> None:
    for paradigm in Paradigm:
        shorter, longer = (
            waiting_if_it_switches(q, paradigm, queue, gap, 30) for gap in (gap_s, gap_s + more_s)
        )
        assert longer >= shorter * (1 - 1e-9)


@few
@given(quantities, st.floats(1, 10), st.floats(0, 1e6), st.floats(0, 5))
def test_a_slower_operation_stream_never_pays(
    q: Quantities, faster: float, queue: float, gap_s: float
) -> None:
    slower = q.data_speed_per_s / faster
    q = replace(q, operation_speed_per_s=slower, data_transmission_s=0)
    staying = waiting_if_it_stays(q, Paradigm.DATA, queue, 30)
    assert saved_by_switching(q, Paradigm.DATA, queue, gap_s, 30) <= staying * 1e-9


@few
@given(quantities, st.floats(0, 1e6), st.floats(0, 5), st.floats(0.1, 30))
def test_a_switch_there_and_back_never_pays(
    q: Quantities, queue: float, gap_s: float, ahead_s: float
) -> None:
    there = saved_by_switching(q, Paradigm.DATA, queue, gap_s, ahead_s)
    back = saved_by_switching(q, Paradigm.OPERATION, queue, gap_s, ahead_s)
    staying = sum(waiting_if_it_stays(q, paradigm, queue, ahead_s) for paradigm in Paradigm)
    assert there + back <= staying * 1e-9
