"""The search and the judge of its probes, on systems whose capacity is known; no clock, no process.

How often it is right under noise, stalls and drift is a figure of `make bench`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.driver.observations import Basis, Observation
from streamgauge.measure.search import (
    BatchJudge,
    ProbeOrder,
    ProbeOutcome,
    Search,
    SearchResult,
    SearchSettings,
    estimated_us,
    judge_of,
)
from streamgauge.measure.search.probe import ProbeVerdict
from streamgauge.units import SECOND_US

LOOK_S = 0.1
capacities = st.floats(2e3, 2e7)


def staircase(
    order: ProbeOrder,
    capacity: float,
    *,
    first_s: float = 0.0,
    stall: tuple[float, float] = (0.0, 0.0),
    broken: str | None = None,
) -> ProbeOutcome:
    """A probe of a system that pulls everything that waits and works it off at its capacity.

    `first_s` is how much longer its first batch takes; `stall` begins then and lasts so long.
    """
    judge = BatchJudge(order, precision=0.05)
    drained, processed, free_at, pulled_at, time_s, stalled = 0, 0, 0.3, 0.0, 0.0, False
    while time_s < order.length_us / SECOND_US:
        time_s += LOOK_S
        while free_at <= time_s:
            waiting = int(order.rate_per_s * free_at) - drained
            busy = 0.1 + max(1, waiting) / capacity + (first_s if drained == 0 else 0.0)
            if not stalled and stall[1] and free_at + busy > stall[0]:
                busy, stalled = busy + stall[1], True
            processed, drained = drained, drained + max(0, waiting)
            pulled_at, free_at = free_at, free_at + busy
        offered = int(order.rate_per_s * time_s)
        time_us, pulled_us = round(time_s * SECOND_US), round(pulled_at * SECOND_US)
        if judge.look(Observation("", time_us, offered, drained, processed, pulled_us)) is not None:
            break
    return judge.finish(broken)


def outcome(
    order: ProbeOrder, verdict: ProbeVerdict, *, drained_per_s: float | None = None
) -> ProbeOutcome:
    return ProbeOutcome(
        rate_per_s=order.rate_per_s,
        kind=order.kind,
        verdict=verdict,
        length_us=9 * SECOND_US,
        drained_per_s=drained_per_s,
    )


def found(search: Search, probe: Callable[[ProbeOrder], ProbeOutcome]) -> SearchResult:
    for _ in range(80):
        order = search.next()
        if order is None:
            return search.result
        search.tell(probe(order))
    raise AssertionError("the search does not end")


@settings(max_examples=60, deadline=None)
@given(capacity=capacities, precision=st.sampled_from([0.02, 0.05, 0.1]))
def test_a_steady_system_is_found_within_the_precision(capacity: float, precision: float) -> None:
    result = found(Search(SearchSettings(precision=precision)), exactly(capacity))
    assert result.confirmed
    assert result.maximum_sustainable_per_s == pytest.approx(capacity, rel=precision)
    assert result.maximum_sustainable_per_s <= capacity
    assert result.tries[-1].kind == "confirm"
    assert f"{result.maximum_sustainable_per_s:,.0f}" in result.in_words


def exactly(capacity: float) -> Callable[[ProbeOrder], ProbeOutcome]:
    """Outcomes without any noise."""

    def probe(order: ProbeOrder) -> ProbeOutcome:
        return ProbeOutcome(
            rate_per_s=order.rate_per_s,
            kind=order.kind,
            verdict="passed" if order.rate_per_s <= capacity else "failed",
            length_us=order.length_us,
            drained_per_s=capacity,
            error=0.005,
        )

    return probe


@settings(max_examples=25, deadline=None)
@given(capacity=st.floats(3e4, 5e6))
def test_a_system_that_pulls_in_batches_is_found(capacity: float) -> None:
    """Batches grow with the load, so its fixed cost weighs little; what it sustains is near."""
    result = found(Search(SearchSettings()), lambda order: staircase(order, capacity))
    assert result.maximum_sustainable_per_s is not None
    assert 0.85 * capacity < result.maximum_sustainable_per_s < 1.05 * capacity


def pausing(
    order: ProbeOrder, capacity: float, *, every_s: float, pause_s: float, basis: Basis
) -> ProbeOutcome:
    """A probe of a system that processes continuously and pauses at the end of every period."""
    judge = judge_of(order, 0.05, basis)
    taken, pulls, results = 0, [(0.0, 0)], [(0.0, 0)]
    for tick in range(1, round(20 * order.length_us / SECOND_US) + 1):
        time_s = tick / 20
        offered = int(order.rate_per_s * time_s)
        if time_s % every_s < every_s - pause_s and offered > taken:
            taken += min(offered - taken, int(capacity / 20))
            pulls.append((time_s, taken))
            results.append((time_s + 1.5, taken))
        if tick % 2:
            continue
        steps = pulls if basis is Basis.PULLED else [r for r in results if r[0] <= time_s]
        at_s, seen = steps[-1]
        finished = steps[-2][1] if basis is Basis.PULLED and len(steps) > 1 else seen
        times_us = round(time_s * SECOND_US), round(at_s * SECOND_US)
        if judge.look(Observation("", times_us[0], offered, seen, finished, times_us[1])):
            break
    return judge.finish()


@settings(max_examples=20, deadline=None)
@given(
    capacity=st.floats(3e4, 5e6),
    every_s=st.floats(1.0, 10.0),
    share=st.floats(0.0, 0.2),
    basis=st.sampled_from([Basis.PULLED, Basis.FRONTIER]),
)
def test_pauses_that_recur_are_capacity(
    capacity: float, every_s: float, share: float, basis: Basis
) -> None:
    pause_s, truth = share * every_s, capacity * (1 - share)
    result = found(
        Search(SearchSettings()),
        lambda order: pausing(order, capacity, every_s=every_s, pause_s=pause_s, basis=basis),
    )
    # A tick of the simulation is 0.05 s, so the share of its pauses differs from the given one.
    rounding = 0.1 / every_s
    assert result.maximum_sustainable_per_s is not None
    assert result.maximum_sustainable_per_s == pytest.approx(truth, rel=0.08 + rounding)
    assert result.maximum_sustainable_per_s < truth * (1.05 + rounding)
    assert result.interval_per_s is not None
    low, high = result.interval_per_s
    assert low * (1 - rounding) < truth < high * (1 + rounding)


@pytest.mark.parametrize("basis", [Basis.PULLED, Basis.FRONTIER])
def test_a_rate_between_the_capacity_with_and_without_pauses_is_not_confirmed(basis: Basis) -> None:
    """Half a second of pause in five, so 50,000/s of 55,555/s."""
    order = ProbeOrder(55_295, 60 * SECOND_US, "confirm")
    outcome = pausing(order, 55_555, every_s=5.0, pause_s=0.5, basis=basis)
    assert outcome.verdict == "failed"
    assert outcome.drained_per_s == pytest.approx(50_000, rel=0.03)
    lower = ProbeOrder(49_000, 60 * SECOND_US, "confirm")
    assert pausing(lower, 55_555, every_s=5.0, pause_s=0.5, basis=basis).verdict == "passed"


@settings(max_examples=25, deadline=None)
@given(capacity=capacities, cut=st.integers(0, 12))
def test_outcomes_told_again_lead_to_the_same_orders(capacity: float, cut: int) -> None:
    whole = found(Search(SearchSettings()), exactly(capacity))
    again = Search(SearchSettings())
    for outcome in whole.tries[:cut]:
        order = again.next()
        assert order is not None
        assert (order.rate_per_s, order.kind) == (outcome.rate_per_s, outcome.kind)
        assert again.next() == order
        again.tell(outcome)
    assert found(again, exactly(capacity)) == whole


@settings(max_examples=25, deadline=None)
@given(capacity=st.floats(1e5, 1e9), highest=st.floats(2e5, 1e7))
def test_nothing_beyond_the_highest_is_offered(capacity: float, highest: float) -> None:
    result = found(Search(SearchSettings(highest=highest)), exactly(capacity))
    assert max(outcome.rate_per_s for outcome in result.tries) <= highest * 1.0001


def test_an_outcome_that_was_not_ordered_is_refused() -> None:
    search = Search(SearchSettings())
    order = search.next()
    assert order is not None
    other = ProbeOrder(order.rate_per_s * 2, order.length_us, order.kind)
    with pytest.raises(ValueError, match="was ordered"):
        search.tell(exactly(1e6)(other))


def test_a_confirmation_that_fails_steps_down() -> None:
    """In probes it seems to take more than it holds in a full-length run."""
    capacity, really = 1e6, 9e5

    def probe(order: ProbeOrder) -> ProbeOutcome:
        return exactly(really if order.kind == "confirm" else capacity)(order)

    result = found(Search(SearchSettings()), probe)
    confirms = [one for one in result.tries if one.kind == "confirm"]
    assert len(confirms) >= 2
    assert confirms[0].verdict == "failed"
    assert max(c.rate_per_s for c in confirms if c.verdict == "passed") == (
        result.maximum_sustainable_per_s
    )
    assert all(
        later.rate_per_s < earlier.rate_per_s
        for earlier, later in pairwise(confirms)
        if earlier.verdict == "failed"
    )
    assert result.maximum_sustainable_per_s is not None
    assert result.maximum_sustainable_per_s <= really
    assert result.failed is not None
    assert result.failed > result.maximum_sustainable_per_s


def test_a_system_that_takes_nothing_ends_without_a_maximum() -> None:
    result = found(Search(SearchSettings()), lambda order: staircase(order, 0.01))
    assert result.maximum_sustainable_per_s is None
    assert not result.confirmed


def narrow(rate: float, seconds: float = 25.0) -> ProbeOrder:
    return ProbeOrder(rate, round(seconds * SECOND_US), "narrow")


def test_a_hopeless_probe_ends_within_seconds() -> None:
    outcome = staircase(narrow(150_000), 100_000)
    assert outcome.verdict == "failed"
    assert outcome.length_us < 15 * SECOND_US


@pytest.mark.parametrize("rate", [50_000, 85_000])
def test_neither_a_stall_nor_a_cold_start_is_saturation(rate: float) -> None:
    assert staircase(narrow(rate), 100_000, stall=(9.0, 1.5)).verdict == "passed"
    assert staircase(narrow(rate), 100_000, first_s=3.0).verdict == "passed"
    assert staircase(narrow(120_000), 100_000, stall=(9.0, 1.5)).verdict == "failed"


def test_one_broken_instance_fails_a_probe_whatever_the_queues_say() -> None:
    reason = "driver instance 1: queue above q_b"
    outcome = staircase(narrow(50_000), 100_000, broken=reason)
    assert (outcome.verdict, outcome.reason) == ("failed", reason)


def test_a_budget_ends_the_narrowing_and_not_the_confirmation() -> None:
    quick = SearchSettings(precision=0.02, budget_us=20 * SECOND_US)
    whole = found(Search(SearchSettings(precision=0.02)), exactly(777_000))
    cut = found(Search(quick), exactly(777_000))
    assert len(cut.tries) <= len(whole.tries)
    assert cut.confirmed
    assert cut.maximum_sustainable_per_s is not None
    assert cut.maximum_sustainable_per_s <= 777_000


def test_without_an_estimate_a_rate_between_what_kept_up_and_what_failed_is_confirmed() -> None:
    """As Spark did: so few pulls in a short probe that no rate could be estimated, until the
    budget was spent."""
    search = Search(SearchSettings(start=1e6, precision=0.15, budget_us=18 * SECOND_US))
    for drained in (1.5e6, 1.9e6):
        order = search.next()
        assert order is not None
        assert order.kind == "saturate"
        search.tell(outcome(order, "passed", drained_per_s=drained))
    order = search.next()
    assert order is not None
    assert (order.kind, order.rate_per_s) == ("confirm", 1_725_000.0)
    search.tell(outcome(order, "failed"))
    order = search.next()
    assert order is not None
    assert (order.kind, order.rate_per_s) == ("confirm", 1_313_400.0)
    search.tell(outcome(order, "failed"))
    order = search.next()
    assert order is not None
    assert order.rate_per_s == 1_146_000.0
    search.tell(outcome(order, "failed"))
    order = search.next()
    assert order is not None
    assert (order.kind, order.rate_per_s) == ("confirm", 1e6)
    search.tell(outcome(order, "passed"))
    assert search.next() is None
    assert search.result.maximum_sustainable_per_s == 1e6


def test_a_system_seen_to_drain_less_than_offered_is_not_offered_a_multiple() -> None:
    search = Search(SearchSettings(start=1e6))
    for _ in range(3):
        order = search.next()
        assert order is not None
        search.tell(outcome(order, "passed", drained_per_s=0.9 * order.rate_per_s))
        following = search.next()
        assert following is not None
        assert following.rate_per_s == pytest.approx(1.3 * order.rate_per_s, rel=1e-4)


def test_the_estimate_is_about_what_it_takes_and_ends_at_nothing() -> None:
    plan = SearchSettings()
    estimated = estimated_us(plan, 3 * SECOND_US)
    search = Search(plan)
    result = found(search, lambda order: staircase(order, 400_000))
    took = sum(outcome.length_us + 3 * SECOND_US for outcome in result.tries)
    assert 0.4 * took < estimated < 2.5 * took
    assert search.remaining_us() == 0


def test_a_late_generator_is_not_held_against_the_system() -> None:
    limit = 500_000

    def late_beyond(order: ProbeOrder) -> ProbeOutcome:
        if order.kind == "saturate" or order.rate_per_s <= limit:
            return exactly(777_000)(order)
        return BatchJudge(order, 0.05).late("the generator itself was late")

    result = found(Search(SearchSettings()), late_beyond)
    assert result.maximum_sustainable_per_s is not None
    assert result.maximum_sustainable_per_s <= limit
    late = [t for t in result.tries if t.late]
    assert {t.verdict for t in late if t.kind == "narrow"} <= {"doubtful"}
    assert {t.verdict for t in late if t.kind == "confirm"} <= {"failed"}
    assert "the system may sustain more" in result.in_words


def test_a_search_has_a_budget_also_when_nobody_gives_one() -> None:
    """A rate that stays doubtful would be tried for longer than the rest takes."""
    settings = SearchSettings(attempts=20)
    search = Search(settings)
    while (order := search.next()) is not None and order.kind != "confirm":
        doubtful = outcome(order, "doubtful").model_copy(update={"length_us": order.length_us})
        search.tell(exactly(777_000)(order) if order.kind == "saturate" else doubtful)
    assert order is not None
    narrowed = [t for t in search.result.tries if t.kind == "narrow"]
    assert 1 < len(narrowed) < settings.attempts
    spent_us = sum(t.length_us for t in search.result.tries)
    assert spent_us <= 2 * estimated_us(settings) + settings.probe_us
