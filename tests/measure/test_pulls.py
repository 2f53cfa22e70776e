"""The pulls of a system, found in the hand-overs of the driver."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.driver.instance import HANDOVERS
from streamgauge.measure.pulls import GAP_US, Pull, pulls_of
from streamgauge.measure.throughput import processed_rate


def handovers(*rows: tuple[float, float]) -> pa.Table:
    """Of one instance: when, and up to which position, in seconds."""
    handed = [round(1e6 * at) for at, _ in rows]
    until = [round(1e6 * position) for _, position in rows]
    return pa.table({"until_us": until, "handed_us": handed}, schema=HANDOVERS)


def due(time_us: int) -> int:
    """A thousand events per second."""
    return time_us // 1_000


def times(pulls: list[Pull]) -> list[tuple[float, ...]]:
    """Request, first hand-over and last hand-over."""
    return [(pull.start_s, *(pull.handed_s or ())) for pull in pulls]


def test_instances_that_are_pulled_together_make_one_batch() -> None:
    tables = [
        handovers((0.53, 0.17), (1.13, 0.26), (1.14, 0.80), (1.84, 1.58)),
        handovers((0.55, 0.17), (1.15, 0.26), (1.16, 0.80), (1.85, 1.58)),
    ]
    assert times(pulls_of(tables, due)) == [
        (0.17, 0.53, 0.55),
        (0.8, 1.13, 1.16),
        (1.58, 1.84, 1.85),
    ]


def test_a_pause_in_the_middle_of_a_pull_does_not_end_it() -> None:
    stalled = handovers((4.25, 3.9), (9.42, 4.2), (9.52, 8.5), (9.74, 9.1), (13.2, 12.8))
    assert times(pulls_of([stalled], due)) == [
        (3.9, 4.25, 4.25),
        (9.1, 9.42, 9.74),
        (12.8, 13.2, 13.2),
    ]


def test_an_instance_that_is_pulled_after_another_belongs_to_the_same_batch() -> None:
    tables = [handovers((1.0, 0.9), (2.0, 1.9)), handovers((1.3, 0.9), (2.3, 1.9))]
    assert times(pulls_of(tables, due)) == [(0.9, 1.0, 1.3), (1.9, 2.0, 2.3)]


def test_two_streams_that_stand_at_different_positions_are_one_batch() -> None:
    tables = [handovers((1.0, 0.800), (2.0, 1.700)), handovers((1.01, 0.806), (2.01, 1.707))]
    assert [pull.handed_s for pull in pulls_of(tables, due)] == [
        (1.0, 1.01),
        (2.0, 2.01),
    ]


def test_a_range_that_is_read_again_is_no_new_batch() -> None:
    again = handovers((1.0, 0.5), (1.01, 0.9), (1.4, 0.5), (1.41, 0.9), (2.0, 1.6))
    assert times(pulls_of([again], due)) == [(0.9, 1.0, 1.41), (1.6, 2.0, 2.0)]


def test_a_system_that_hardly_pauses_is_divided_all_the_same() -> None:
    quick = handovers(*((at / 100, at / 100 - 0.002) for at in range(1, 11)))
    assert len(pulls_of([quick], due)) == 10


def test_batches_of_limited_size_are_told_apart_by_their_pauses() -> None:
    backlog = handovers((10.0, 1.0), (10.01, 2.0), (10.5, 3.0), (11.0, 4.0), (11.01, 5.0))
    assert len(pulls_of([backlog], due)) == 1
    found = pulls_of([backlog], due, bounded=True)
    assert times(found) == [(2.0, 10.0, 10.01), (10.5, 10.5, 10.5), (11.0, 11.0, 11.01)]


def test_events_taken_and_left_are_counted_by_the_schedule() -> None:
    found = pulls_of([handovers((0.5, 0.3), (1.2, 1.0))], due)
    assert [(pull.events, pull.left) for pull in found] == [(300, 200), (700, 200)]


def test_a_pull_is_busy_until_the_next_request() -> None:
    found = pulls_of([handovers((0.5, 0.3), (1.2, 1.0), (2.7, 2.4), (2.9, 2.4))], due)
    assert [pull.busy_s for pull in found] == pytest.approx([0.7, 1.4, 0.5])


@pytest.mark.parametrize("tables", [[], [None], [handovers()], [None, handovers()]])
def test_nothing_handed_over_is_no_pull(tables: list[pa.Table | None]) -> None:
    assert pulls_of(tables, due) == []


_BATCH = st.tuples(
    st.integers(1_000, 3_000_000),
    st.integers(1_000, 2_000_000),
    st.lists(st.integers(0, 400_000), min_size=1, max_size=5),
    st.integers(GAP_US, 2_000_000),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(_BATCH, min_size=1, max_size=8), st.integers(1, 3))
def test_batches_are_found_again_whatever_their_pauses(
    batches: list[tuple[int, int, list[int], int]], instances: int
) -> None:
    """A system that asks, waits, pulls in pieces and computes, for any lengths of these."""
    rows: list[list[tuple[int, int]]] = [[] for _ in range(instances)]
    expected, now, position = [], 0, 0
    for idle, lead, pauses, compute in batches:
        asked = now + idle
        now = first = asked + lead
        for number, pause in enumerate(pauses):
            until = position + (asked - position) * (number + 1) // len(pauses)
            now += pause if number else 0
            for own in rows:
                own.append((until, now))
        expected.append((asked / 1e6, first / 1e6, now / 1e6))
        position = asked
        now += compute
    tables = [
        pa.table(
            {"until_us": [u for u, _ in own], "handed_us": [h for _, h in own]}, schema=HANDOVERS
        )
        for own in rows
    ]
    assert times(pulls_of(tables, due)) == expected


def pull(start_s: float, events: int) -> Pull:
    return Pull(start_s, events, busy_s=1.0, left=0)


def test_a_flooded_system_processes_less_than_it_takes() -> None:
    """It takes everything that waits, 1,200 a second, and each pull takes longer."""
    starts = [0.0, 1.0, 2.2, 3.64, 5.368, 7.4416]
    sizes = [0, 1_200, 1_440, 1_728, 2_074, 2_488]
    pulls = [pull(at, size) for at, size in zip(starts, sizes, strict=True)]
    assert processed_rate(pulls, 0.5, 10.0) == pytest.approx(1_000, rel=0.001)


def test_pulls_of_the_warm_up_and_after_the_load_are_left_out() -> None:
    pulls = [pull(0.0, 9_999), *(pull(at, 500) for at in (5.0, 6.0, 7.0)), pull(8.5, 9_999)]
    assert processed_rate(pulls, 4.0, 8.0) == 500.0


@pytest.mark.parametrize("pulls", [[], [pull(1.0, 5)], [pull(1.0, 5), pull(2.0, 5)]])
def test_too_few_pulls_give_no_rate(pulls: list[Pull]) -> None:
    assert processed_rate(pulls, 0.0, 10.0) is None
