"""Rates of a broker by its own times, how stable they are, and steps of the append times."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.measure.ingestion import PerSecond, append_steps, rates

MS, S = 1_000, 1_000_000


def times(*values_us: int) -> np.ndarray:
    return np.array(values_us, np.int64)


def filled(messages: list[int], size: int = 200) -> PerSecond:
    """So many messages in each second."""
    found = PerSecond()
    for second, count in enumerate(messages):
        found.add(np.full(count, second * S + 5, np.int64), np.full(count, size, np.int64))
    return found


def test_messages_are_counted_in_the_second_of_their_append() -> None:
    found = PerSecond()
    found.add(times(0, 999_999, 1 * S, 2 * S), times(1, 2, 3, 4))
    found.add(times(1 * S + 1, 3 * S), times(10, 20))
    series = found.series(end_us=3 * S + 500_000)
    assert series.time_s == [0.0, 1.0, 2.0]
    assert series.messages_per_s == [2, 2, 1]
    assert series.mb_per_s == [0.0, 0.0, 0.0]
    assert list(found.bytes) == [3, 13, 4, 20]


def test_what_comes_before_or_after_the_load_is_not_drawn() -> None:
    found = PerSecond()
    found.add(times(-1, 5 * S), times(1, 1))
    assert found.series(end_us=2 * S).messages_per_s == [0, 0]


def test_rates_are_those_of_the_whole_seconds_after_the_warm_up() -> None:
    series = filled([1, 50, 90, 100, 110, 999]).series(end_us=5 * S + 1)
    found = rates(series, warm_up_us=1_500_000, configured_per_s=120)
    assert (found.configured_per_s, found.achieved_per_s, found.peak_per_s) == (120, 100, 110)
    assert found.variation_percent == pytest.approx(10.0)
    assert found.mb_per_s == pytest.approx(0.02)


def test_an_even_rate_does_not_vary_and_a_single_second_has_no_variation() -> None:
    even = rates(filled([7, 7, 7]).series(3 * S), 0, 7)
    assert even.variation_percent == 0
    assert rates(filled([7]).series(S), 0, 7).variation_percent is None


def test_without_a_whole_second_there_is_no_rate() -> None:
    found = rates(filled([7]).series(S - 1), 0, 7)
    assert (found.configured_per_s, found.achieved_per_s) == (7, None)


def test_steps_of_eleven_records_each() -> None:
    appended = np.repeat(np.arange(10) * MS, 11)[4:-3]
    assert append_steps(appended) == (11.0, 1.0)


def test_a_line_has_one_record_per_step() -> None:
    assert append_steps(np.arange(100) * MS) == (1.0, 1.0)


def test_one_time_for_all_records_is_one_step_without_a_length() -> None:
    assert append_steps(times(3, 3, 3)) == (3.0, None)
    assert append_steps(times()) == (None, None)


@given(st.lists(st.integers(1, 50), min_size=3, max_size=40))
def test_records_per_step_is_the_mean_of_the_inner_steps(counts: list[int]) -> None:
    appended = np.repeat(np.arange(len(counts)) * 2 * MS, counts)
    records, step_ms = append_steps(appended)
    assert records == pytest.approx(np.mean(counts[1:-1]), abs=0.01)
    assert step_ms == 2.0
