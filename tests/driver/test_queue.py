from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.driver.queue import AlreadyCommitted, Block, DriverQueue
from streamgauge.driver.schedules.instance import InstanceSchedule
from streamgauge.driver.schedules.rates import constant

SECOND = 1_000_000


def schedule(rate_per_s: float = 1_000, instance: int = 0, instances: int = 1) -> InstanceSchedule:
    return InstanceSchedule(
        constant(duration_us=10 * SECOND, rate_per_s=rate_per_s), instance, instances
    )


def filled(times: InstanceSchedule, until: int | None = None, block: int = 700) -> DriverQueue:
    """Events are their own sequence numbers."""
    queue = DriverQueue(times)
    last = times.total if until is None else until
    for first in range(0, last, block):
        numbers = range(first, min(first + block, last))
        batch = pa.record_batch([pa.array(numbers, type=pa.int64())], names=["n"])
        queue.push(Block(first, first + len(numbers), batch))
    return queue


def taken(queue: DriverQueue, from_us: int, until_us: int) -> list[int]:
    return [n for block in queue.take(from_us, until_us) for n in block.batch["n"].to_pylist()]


@given(st.lists(st.integers(0, 10 * SECOND), min_size=1, max_size=12), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_successive_ranges_give_every_event_once_and_in_order(
    marks: list[int], instances: int
) -> None:
    times = schedule(rate_per_s=900, instances=instances)
    queue = filled(times)
    bounds = [0, *sorted(marks), 10 * SECOND]
    seen = [n for a, b in pairwise(bounds) for n in taken(queue, a, b)]
    assert seen == list(range(times.total))


def test_asking_again_gives_the_same_again() -> None:
    queue = filled(schedule())
    first = taken(queue, 100_000, 2_345_678)
    taken(queue, 2_345_678, 5 * SECOND)
    assert taken(queue, 100_000, 2_345_678) == first
    assert first == list(range(100, 2_346))


def test_what_is_committed_is_gone_and_what_is_not_stays() -> None:
    queue = filled(schedule())
    taken(queue, 0, 3 * SECOND)
    queue.commit(2 * SECOND)
    assert taken(queue, 2 * SECOND, 3 * SECOND) == list(range(2_000, 3_000))
    with pytest.raises(AlreadyCommitted):
        queue.take(SECOND, 3 * SECOND)
    assert taken(queue, SECOND, SECOND) == []


def test_nothing_is_released_before_its_time() -> None:
    queue = filled(schedule())
    assert queue.released_until_us(-5) == 0
    assert queue.released_until_us(1_234_567) == 1_234_567
    assert queue.released_until_us(99 * SECOND) == 10 * SECOND


def test_a_late_generator_holds_the_release_back() -> None:
    queue = filled(schedule(), until=2_100)
    assert queue.released_until_us(5 * SECOND) == 2_100_000
    with pytest.raises(ValueError, match="not generated"):
        queue.take(0, 5 * SECOND)


def test_a_cut_load_releases_nothing_behind_the_cut() -> None:
    queue = filled(schedule())
    queue.cut(4 * SECOND)
    assert queue.released_until_us(9 * SECOND) == 4 * SECOND
    queue.cut(6 * SECOND)
    assert queue.released_until_us(9 * SECOND) == 4 * SECOND


@given(st.integers(1, 20_000), st.integers(0, 10 * SECOND), st.integers(0, 10 * SECOND))
@settings(max_examples=80, deadline=None)
def test_a_limit_of_events_is_kept_and_never_stalls(limit: int, after: int, now: int) -> None:
    queue = filled(schedule(rate_per_s=2_000))
    head = queue.head_us(now, after, limit)
    if now <= after:
        assert head <= max(after, now)
        return
    assert after < head <= now
    assert len(taken(queue, after, head)) <= max(limit, 1)


def test_drained_counts_what_was_handed_over_once() -> None:
    queue = filled(schedule())
    queue.take(0, SECOND)
    queue.take(0, SECOND)
    assert queue.drained == 1_000


def test_blocks_must_follow_each_other() -> None:
    queue = DriverQueue(schedule())
    with pytest.raises(ValueError, match="expected event 0"):
        queue.push(Block(5, 6, pa.record_batch([pa.array([5])], names=["n"])))
