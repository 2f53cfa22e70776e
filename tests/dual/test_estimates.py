"""Estimates of the quantities from observations."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.dual.model.average import Average
from streamgauge.dual.model.estimates import TREND_POINTS, Estimates, Observation
from streamgauge.dual.model.latency import Paradigm
from tests.dual.cases import few

SEEN = Observation(
    time_s=1.0,
    elapsed_s=0.5,
    paradigm=Paradigm.DATA,
    arrived=600,
    processed=500,
    emitted=250,
    busy_s=0.5,
    transmission_s=0.01,
)
IN_BATCHES = replace(
    SEEN, paradigm=Paradigm.OPERATION, processed=600, busy_s=0.1, schedule_s=0.04, batches=2
)
samples = st.lists(
    st.tuples(st.floats(0, 1e6), st.floats(0.01, 1e3), st.floats(0.01, 100)),
    min_size=1,
    max_size=30,
)


@few
@given(samples, st.floats(0.1, 100))
def test_an_average_lies_between_its_samples(
    samples: list[tuple[float, float, float]], memory_s: float
) -> None:
    average = Average(memory_s)
    for amount, units, elapsed_s in samples:
        average = average.updated(amount, units, elapsed_s)
    values = [amount / units for amount, units, _ in samples]
    assert average.value is not None
    assert min(values) * (1 - 1e-9) <= average.value <= max(values) * (1 + 1e-9)


@few
@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_an_average_forgets(old: float, new: float) -> None:
    average = Average(2.0).updated(old, 1.0, 1.0)
    for _ in range(60):
        average = average.updated(new, 1.0, 1.0)
    assert average.value == pytest.approx(new, rel=1e-6, abs=1e-6)


def test_an_average_of_two_samples_worked_out_by_hand() -> None:
    average = Average(1.0).updated(10, 1, 1.0).updated(20, 1, 1.0)
    assert average.value == pytest.approx((10 * 0.3678794 + 20) / 1.3678794)


def test_before_anything_is_observed_nothing_is_known() -> None:
    known = Estimates()
    assert known.arrival.value is None
    assert known.data_speed.value is None
    assert known.recent_arrivals == ()


def test_a_data_stream_shows_its_own_quantities() -> None:
    known = Estimates().updated(SEEN)
    assert known.arrival.value == pytest.approx(1_200)
    assert known.magnification.value == pytest.approx(0.5)
    assert known.data_speed.value == pytest.approx(1_000)
    assert known.data_transmission.value == pytest.approx(0.01)
    assert known.operation_speed.value is None
    assert known.operation_transmission.value is None


def test_an_operation_stream_shows_its_own_quantities() -> None:
    known = Estimates().updated(IN_BATCHES)
    assert known.operation_speed.value == pytest.approx(6_000)
    assert known.schedule.value == pytest.approx(0.04)
    assert known.operation_transmission.value == pytest.approx(0.01)
    assert known.data_speed.value is None
    assert known.data_transmission.value is None


def test_an_operation_that_was_not_busy_does_not_show_its_speed() -> None:
    idle = replace(SEEN, busy_s=None)
    assert Estimates().updated(idle).data_speed.value is None
    known = Estimates().updated(SEEN)
    assert known.updated(replace(idle, processed=10)).data_speed.value == pytest.approx(1_000)
    faster = known.updated(replace(idle, processed=2_000)).data_speed.value
    assert faster is not None
    assert 1_000 < faster < 4_000


def test_micro_batches_that_were_mostly_scheduling_do_not_show_a_speed() -> None:
    few_records = replace(IN_BATCHES, processed=6, busy_s=0.079)
    assert Estimates().updated(few_records).operation_speed.value is None
    assert Estimates().updated(replace(few_records, batches=1)).operation_speed.value is not None


def test_a_pause_is_not_a_speed_and_shows_no_times() -> None:
    pause = replace(SEEN, processed=0, emitted=0)
    assert Estimates().updated(pause).data_speed.value is None
    assert Estimates().updated(pause).data_transmission.value is None
    assert Estimates().updated(SEEN).updated(pause).data_speed.value == pytest.approx(1_000)


def test_what_was_learnt_in_one_paradigm_is_kept_in_the_other() -> None:
    known = Estimates().updated(SEEN)
    for _ in range(500):
        known = known.updated(IN_BATCHES)
    assert known.data_speed.value == pytest.approx(1_000)
    assert len(known.recent_arrivals) == TREND_POINTS


def test_every_switch_counts_the_same() -> None:
    known = Estimates().switched(1.0, 0.4).switched(3.0, 0.8)
    assert known.preparation.value == pytest.approx(2.0)
    assert known.gap.value == pytest.approx(0.6)


@pytest.mark.parametrize(
    "wrong", [{"elapsed_s": 0.0}, {"arrived": -1.0}, {"emitted": float("nan")}]
)
def test_impossible_observations_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong)) + "|negative"):
        replace(SEEN, **wrong)
