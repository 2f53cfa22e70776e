"""Decisions over time: one operation, observed, decided about and switched again and again."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from streamgauge.dual.decider import Decider
from streamgauge.dual.decision import Action
from streamgauge.dual.model.latency import Paradigm
from streamgauge.dual.settings import DualSettings
from tests.dual.simulated import SimulatedOperation

UP, DOWN = Paradigm.OPERATION, Paradigm.DATA


def _decider(**changes: float) -> Decider:
    return Decider(("count",), DualSettings(**changes))


@settings(max_examples=60, deadline=None)
@given(
    load=st.floats(0.05, 4),
    speed_ratio=st.floats(0.1, 3),
    gap_s=st.floats(0, 3),
    hysteresis=st.floats(0.05, 0.8),
    minimum_stay_s=st.floats(0, 20),
    backlog_s=st.floats(0, 20),
)
@example(0.8, 0.2, 2.0, 0.05, 0.0, 20.0)
@example(1.02, 0.9, 0.5, 0.05, 0.0, 0.0)
@example(1.5, 3.0, 0.5, 0.2, 0.0, 20.0)
def test_a_constant_load_is_switched_up_and_back_once_at_most(
    load: float,
    speed_ratio: float,
    gap_s: float,
    hysteresis: float,
    minimum_stay_s: float,
    backlog_s: float,
) -> None:
    decider = _decider(hysteresis=hysteresis, minimum_stay_s=minimum_stay_s)
    speed = 10_000.0
    operation = SimulatedOperation(
        decider, speed, speed / speed_ratio, gap_s=gap_s, backlog=backlog_s * speed
    )
    operation.run(lambda _: load * speed, until_s=150)
    assert [paradigm for _, paradigm in operation.switches] in ([], [UP], [UP, DOWN])


def test_a_burst_is_switched_up_drained_and_switched_back() -> None:
    operation = SimulatedOperation(_decider(), 10_000, 50_000)
    operation.run(lambda time_s: 30_000 if 30 <= time_s < 90 else 3_000, until_s=150)
    (up_s, first), (down_s, second) = operation.switches
    assert (first, second) == (UP, DOWN)
    assert 30 < up_s < 40
    assert 90 < down_s < 110
    assert operation.backlog == 0


def test_both_speeds_are_known_after_a_burst() -> None:
    operation = SimulatedOperation(_decider(), 10_000, 20_000)
    operation.run(lambda time_s: 15_000 if time_s < 60 else 1_000, until_s=90)
    figures = operation.decisions[-1].figures
    assert figures is not None
    assert not figures.speed_ratio_assumed
    assert round(figures.quantities.speed_ratio, 3) == 0.5


def test_a_ramp_is_prepared_and_left_before_the_queue_passes_its_limit() -> None:
    operation = SimulatedOperation(_decider(), 10_000, 50_000, preparation_s=3.0, backlog=20_000)
    operation.run(lambda time_s: 2_000 + 400 * max(0.0, time_s - 15), until_s=50)
    prepared = next(d for d in operation.decisions if d.action is Action.PREPARE)
    assert prepared.figures is not None
    assert prepared.figures.queue < prepared.figures.limits.up
    switched = next(d for d in operation.decisions if d.action is Action.SWITCH)
    assert switched.figures is not None
    assert switched.figures.queue < switched.figures.limits.up


def test_a_calm_load_that_was_never_queued_stays_a_data_stream() -> None:
    operation = SimulatedOperation(_decider(), 10_000, 50_000)
    operation.run(lambda _: 5_000, until_s=30)
    assert {decision.action for decision in operation.decisions} == {Action.STAY}
