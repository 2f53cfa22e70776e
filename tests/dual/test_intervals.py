"""The time between two commits of a data stream with state."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.dual.model.interval import (
    FIRST_COMMIT_S,
    LONGEST_COMMIT_S,
    SHORTEST_COMMIT_S,
    commit_interval_s,
)
from streamgauge.dual.monitoring import Batch, rehearsed_speed, scheduling_s
from tests.dual.cases import few, rates


def test_commits_by_hand() -> None:
    assert commit_interval_s(None, 1_000) == commit_interval_s(0, 1_000) == FIRST_COMMIT_S
    # 100,000/s work off in a second what 5,000/s bring in 20 s.
    assert commit_interval_s(5_000, 100_000) == 20
    assert commit_interval_s(90_000, 100_000) == SHORTEST_COMMIT_S
    assert commit_interval_s(1, 100_000) == LONGEST_COMMIT_S


@few
@given(rates, rates, rates)
def test_a_higher_load_commits_at_least_as_often(low: float, more: float, speed: float) -> None:
    assert commit_interval_s(low + more, speed) <= commit_interval_s(low, speed)


@few
@given(
    st.lists(st.integers(1, 10**6), min_size=3, max_size=40),
    st.floats(0.01, 5),
    st.floats(1e-6, 1e-3),
)
def test_scheduling_is_what_does_not_grow_with_the_records(
    sizes: list[int], schedule_s: float, record_s: float
) -> None:
    batches = [Batch(size, schedule_s + size * record_s) for size in sizes]
    found = scheduling_s(batches)
    shortest = min(batch.seconds for batch in batches)
    if max(sizes) >= 2 * min(sizes):
        assert abs(found - schedule_s) < 1e-6 * (1 + shortest)
    else:
        assert found == shortest
        assert scheduling_s(batches, known_s=schedule_s) == min(shortest, schedule_s)


def test_a_rehearsal_counts_the_fastest_batch_of_each_size() -> None:
    # 0.3 s and 1/100,000 s per record, in the batches that were not held up.
    small = [Batch(1_000, 2.0), Batch(1_000, 0.31), Batch(1_000, 0.9)]
    large = [Batch(20_000, 0.5), Batch(20_000, 1.7)]
    schedule_s, speed_per_s = rehearsed_speed(small, large)
    assert schedule_s == pytest.approx(0.3)
    assert speed_per_s == pytest.approx(100_000)


def test_a_rehearsal_without_a_difference_still_has_a_speed() -> None:
    schedule_s, speed_per_s = rehearsed_speed([Batch(1_000, 0.5)], [Batch(20_000, 0.4)])
    assert speed_per_s == pytest.approx(20_000 / 0.04)
    assert 0 < schedule_s < 0.5
