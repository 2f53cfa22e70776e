"""Whether a cut pays, by hand-worked cases."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.dual.model.division import LEAST_GAIN, cut_pays, seconds_per_record
from streamgauge.dual.model.estimates import Estimates, Observation
from streamgauge.dual.model.latency import Paradigm

speeds = st.floats(1, 1e7)
shares = st.floats(0.01, 10)


def segment(data_per_s: float | None, operation_per_s: float | None, out: float = 1.0) -> Estimates:
    known = Estimates()
    both = {Paradigm.DATA: data_per_s, Paradigm.OPERATION: operation_per_s}
    for paradigm, speed in both.items():
        if speed is not None:
            seen = Observation(0.0, 1.0, paradigm, 0.0, speed, speed * out, busy_s=1.0, batches=0)
            known = known.updated(seen)
    return known


def test_each_segment_counts_in_its_faster_paradigm_and_by_what_arrives_there() -> None:
    # 1/100 s for the first, and a quarter of a record for the second, which takes 1/50 s.
    found = seconds_per_record([segment(100, 40, out=0.25), segment(20, 50)])
    assert found == pytest.approx(1 / 100 + 0.25 / 50)


def test_a_mixture_pays_where_each_part_is_fast_in_another_paradigm() -> None:
    # In one piece 60/s; divided 1/100 + 0.2/80 = 0.0125 s, 80/s.
    assert cut_pays([segment(50, 60)], [segment(100, 40, out=0.2), segment(20, 80)])


def test_a_topic_that_costs_more_than_it_brings_does_not_pay() -> None:
    # In one piece 140/s; divided 1/150 + 0.33/200 = 0.00832 s, 120/s.
    assert not cut_pays([segment(140, 80)], [segment(150, 90, out=0.33), segment(150, 200)])


@pytest.mark.parametrize(
    ("whole", "divided"),
    [
        ([segment(None, None)], [segment(9, 9), segment(9, 9)]),
        ([segment(1, 1)], [segment(99, 99), segment(None, None)]),
    ],
)
def test_what_is_not_known_does_not_pay(whole: list[Estimates], divided: list[Estimates]) -> None:
    assert not cut_pays(whole, divided)


@given(speeds, speeds, speeds, shares)
def test_a_cut_pays_exactly_from_the_least_gain_on(
    whole: float, first: float, second: float, out: float
) -> None:
    divided_s = 1 / first + out / second
    gain = (1 / whole) / divided_s
    if abs(gain - LEAST_GAIN) > 1e-6:
        parts = [segment(first, None, out), segment(None, second)]
        assert cut_pays([segment(whole, None)], parts) == (gain > LEAST_GAIN)
