"""Policies: when the queue of a driver instance shows that the load is not sustained."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.driver.observations import Observation
from streamgauge.driver.policies import (
    CombinedPolicy,
    CountPolicy,
    Policy,
    QueueMarks,
    SettledPolicy,
    TimePolicy,
    judge_full,
)
from streamgauge.errors import ExperimentError

MARKS = QueueMarks(acceptable=1_000, tolerable=2_000, capacity=6_000)
HALF_WAY = 500

PolicyClass = Callable[[QueueMarks], Policy]
POLICIES: list[PolicyClass] = [TimePolicy, CountPolicy, CombinedPolicy]
few = settings(max_examples=60, deadline=None)
all_policies = pytest.mark.parametrize("policy_class", POLICIES)

marks_strategy = st.builds(
    lambda a, b, n: QueueMarks(a, a + b, a + b + n),
    st.integers(0, 1_000),
    st.integers(1, 1_000),
    st.integers(1, 1_000),
)


def seen_at(time_us: int, offered: int, queued: int) -> Observation:
    return Observation("a queue", time_us, offered, offered - queued)


def _samples(
    sizes: Iterable[int], *, every_us: int = 100_000, pushes: int = 100
) -> list[Observation]:
    return [seen_at(tick * every_us, tick * pushes, size) for tick, size in enumerate(sizes)]


def _first_reason(policy: Policy, samples: Iterable[Observation]) -> str | None:
    return next((reason for sample in samples if (reason := policy.judge(sample))), None)


def _judged_at(policy: Policy, samples: Iterable[Observation]) -> int | None:
    return next((i for i, sample in enumerate(samples) if policy.judge(sample)), None)


@st.composite
def histories(draw: st.DrawFn, largest: int = 2_500) -> list[Observation]:
    """Any course of a queue, often at a mark or between two."""
    sizes = st.one_of(
        st.sampled_from([0, MARKS.acceptable, MARKS.acceptable + 1, MARKS.tolerable, largest]),
        st.integers(0, largest),
        st.integers(MARKS.acceptable, MARKS.tolerable),
    ).map(lambda size: min(size, largest))
    length = draw(st.integers(0, 30))
    ticks = st.tuples(st.integers(1, 3_000_000), st.integers(0, 400), sizes)
    time_us = pushed = 0
    samples = []
    for step_us, pushes, size in draw(st.lists(ticks, min_size=length, max_size=length)):
        time_us += step_us
        pushed += pushes
        samples.append(seen_at(time_us, pushed, size))
    return samples


@all_policies
@few
@given(histories(largest=MARKS.acceptable))
def test_a_queue_never_above_q_a_is_never_judged(
    policy_class: PolicyClass, samples: list[Observation]
) -> None:
    assert _first_reason(policy_class(MARKS), samples) is None


@all_policies
@few
@given(marks_strategy, st.integers(1, 50), st.integers(1, 10**6), st.integers(0, 500))
def test_a_queue_that_grows_without_end_is_judged_before_it_is_full(
    policy_class: PolicyClass, marks: QueueMarks, growth: int, every_us: int, drained: int
) -> None:
    enough = marks.capacity // growth + 2
    samples = _samples(
        (tick * growth for tick in range(enough)), every_us=every_us, pushes=growth + drained
    )
    policy = policy_class(marks)
    judged = _judged_at(policy, samples)
    assert judged is not None
    assert samples[judged].queued > marks.acceptable
    assert samples[judged].queued <= marks.tolerable + growth


@all_policies
@few
@given(histories())
def test_above_q_b_is_unsustainable_at_once(
    policy_class: PolicyClass, samples: list[Observation]
) -> None:
    policy = policy_class(MARKS)
    for sample in samples:
        reason = policy.judge(sample)
        if sample.queued > MARKS.tolerable:
            assert reason is not None
            assert "q_b" in reason


@all_policies
def test_a_full_queue_is_called_full(policy_class: PolicyClass) -> None:
    below = seen_at(31_240_000, 70_000, MARKS.capacity - 1)
    full = seen_at(31_240_000, 70_000, MARKS.capacity)
    assert judge_full(MARKS, below) is None
    reason = "queue of 6,000 events is full, q_n = 6,000, at 31.2 s"
    assert judge_full(MARKS, full) == policy_class(MARKS).judge(full) == reason


@all_policies
def test_reasons_give_size_mark_and_time(policy_class: PolicyClass) -> None:
    marks = QueueMarks(30_000, 60_000, 180_000)
    reason = policy_class(marks).judge(seen_at(31_240_000, 900_000, 61_234))
    assert reason == "queue of 61,234 events above q_b = 60,000 at 31.2 s"


@all_policies
@few
@given(histories())
def test_a_queue_back_at_q_a_is_forgotten(
    policy_class: PolicyClass, samples: list[Observation]
) -> None:
    """After a calm moment, the past does not count."""
    policy = policy_class(MARKS)
    calm = next((i for i, s in enumerate(samples) if s.queued <= MARKS.acceptable), len(samples))
    for sample in samples[: calm + 1]:
        policy.judge(sample)
    rest = samples[calm + 1 :]
    assert [policy.judge(sample) for sample in rest] == [
        reason for fresh in [policy_class(MARKS)] for reason in map(fresh.judge, rest)
    ]


@all_policies
def test_stays_above_q_a_are_not_added_up(policy_class: PolicyClass) -> None:
    hump = [1_200, 1_100, 1_001, MARKS.acceptable]
    samples = _samples(hump * 10, every_us=1_000_000, pushes=HALF_WAY // 4)
    assert _first_reason(policy_class(MARKS), samples) is None


@all_policies
def test_the_smallest_marks_still_tolerate_a_moment(policy_class: PolicyClass) -> None:
    marks = QueueMarks(0, 1, 2)
    assert policy_class(marks).judge(seen_at(0, 5, 1)) is None


@all_policies
@few
@given(histories(), st.integers(0, 10**9), st.integers(0, 10**9))
def test_only_differences_of_time_and_pushes_count(
    policy_class: PolicyClass, samples: list[Observation], later_us: int, more: int
) -> None:
    moved = [seen_at(s.time_us + later_us, s.offered + more, s.queued) for s in samples]
    assert _judged_at(policy_class(MARKS), samples) == _judged_at(policy_class(MARKS), moved)


@few
@given(histories())
def test_time_and_pushes_are_each_the_affair_of_their_policy(samples: list[Observation]) -> None:
    no_time = [seen_at(0, s.offered, s.queued) for s in samples]
    no_pushes = [seen_at(s.time_us, 0, s.queued) for s in samples]
    for by_pushes in (CountPolicy, CombinedPolicy):
        assert _judged_at(by_pushes(MARKS), samples) == _judged_at(by_pushes(MARKS), no_time)
    assert _judged_at(TimePolicy(MARKS), samples) == _judged_at(TimePolicy(MARKS), no_pushes)


@few
@given(histories(largest=MARKS.tolerable))
def test_the_combination_never_condemns_before_the_count(samples: list[Observation]) -> None:
    count, combined = _judged_at(CountPolicy(MARKS), samples), CombinedPolicy(MARKS)
    judged = _judged_at(combined, samples)
    assert judged is None or (count is not None and count <= judged)


def test_time_is_tolerated_up_to_the_patience() -> None:
    policy = TimePolicy(MARKS, patience_us=2_000_000)
    samples = _samples([500, *[1_500] * 30])
    assert _judged_at(policy, samples) == 21
    reason = _first_reason(TimePolicy(MARKS, patience_us=2_000_000), samples)
    assert reason == "queue of 1,500 events above q_a = 1,000 for 2.0 s at 2.1 s"


def test_the_patience_is_five_seconds_by_default() -> None:
    assert _judged_at(TimePolicy(MARKS), _samples([1_500] * 60)) == 50


def test_pushes_are_tolerated_up_to_half_way_between_the_marks() -> None:
    samples = _samples([500, *[1_500] * 30])
    assert _judged_at(CountPolicy(MARKS), samples) == 1 + HALF_WAY // 100
    assert _judged_at(CountPolicy(MARKS, patience=1_000), samples) == 1 + 10
    reason = _first_reason(CountPolicy(MARKS), samples)
    assert reason == "queue of 1,500 events above q_a = 1,000 for 500 pushes at 0.6 s"


def test_a_queue_that_keeps_growing_is_condemned_at_the_first_look_back() -> None:
    samples = _samples([900, 1_100, 1_100, 1_100, 1_100, 1_150, 1_200, 1_300])
    assert _judged_at(CombinedPolicy(MARKS), samples) == 6
    reason = _first_reason(CombinedPolicy(MARKS), samples)
    expected = "queue of 1,200 events above q_a = 1,000 and grown by 100 in 500 pushes at 0.6 s"
    assert reason == expected


def test_growth_between_looks_alone_does_not_condemn() -> None:
    samples = _samples([1_100, 1_900, 1_900, 1_900, 1_900] * 10)
    assert _first_reason(CombinedPolicy(MARKS), samples) is None


def test_a_look_that_finds_less_starts_the_series_again() -> None:
    policy = CombinedPolicy(MARKS)
    sizes = [1_900, 1_800, 1_500, 1_500, 1_400]
    samples = _samples(sizes, pushes=HALF_WAY)
    assert _first_reason(policy, samples) is None
    # Less than at the first comparison, but grown since the last one.
    assert policy.judge(seen_at(500_000, 5 * HALF_WAY, 1_401)) is not None


@few
@given(
    st.lists(st.integers(MARKS.acceptable + 1, MARKS.tolerable), min_size=1, max_size=4),
    st.integers(0, MARKS.acceptable),
)
def test_a_hump_that_is_gone_by_the_next_look_is_tolerated(hump: list[int], calm: int) -> None:
    samples = _samples([0, *hump, calm] * 5)
    assert _first_reason(CombinedPolicy(MARKS), samples) is None


@few
@given(st.lists(st.integers(MARKS.acceptable + 1, MARKS.tolerable), min_size=1, max_size=200))
def test_a_hump_that_shrinks_however_slowly_is_tolerated(sizes: list[int]) -> None:
    samples = _samples([0, *sorted(sizes, reverse=True), 0])
    assert _first_reason(CombinedPolicy(MARKS), samples) is None


@few
@given(st.integers(0, 10**10))
def test_marks_are_shares_of_the_run(events: int) -> None:
    marks = QueueMarks.of(events)
    assert marks.acceptable == events * 5 // 100
    assert marks.tolerable == max(events * 10 // 100, marks.acceptable + 1)
    assert marks.capacity == max(events * 30 // 100, marks.tolerable + 1)


def test_shares_are_exact() -> None:
    assert QueueMarks.of(100, shares=(0.28, 0.29, 0.57)) == QueueMarks(28, 29, 57)


@pytest.mark.parametrize("sizes", [(5, 5, 6), (5, 6, 6), (6, 5, 7), (-1, 5, 6)])
def test_marks_that_do_not_increase_are_refused(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(ExperimentError) as caught:
        QueueMarks(*sizes)
    assert caught.value.key == "load.marks"


@pytest.mark.parametrize("shares", [(0.1, 0.2), (0.1, 0.1, 0.3), (0.3, 0.2, 0.1), (0.1, 0.2, 1.5)])
def test_shares_that_do_not_increase_are_refused(shares: tuple[float, ...]) -> None:
    with pytest.raises(ExperimentError) as caught:
        QueueMarks.of(1_000, shares)
    assert caught.value.key == "load.marks"


@pytest.mark.parametrize("patience", [0, -1, 1.5, "5 s", True])
def test_a_wrong_patience_is_refused(patience: int) -> None:
    for build in (lambda: TimePolicy(MARKS, patience), lambda: CountPolicy(MARKS, patience)):
        with pytest.raises(ExperimentError) as caught:
            build()
        assert caught.value.key == "load.policy.patience"


COLD_US = 5_000_000


@all_policies
def test_the_backlog_of_a_cold_start_is_no_saturation(policy_class: PolicyClass) -> None:
    """It waits for five seconds, and then hardly gets less."""
    sizes = [100 * tick for tick in range(50)] + [5_000 - tick for tick in range(300)]
    assert _first_reason(policy_class(MARKS), _samples(sizes)) is not None
    assert _first_reason(SettledPolicy(policy_class(MARKS), COLD_US), _samples(sizes)) is None


@all_policies
def test_what_comes_to_wait_later_counts(policy_class: PolicyClass) -> None:
    sizes = [900] * 60 + [900 + 50 * tick for tick in range(100)]
    at = _judged_at(SettledPolicy(policy_class(MARKS), COLD_US), _samples(sizes))
    assert at is not None
    assert sizes[at] - 900 > MARKS.acceptable


@few
@given(histories())
def test_from_an_empty_queue_on_a_settled_policy_is_the_policy(samples: list[Observation]) -> None:
    started = [seen_at(-1, 0, 0), *samples]
    settled = SettledPolicy(CombinedPolicy(MARKS), -1)
    plain = CombinedPolicy(MARKS)
    assert [settled.judge(one) for one in started] == [plain.judge(one) for one in started]
