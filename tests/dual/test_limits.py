"""Latency of both paradigms, and the queue lengths at which an operation changes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from streamgauge.dual.model.latency import (
    Paradigm,
    Quantities,
    data_stream_latency_s,
    operation_stream_latency_s,
)
from streamgauge.dual.model.limits import (
    chosen,
    excess_queue,
    limits,
    sustained_as_data_stream,
    switch_queue,
)
from tests.dual.cases import BY_HAND, few, hysteresis, quantities


def test_a_case_worked_out_by_hand() -> None:
    assert data_stream_latency_s(BY_HAND, queue=500) == pytest.approx(0.55)
    assert operation_stream_latency_s(BY_HAND) == pytest.approx(1 + 0.1 + 0.36 + 0.25)
    assert BY_HAND.speed_ratio == pytest.approx(0.2)
    assert BY_HAND.constant_s == pytest.approx(1.3)
    assert switch_queue(BY_HAND) == pytest.approx(1_660)
    found = limits(BY_HAND, 0.5)
    assert (found.down, found.switch, found.up) == pytest.approx((830, 1_660, 2_490))


@few
@given(quantities)
def test_at_the_switch_queue_both_latencies_are_equal(q: Quantities) -> None:
    queue = switch_queue(q)
    assume(queue > 0)
    assert data_stream_latency_s(q, queue) == pytest.approx(operation_stream_latency_s(q))


@few
@given(quantities, st.floats(0, 1e9))
def test_the_shorter_latency_lies_on_the_side_that_the_limit_says(
    q: Quantities, queue: float
) -> None:
    difference = data_stream_latency_s(q, queue) - operation_stream_latency_s(q)
    assume(abs(difference) > 1e-6)
    # A limit is never below 0, so an empty queue is on no side of it.
    assume(queue > 0 or switch_queue(q) > 0)
    assert (difference > 0) == (queue > switch_queue(q))


@pytest.mark.parametrize(
    "name", ["arrival_per_s", "interval_s", "schedule_s", "operation_transmission_s"]
)
@few
@given(q=quantities, factor=st.floats(1, 10))
def test_the_longer_an_operation_stream_takes_the_later_the_switch(
    name: str, q: Quantities, factor: float
) -> None:
    more = replace(q, **{name: getattr(q, name) * factor})
    assert operation_stream_latency_s(more) >= operation_stream_latency_s(q)
    assert switch_queue(more) >= switch_queue(q) * (1 - 1e-9)


@few
@given(quantities, st.floats(1, 10))
def test_the_faster_an_operation_stream_is_the_earlier_the_switch(
    q: Quantities, factor: float
) -> None:
    faster = replace(q, operation_speed_per_s=q.operation_speed_per_s * factor)
    assert switch_queue(faster) <= switch_queue(q) * (1 + 1e-9)


@few
@given(quantities, hysteresis, st.floats(0, 1e8))
def test_a_choice_is_kept_while_the_queue_stays(q: Quantities, delta: float, queue: float) -> None:
    marks = limits(q, delta)
    assert marks.down <= marks.switch <= marks.up
    for paradigm in Paradigm:
        first = chosen(paradigm, queue, marks)
        assert chosen(first, queue, marks) is first


@few
@given(quantities, hysteresis, st.data())
def test_between_the_limits_nothing_changes(
    q: Quantities, delta: float, data: st.DataObject
) -> None:
    marks = limits(q, delta)
    queue = data.draw(st.floats(marks.down, marks.up))
    assert [chosen(paradigm, queue, marks) for paradigm in Paradigm] == list(Paradigm)


def test_outside_the_limits_the_present_paradigm_does_not_count() -> None:
    marks = limits(BY_HAND, 0.5)
    assert {chosen(paradigm, 2_491, marks) for paradigm in Paradigm} == {Paradigm.OPERATION}
    assert {chosen(paradigm, 829, marks) for paradigm in Paradigm} == {Paradigm.DATA}


def test_a_data_stream_with_slow_transmission_has_no_queue_that_favours_it() -> None:
    assert switch_queue(replace(BY_HAND, data_transmission_s=9)) == 0


def test_the_micro_batch_that_gathers_is_no_queue() -> None:
    assert excess_queue(2_000, Paradigm.OPERATION, BY_HAND) == 200
    assert excess_queue(1_000, Paradigm.OPERATION, BY_HAND) == 0
    assert excess_queue(2_000, Paradigm.DATA, BY_HAND) == 2_000


def test_a_data_stream_is_safe_only_with_a_margin() -> None:
    assert sustained_as_data_stream(BY_HAND, 0.1)
    assert not sustained_as_data_stream(BY_HAND, 0.11)


@pytest.mark.parametrize("delta", [0, 1, -0.1, float("nan")])
def test_a_hysteresis_outside_0_to_1_is_refused(delta: float) -> None:
    with pytest.raises(ValueError, match="hysteresis"):
        limits(BY_HAND, delta)


@pytest.mark.parametrize(
    ("name", "value"),
    [("data_speed_per_s", 0), ("interval_s", 0), ("schedule_s", -1), ("arrival_per_s", "nan")],
)
def test_impossible_quantities_are_refused(name: str, value: float | str) -> None:
    with pytest.raises(ValueError, match=name):
        replace(BY_HAND, **{name: float(value)})
