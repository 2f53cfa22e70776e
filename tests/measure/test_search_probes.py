"""What the search must bear: bounded batches, queues that report late, stalls, and bad luck."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.driver.observations import Observation
from streamgauge.measure.search import (
    BatchJudge,
    ProbeOrder,
    ProbeOutcome,
    ProbeVerdict,
    Search,
    SearchSettings,
)
from streamgauge.measure.search.estimate import Estimate, Step, estimate
from streamgauge.units import SECOND_US

LOOK_S = 0.1


def probed(
    order: ProbeOrder,
    *,
    per_s: float,
    fixed_s: float,
    bound_s: float = math.inf,
    first_s: float = 0.0,
    cold: float = 0.0,
    stall: tuple[float, float] | None = None,
) -> ProbeOutcome:
    """A probe of a system without noise: batches of up to `bound_s` of work and a fixed time.

    `cold` is by how much it is slower at first; `stall` begins after so many seconds and lasts so
    long.
    """
    judge = BatchJudge(order, precision=0.05)
    rate, drained, finished = order.rate_per_s, 0, 0
    next_s, pulled_s, time_s = 0.1, 0.0, 0.0
    while time_s < order.length_us / SECOND_US:
        time_s += LOOK_S
        while next_s <= time_s:
            events = int(min(rate * next_s - drained, bound_s * per_s))
            busy_s = (fixed_s + events / per_s) * (1 + cold * math.exp(-next_s / 2))
            busy_s += first_s if drained == 0 else 0.0
            if stall is not None and next_s <= stall[0] < next_s + busy_s:
                busy_s += stall[1]
            finished, drained = drained, drained + events
            pulled_s, next_s = next_s, next_s + busy_s
        if judge.look(look_at(time_s, int(rate * time_s), drained, finished, pulled_s)) is not None:
            break
    return judge.finish()


def look_at(
    time_s: float, offered: int, drained: int, finished: int, pulled_s: float
) -> Observation:
    times_us = round(time_s * SECOND_US), round(pulled_s * SECOND_US)
    return Observation("", times_us[0], offered, drained, finished, times_us[1])


@settings(max_examples=40, deadline=None)
@given(
    share=st.floats(0.3, 0.9),
    first_s=st.floats(0.0, 4.0),
    cold=st.floats(0.0, 2.0),
    stalls_at=st.floats(0.0, 28.0),
)
def test_a_cold_start_and_a_stall_never_fail_a_rate_below_the_capacity(
    share: float, first_s: float, cold: float, stalls_at: float
) -> None:
    order = ProbeOrder(share * 1e5, 30 * SECOND_US, "narrow")
    outcome = probed(
        order,
        per_s=1.2e5,
        fixed_s=0.3,
        bound_s=1.5,
        first_s=first_s,
        cold=cold,
        stall=(stalls_at, 1.5),
    )
    assert outcome.verdict != "failed"


@pytest.mark.parametrize(
    ("share", "cold", "stall"), [(0.9, 5.0, None), (0.6, 0.0, (6.0, 1.9)), (0.8, 0.0, (6.0, 1.9))]
)
def test_trouble_in_the_first_seconds_is_no_reason_to_end_a_probe_early(
    share: float, cold: float, stall: tuple[float, float] | None
) -> None:
    order = ProbeOrder(share * 1e5, 30 * SECOND_US, "narrow")
    outcome = probed(order, per_s=1.2e5, fixed_s=0.3, bound_s=1.5, cold=cold, stall=stall)
    assert outcome.verdict != "failed"


@settings(max_examples=40, deadline=None)
@given(share=st.floats(1.1, 4.0), first_s=st.floats(0.0, 4.0), bounded=st.booleans())
def test_a_rate_above_the_capacity_always_fails(
    share: float, first_s: float, bounded: bool
) -> None:
    order = ProbeOrder(share * 1e5, 30 * SECOND_US, "narrow")
    bound_s = 1.5 if bounded else math.inf
    per_s = 1.2e5 if bounded else 1e5
    outcome = probed(order, per_s=per_s, fixed_s=0.3, bound_s=bound_s, first_s=first_s)
    assert outcome.verdict == "failed"


@st.composite
def bad_luck(draw: st.DrawFn) -> list[tuple[ProbeVerdict, float | None, float | None]]:
    """Verdicts and estimates that have nothing to do with the rate."""
    verdicts: list[ProbeVerdict] = ["passed", "failed", "doubtful"]
    one = st.tuples(
        st.sampled_from(verdicts),
        st.none() | st.floats(1.0, 1e9),
        st.none() | st.floats(0.01, 0.5),
    )
    return draw(st.lists(one, min_size=1, max_size=30))


@settings(max_examples=150, deadline=None)
@given(luck=bad_luck(), highest=st.floats(1e3, 1e9), precision=st.sampled_from([0.01, 0.05, 0.2]))
def test_whatever_comes_out_the_search_ends_and_keeps_its_word(
    luck: list[tuple[ProbeVerdict, float | None, float | None]], highest: float, precision: float
) -> None:
    plan = SearchSettings(highest=highest, precision=precision)
    search, outcomes = Search(plan), itertools.cycle(luck)
    while (order := search.next()) is not None:
        assert 1 <= order.rate_per_s <= highest
        verdict, drained, error = next(outcomes)
        outcome = ProbeOutcome(
            rate_per_s=order.rate_per_s,
            kind=order.kind,
            verdict=verdict,
            length_us=order.length_us,
            drained_per_s=drained,
            error=error,
        )
        search.tell(outcome)
        assert len(search.result.tries) < 80
        resumed = Search(plan)
        for past in search.result.tries:
            resumed.tell(ProbeOutcome.model_validate_json(past.model_dump_json()))
        assert resumed.next() == search.next()
    result = search.result
    assert result.confirmed == (result.maximum_sustainable_per_s is not None)
    if result.maximum_sustainable_per_s is not None:
        confirmed = {o.rate_per_s for o in result.tries if o.kind == "confirm"}
        assert result.maximum_sustainable_per_s in confirmed
        assert result.failed is None or result.failed > result.maximum_sustainable_per_s


def told(
    order: ProbeOrder, verdict: ProbeVerdict, drained: float | None, error: float | None = 0.02
) -> ProbeOutcome:
    return ProbeOutcome(
        rate_per_s=order.rate_per_s,
        kind=order.kind,
        verdict=verdict,
        length_us=order.length_us,
        drained_per_s=drained,
        error=error if drained is not None else None,
    )


def next_of(search: Search) -> ProbeOrder:
    order = search.next()
    assert order is not None
    return order


def narrowed(search: Search, *, below: float, drained: float) -> ProbeOrder:
    """What is to be confirmed after probes that passed below that rate."""
    while (order := next_of(search)).kind == "narrow":
        passes = order.rate_per_s < below
        search.tell(told(order, "passed" if passes else "failed", drained))
    return order


def test_a_doubtful_rate_is_tried_as_often_as_asked_and_then_settled() -> None:
    search = Search(SearchSettings(attempts=3))
    search.tell(told(next_of(search), "failed", 50_000.0))
    rates = []
    while (order := next_of(search)).kind == "narrow":
        rates.append(order.rate_per_s)
        search.tell(told(order, "doubtful", None))
    assert rates[:3] == [rates[0]] * 3
    assert rates[3:4] != rates[:1]
    assert order.rate_per_s < rates[0]


def test_a_system_that_keeps_up_is_offered_four_times_as_much() -> None:
    search = Search(SearchSettings(start=1_000, highest=40_000))
    rates = []
    while (order := next_of(search)).kind == "saturate":
        rates.append(order.rate_per_s)
        search.tell(told(order, "passed", None))
    assert rates == [1_000, 4_000, 16_000, 40_000]
    assert order.rate_per_s == 40_000


def test_a_system_that_shows_nothing_at_a_rate_is_offered_less() -> None:
    search = Search(SearchSettings(start=80_000))
    search.tell(told(next_of(search), "doubtful", None))
    order = next_of(search)
    assert (order.kind, order.rate_per_s) == ("saturate", 20_000)


def test_a_confirmation_with_room_above_it_tries_again_what_failed() -> None:
    """One probe failed by bad luck; the full-length run shows that the system can do far more."""
    search = Search(SearchSettings())
    search.tell(told(next_of(search), "failed", 80_000.0, 0.05))
    while (order := next_of(search)).kind == "narrow":
        search.tell(told(order, "failed", 70_000.0, 0.1))
    search.tell(told(order, "passed", 100_000.0, 0.01))
    again = next_of(search)
    assert again.kind == "narrow"
    assert again.rate_per_s > 1.03 * order.rate_per_s
    assert search.result.maximum_sustainable_per_s == order.rate_per_s


@pytest.mark.parametrize(("finished", "second"), [(None, 2_000_000), (1_500_000, 1_500_000)])
def test_with_its_budget_spent_nobody_falls_back_to_the_first_guess_at_once(
    finished: float | None, second: float
) -> None:
    """Short probes kept up with 1,000,000/s and with 4,000,000/s; at length the latter failed."""
    search = Search(SearchSettings(start=1_000_000, budget_us=30 * SECOND_US, precision=0.01))
    rates = []
    while (order := search.next()) is not None:
        if order.kind == "saturate":
            search.tell(told(order, "passed", None))
        else:
            rates.append(order.rate_per_s)
            failed = told(order, "failed", None).model_copy(update={"drained_per_s": finished})
            search.tell(failed if order.rate_per_s > 1_600_000 else told(order, "passed", None))
    assert rates[0] == 4_000_000
    assert rates[1] == pytest.approx(second, rel=0.01)
    assert search.result.maximum_sustainable_per_s == pytest.approx(1_450_000, rel=0.05)


def test_what_a_flooded_system_did_is_forgotten_when_it_does_clearly_more() -> None:
    search = Search(SearchSettings())
    search.tell(told(next_of(search), "failed", 45_000.0, 0.035))
    search.tell(told(narrowed(search, below=64_000, drained=65_000.0), "passed", 65_000.0, 0.01))
    assert search.result.maximum_sustainable_per_s == pytest.approx(64_000, rel=0.05)
    assert "probes together see 65,000/s" in search.result.in_words


def test_a_fast_spell_is_no_reason_to_forget_what_was_seen() -> None:
    """A backlog worked off in no time tells little, and says so by its error."""
    search = Search(SearchSettings())
    search.tell(told(next_of(search), "failed", 60_000.0, 0.02))
    search.tell(told(narrowed(search, below=61_000, drained=60_000.0), "passed", 80_000.0, 0.08))
    assert search.next() is None


def test_a_flood_does_not_outweigh_what_the_system_kept_up_with() -> None:
    """As Spark did: 6,000,000/s in time, and then 4,400,000 of 7,800,000/s in huge batches."""
    search = Search(SearchSettings(start=6_000_000))
    search.tell(told(next_of(search), "passed", 6_600_000.0, None))
    search.tell(told(next_of(search), "failed", 4_400_000.0, 0.035))
    first = next_of(search)
    assert (first.kind, first.rate_per_s) == ("narrow", 6_000_000)
    search.tell(told(first, "failed", 5_700_000.0, 0.02))
    then = next_of(search)
    assert then.rate_per_s < 5_950_000


def test_a_saturation_probe_that_falls_behind_in_long_pulls_tells_the_capacity_roughly() -> None:
    """As Spark did at 8,000,000/s: two pulls of more than three seconds, one of them slower."""
    rate = 8_000_000
    judge = BatchJudge(ProbeOrder(rate, 18 * SECOND_US, "saturate"), precision=0.05)
    asked_at = [0.0, 0.0, 0.1, 0.8, 2.7, 6.0, 9.5, 13.8]
    pulled_at = [0.0, 0.2, 1.1, 2.9, 6.3, 9.5, 13.9]
    for tick in range(1, 181):
        time_s = tick / 10
        last = sum(at_s <= time_s for at_s in pulled_at)
        drained, finished = round(rate * asked_at[last]), round(rate * asked_at[last - 1])
        offered, at_s = round(rate * time_s), pulled_at[last - 1]
        if judge.look(look_at(time_s, offered, drained, finished, at_s)) is not None:
            break
    outcome = judge.finish()
    assert outcome.error is not None
    assert outcome.drained_per_s == pytest.approx(7.1e6, rel=0.1)


def test_with_its_budget_spent_a_search_goes_by_what_confirmations_finished() -> None:
    """Short probes saw 100,000/s; at length, with all its state, the system does 70,000/s."""
    search = Search(SearchSettings(budget_us=1))
    rates = []
    while (order := search.next()) is not None:
        if order.kind == "confirm":
            rates.append(order.rate_per_s)
            fits = order.rate_per_s <= 70_000
            drained = order.rate_per_s if fits else 70_000.0
            search.tell(told(order, "passed" if fits else "failed", drained))
        else:
            fits = order.rate_per_s <= 100_000
            search.tell(told(order, "passed" if fits else "failed", 100_000.0))
    assert len(rates) == 2
    assert rates[0] > 80_000
    assert search.result.maximum_sustainable_per_s == pytest.approx(70_000, rel=0.05)


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(2, 1_000), min_size=3, max_size=20),
    seen_after_s=st.lists(st.none() | st.floats(0.0, 0.9), min_size=20, max_size=20),
)
def test_pulls_are_as_long_as_they_were_however_late_they_are_seen(
    sizes: list[int], seen_after_s: list[float | None]
) -> None:
    """A pull that is not seen counts as a part of the one before."""
    judge = BatchJudge(ProbeOrder(1_000, 60 * SECOND_US, "confirm"), 0.05)
    drained, expected = 0, []
    for second, (size, after_s) in enumerate(zip(sizes, seen_after_s, strict=False)):
        if after_s is not None:
            offered = 1_000 * (second + 1)
            judge.look(look_at(second + after_s, offered, drained + size, drained, second))
            expected.append((second, drained))
        drained += size
    seen = [(step.at_s, step.processed) for step in judge._steps]
    # After a verdict nothing is added.
    assert seen == expected[: len(seen)]
    assert len(seen) == len(expected) or judge._verdict is not None


def steps_of(busy: list[float]) -> list[Step]:
    """Pulls of 1,000 events."""
    starts = itertools.accumulate(busy, initial=0.0)
    return [Step(at_s, 1_000 * i) for i, at_s in enumerate(starts)]


def estimated(busy: list[float]) -> Estimate:
    seen = estimate(steps_of(busy))
    assert seen is not None
    return seen


@settings(max_examples=60, deadline=None)
@given(at=st.integers(0, 14), stall_s=st.floats(0.5, 3.0))
def test_one_long_pull_does_not_count_and_many_do(at: int, stall_s: float) -> None:
    steady = [1.0 + 0.02 * (i % 3) for i in range(15)]
    stalled = list(steady)
    stalled[at] += stall_s
    usual = estimated(steady)
    assert estimated(stalled).per_s == pytest.approx(usual.per_s, rel=0.01)
    slower = estimated([1.1 * busy_s for busy_s in steady])
    assert slower.per_s == pytest.approx(usual.per_s / 1.1)


@settings(max_examples=60, deadline=None)
@given(
    pause_s=st.floats(0.5, 3.0),
    every=st.integers(2, 10),
    phase=st.integers(0, 9),
    another=st.floats(0.5, 1.0),
)
def test_a_pause_that_recurs_counts(pause_s: float, every: int, phase: int, another: float) -> None:
    """Whatever the distance; the interval of two errors contains the rate in the long run."""
    long = [pause_s, another * pause_s]
    busy = [1.0 + (long[i // every % 2] if i % every == phase % every else 0) for i in range(40)]
    truth = 1_000 / (1 + (1 + another) / 2 * pause_s / every)
    seen = estimated(busy)
    assert abs(seen.per_s - truth) < 2 * seen.error * truth
    assert seen.per_s < 1_000 / (1 + 0.5 * (1 + another) / 2 * pause_s / every)


def test_pulls_that_still_grow_are_judged_by_what_they_grow_to() -> None:
    """They take 0.4 s and 0.8 of the time in which their events came: that ends at 2 s."""
    order = ProbeOrder(80_000, 30 * SECOND_US, "narrow")
    assert probed(order, per_s=1e5, fixed_s=0.4).verdict != "failed"


def test_there_is_no_verdict_before_the_shortest_time_unless_it_breaks() -> None:
    order = ProbeOrder(1e6, 30 * SECOND_US, "narrow")
    judge = BatchJudge(order, precision=0.05)
    for look in range(1, 20):
        assert (
            judge.look(look_at(0.25 * look, look * 250_000, look * 1_000, 0, 0.25 * look)) is None
        )
    assert judge.finish().verdict == "doubtful"
    assert judge.finish("a connection was dropped").verdict == "failed"


def with_trigger(order: ProbeOrder, capacity: float, trigger_s: float) -> ProbeOutcome:
    """A probe of a system that comes for more at the borders of its trigger only."""
    judge = BatchJudge(order, 0.05, pause_us=round(trigger_s * SECOND_US))
    drained, finished, next_s, pulled_s, time_s = 0, 0, trigger_s, 0.0, 0.0
    while time_s < order.length_us / SECOND_US:
        time_s += LOOK_S
        while next_s <= time_s:
            taken = int(order.rate_per_s * next_s) - drained
            finished, drained = drained, drained + taken
            pulled_s, next_s = next_s, next_s + max(trigger_s, 0.1 + taken / capacity)
        offered = int(order.rate_per_s * time_s)
        if judge.look(look_at(time_s, offered, drained, finished, pulled_s)) is not None:
            break
    return judge.finish()


@settings(max_examples=60, deadline=None)
@given(capacity=st.floats(1e4, 1e7), trigger_s=st.sampled_from([2.0, 4.0]))
def test_a_trigger_interval_is_no_lack_of_speed(capacity: float, trigger_s: float) -> None:
    search = Search(SearchSettings())
    for _ in range(80):
        order = search.next()
        if order is None:
            break
        search.tell(with_trigger(order, capacity, trigger_s))
    maximum = search.result.maximum_sustainable_per_s
    assert maximum is not None
    assert 0.9 * capacity < maximum < 1.02 * capacity


def test_no_system_is_taken_for_much_faster_than_it_was_ever_seen() -> None:
    """Pulls of any size that take the same time: larger ones would seem to cost nothing."""
    sizes = itertools.accumulate((500 + 200 * (i % 4) for i in range(40)), initial=0)
    seen = estimate([Step(1.3 * i, processed) for i, processed in enumerate(sizes)])
    assert seen is not None
    assert seen.per_s < 1.5 * 1_100 / 1.2
