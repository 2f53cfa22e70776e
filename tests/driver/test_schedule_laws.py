"""The laws that every schedule keeps, whatever its shape."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.driver.schedules import InstanceSchedule, KnotSchedule, Schedule
from streamgauge.driver.schedules.poisson import poisson
from streamgauge.driver.schedules.rates import bursts, constant, ramp, sine, steps
from streamgauge.driver.schedules.trace import trace

DAY_US = 86_400_000_000

factors = st.floats(0.0, 10.0).map(lambda factor: round(factor, 3))


@st.composite
def knot_schedules(draw: st.DrawFn) -> Schedule:
    spans = draw(st.lists(st.integers(1, DAY_US), min_size=1, max_size=6))
    sizes = draw(
        st.lists(
            st.one_of(st.just(0), st.integers(0, 20), st.integers(0, 10**10)),
            min_size=len(spans),
            max_size=len(spans),
        )
    )
    end_us = sum(spans)
    return KnotSchedule(
        np.cumsum([0, *spans]), np.cumsum([0, *sizes]), draw(st.integers(1, end_us))
    )


@st.composite
def shaped_schedules(draw: st.DrawFn) -> Schedule:
    duration_us = draw(st.one_of(st.integers(1, 2_000), st.integers(1, DAY_US)))
    rate_per_s = draw(
        st.one_of(
            st.floats(1e-5, 1e6, exclude_min=True),
            st.sampled_from([0.5, 1 / 3, 33333.3, 100_000.0, 1_000_000.0, 123_456.789]),
        )
    )
    shape = draw(st.sampled_from(["constant", "steps", "ramp", "sine", "bursts"]))
    if shape == "constant":
        return constant(duration_us=duration_us, rate_per_s=rate_per_s)
    if shape == "steps":
        levels = draw(st.lists(factors, min_size=1, max_size=min(5, duration_us)))
        return steps(duration_us=duration_us, rate_per_s=rate_per_s, levels=[*levels[1:], 1.0])
    if shape == "ramp":
        return ramp(duration_us=duration_us, rate_per_s=rate_per_s, start=draw(factors))
    if shape == "sine":
        period_us = draw(st.integers(max(100_000, duration_us // 20), DAY_US))
        amplitude = draw(st.floats(0.0, 1.0))
        return sine(
            duration_us=duration_us, rate_per_s=rate_per_s, period_us=period_us, amplitude=amplitude
        )
    every_us = draw(st.integers(max(3, duration_us // 50), DAY_US))
    return bursts(
        duration_us=duration_us,
        rate_per_s=rate_per_s,
        burst=draw(factors),
        every_us=every_us,
        length_us=draw(st.integers(1, every_us - 2)),
    )


@st.composite
def poisson_schedules(draw: st.DrawFn) -> Schedule:
    rate_per_s = draw(st.floats(0.001, 1e9))
    # Up to 30,000 events, so that several blocks are drawn.
    longest_us = max(1, int(30_000 / rate_per_s * 1e6))
    return poisson(
        duration_us=draw(st.integers(1, longest_us)),
        rate_per_s=rate_per_s,
        seed=draw(st.integers(0, 2**64 - 1)),
    )


@st.composite
def trace_schedules(draw: st.DrawFn) -> Schedule:
    times = draw(st.lists(st.integers(1, 10**9), max_size=6, unique=True).map(sorted))
    values = draw(st.lists(factors, min_size=len(times), max_size=len(times)))
    column = draw(st.sampled_from(["rate_per_s", "factor"]))
    lines = [f"time_s,{column}", "0,1"]
    lines += [f"{time / 1_000_000:.6f},{value}" for time, value in zip(times, values, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.csv"
        path.write_text("\n".join(lines))
        return trace(
            duration_us=draw(st.integers(1, 2 * 10**9)), rate_per_s=7.5, path=path, scale=1.25
        )


schedules = st.one_of(knot_schedules(), shaped_schedules(), poisson_schedules(), trace_schedules())
fractions_of_load = st.lists(st.floats(0.0, 1.0), max_size=20)


def _events(schedule: Schedule, places: list[float]) -> np.ndarray:
    """Some sequence numbers: the first and last, some of any place, and their neighbours."""
    last = schedule.total - 1
    if last < 0:
        return np.empty(0, dtype=np.int64)
    some = np.array([0, last, *(int(place * last) for place in places)], dtype=np.int64)
    return np.unique(np.clip(np.concatenate([some - 1, some, some + 1]), 0, last))


@settings(max_examples=150, deadline=None)
@given(schedules, fractions_of_load)
def test_counts_invert_times(schedule: Schedule, places: list[float]) -> None:
    events = _events(schedule, places)
    times_us = schedule.times_us(events)
    assert times_us.dtype == np.int64
    assert (np.diff(times_us) >= 0).all()
    assert (times_us >= 0).all()
    assert (times_us < schedule.duration_us).all()
    assert (schedule.counts_before(times_us) <= events).all()
    assert (events < schedule.counts_before(times_us + 1)).all()


@settings(max_examples=100, deadline=None)
@given(schedules, fractions_of_load)
def test_times_invert_counts(schedule: Schedule, places: list[float]) -> None:
    end_us = schedule.duration_us
    some = [int(place * end_us) for place in places]
    moments = np.unique(np.array([0, 1, end_us - 1, end_us, *some], dtype=np.int64))
    counts = schedule.counts_before(moments)
    assert counts.dtype == np.int64
    assert (np.diff(counts) >= 0).all()
    after = counts < schedule.total
    assert (schedule.times_us(counts[after]) >= moments[after]).all()
    before = counts > 0
    assert (schedule.times_us(counts[before] - 1) < moments[before]).all()


@settings(max_examples=50, deadline=None)
@given(schedules)
def test_no_event_is_due_before_the_start_or_after_the_end(schedule: Schedule) -> None:
    end_us = schedule.duration_us
    assert schedule.count_before(-5) == schedule.count_before(0) == 0
    assert schedule.total == schedule.count_before(end_us) == schedule.count_before(2 * end_us)


@settings(max_examples=50, deadline=None)
@given(schedules, fractions_of_load)
def test_a_schedule_answers_alike_in_any_order_and_in_another_process(
    schedule: Schedule, places: list[float]
) -> None:
    events = _events(schedule, places)
    copy = pickle.loads(pickle.dumps(schedule))
    one_by_one = [int(copy.times_us(np.array([event]))[0]) for event in events[::-1]]
    assert schedule.times_us(events).tolist() == one_by_one[::-1]
    assert schedule.times_us(events[::-1]).tolist() == one_by_one


@settings(max_examples=30, deadline=None)
@given(schedules)
def test_an_event_that_is_not_scheduled_is_refused(schedule: Schedule) -> None:
    for event in (-1, schedule.total):
        with pytest.raises(IndexError):
            schedule.times_us(np.array([event]))
    assert schedule.times_us(np.empty(0, dtype=np.int64)).size == 0
    assert schedule.counts_before(np.empty(0, dtype=np.int64)).size == 0


@settings(max_examples=60, deadline=None)
@given(schedules, st.integers(1, 7), fractions_of_load)
def test_instances_share_the_load_without_gap_or_overlap(
    schedule: Schedule, instances: int, places: list[float]
) -> None:
    shares = [InstanceSchedule(schedule, instance, instances) for instance in range(instances)]
    assert sum(share.total for share in shares) == schedule.total
    moments = np.array([int(place * schedule.duration_us) for place in places], dtype=np.int64)
    sums = np.sum([share.counts_before(moments) for share in shares], axis=0)
    assert sums.tolist() == schedule.counts_before(moments).tolist()
    totals = [share.total for share in shares]
    assert max(totals) - min(totals) <= 1

    first = int(places[0] * schedule.total) // instances if places else 0
    for share in shares:
        last = min(first + 5, share.total)
        times_us = share.times_us(first, max(first, last))
        of_load = range(share.instance + first * instances, schedule.total, instances)[:5]
        assert times_us.tolist() == schedule.times_us(np.array(of_load, dtype=np.int64)).tolist()
        for own, time_us in enumerate(times_us.tolist(), start=first):
            assert share.count_before(time_us) <= own < share.count_before(time_us + 1)


def test_an_instance_that_does_not_exist_is_refused() -> None:
    schedule = constant(duration_us=1_000_000, rate_per_s=10)
    for instance, instances in ((2, 2), (-1, 2), (0, 0)):
        with pytest.raises(ValueError, match="no instance"):
            InstanceSchedule(schedule, instance, instances)
