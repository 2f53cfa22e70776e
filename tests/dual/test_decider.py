"""Decisions about a chain of operations whose quantities are known."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from streamgauge.dual.decider import Decider
from streamgauge.dual.decision import Action, Standing
from streamgauge.dual.model.average import Average
from streamgauge.dual.model.estimates import Estimates
from streamgauge.dual.model.latency import Paradigm
from streamgauge.dual.settings import DualSettings
from tests.dual.cases import few

CHAIN = ("split", "clean", "enrich", "count", "store")
PAPER = (8.0, 0.625, 1.0, 0.1, 1.0)
DECIDER = Decider(CHAIN)
LONG_AGO = -1_000.0


def _known(value: float) -> Average:
    return Average(30.0, value, 1.0)


def _estimates(
    magnification: float,
    arrival_per_s: float = 900.0,
    data_speed_per_s: float = 1_000.0,
    operation_speed_per_s: float = 5_000.0,
) -> Estimates:
    return Estimates(
        arrival=_known(arrival_per_s),
        magnification=_known(magnification),
        data_speed=_known(data_speed_per_s),
        operation_speed=_known(operation_speed_per_s),
        schedule=_known(0.1),
    )


def _chain(**queues: float) -> list[Standing]:
    """All as data streams, calm but for the queues given."""
    return [
        Standing(name, Paradigm.DATA, LONG_AGO, queues.get(name, 0.0), _estimates(magnification))
        for name, magnification in zip(CHAIN, PAPER, strict=True)
    ]


def _changed(chain: list[Standing], operation: str, **changes: object) -> list[Standing]:
    return [
        replace(one, **changes) if one.operation == operation else one  # type: ignore[arg-type]
        for one in chain
    ]


def _actions(chain: list[Standing], decider: Decider = DECIDER) -> dict[str, Action]:
    decided = decider.decide(0.0, chain).operations
    return {one.operation: one.action for one in decided if one.action is not Action.STAY}


def test_a_calm_chain_stays() -> None:
    assert _actions(_chain()) == {}


def test_a_burst_prepares_the_range_of_the_paper_and_then_switches_it() -> None:
    range_of_burst = ("clean", "enrich", "count")
    chain = _chain(clean=5_000)
    assert _actions(chain) == dict.fromkeys(range_of_burst, Action.PREPARE)
    ready = [replace(one, prepared=True) for one in chain]
    assert _actions(ready) == dict.fromkeys(range_of_burst, Action.SWITCH)
    assert DECIDER.decide(0.0, ready).of("count").target is Paradigm.OPERATION


def test_the_more_the_source_delivers_the_longer_the_range_of_its_burst() -> None:
    def burst(arrival_per_s: float) -> set[str]:
        chain = [
            replace(one, estimates=_estimates(magnification, arrival_per_s))
            for one, magnification in zip(_chain(), (1, 0.5, 0.9, 0.1, 1), strict=True)
        ]
        return set(_actions(_changed(chain, "split", queue=50_000)))

    assert burst(900) == {"split", "clean"}
    assert burst(3_000) == {"split", "clean", "enrich", "count"}


def test_a_reason_has_words_and_figures() -> None:
    decision = DECIDER.decide(0.0, _chain(clean=5_000))
    reason = decision.of("clean").reason
    assert "queue 5,000 > upper limit" in reason
    assert "V 900/s, PD 1,000/s" in reason
    assert "saves" in reason
    assert decision.of("count").reason == "in the range of the burst at `clean`"
    assert "≤ upper limit" in decision.of("store").reason


def test_the_speed_ratio_is_assumed_only_until_both_speeds_are_known() -> None:
    known = _estimates(1.0)
    for unknown in ("data_speed", "operation_speed"):
        partly = replace(known, **{unknown: Average(30.0)})
        figures = Decider(("a",)).decide(0, [_alone(partly)]).operations[0].figures
        assert figures is not None
        assert figures.speed_ratio_assumed
        assert figures.quantities.speed_ratio == pytest.approx(0.2)
    measured = _estimates(1.0, operation_speed_per_s=2_000)
    figures = Decider(("a",)).decide(0, [_alone(measured)]).operations[0].figures
    assert figures is not None
    assert not figures.speed_ratio_assumed
    assert figures.quantities.speed_ratio == pytest.approx(0.5)


def _alone(estimates: Estimates, queue: float = 0.0) -> Standing:
    return Standing("a", Paradigm.DATA, LONG_AGO, queue, estimates)


def test_without_any_speed_an_operation_stays() -> None:
    decision = Decider(("a",)).decide(0, [_alone(Estimates(), 1e9)]).operations[0]
    assert decision.action is Action.STAY
    assert decision.figures is None
    assert decision.interval_s is None
    assert "not yet known" in decision.reason


def test_an_operation_stays_for_the_minimum_stay_and_while_it_switches() -> None:
    chain = _changed(_chain(clean=5_000), "clean", since_s=-3.0, prepared=True)
    assert "clean" not in _actions(chain)
    assert "stays 7.0 s more" in DECIDER.decide(0.0, chain).of("clean").reason
    assert _actions(_changed(chain, "clean", since_s=-10.0))["clean"] is Action.SWITCH
    assert "count" not in _actions(_changed(chain, "count", switching=True))


def test_an_operation_that_is_faster_as_data_stream_stays_in_it() -> None:
    slow = _estimates(1.0, operation_speed_per_s=800)
    within = _changed(_chain(clean=5_000), "enrich", estimates=slow)
    assert set(_actions(within)) == {"clean", "count"}
    assert "faster as data stream" in DECIDER.decide(0.0, within).of("enrich").reason
    # A queue of its own is no reason, either: it would only grow faster.
    assert _actions(_changed(_chain(enrich=50_000), "enrich", estimates=slow)) == {}


def test_an_operation_that_turns_out_slower_as_operation_stream_goes_back() -> None:
    slow = _estimates(1.0, arrival_per_s=1_500, operation_speed_per_s=800)
    stuck = _changed(
        _chain(enrich=90_000), "enrich", paradigm=Paradigm.OPERATION, estimates=slow, prepared=True
    )
    assert _actions(stuck) == {"enrich": Action.SWITCH}
    assert "the data stream is faster" in DECIDER.decide(0.0, stuck).of("enrich").reason


def _flooded(arrival_per_s: float, queue: float) -> list[Standing]:
    """The operation `clean` as operation stream."""
    estimates = _estimates(0.625, arrival_per_s)
    chain = _chain(clean=queue)
    return _changed(chain, "clean", paradigm=Paradigm.OPERATION, estimates=estimates, prepared=True)


def test_an_operation_goes_back_when_its_queue_is_short_and_the_burst_is_over() -> None:
    assert _actions(_flooded(500, 0)) == {"clean": Action.SWITCH}


def test_an_operation_does_not_go_back_while_the_burst_lasts() -> None:
    chain = _flooded(3_000, 0)
    assert "clean" not in _actions(chain)
    assert "3,000/s arrive" in DECIDER.decide(0.0, chain).of("clean").reason


def test_an_operation_does_not_go_back_while_the_load_still_falls() -> None:
    def falling(by_per_s2: float) -> list[Standing]:
        points = tuple((0.25 * n, 900 - by_per_s2 * 0.25 * n) for n in range(11))
        estimates = replace(_estimates(0.625, 500), recent_arrivals=points)
        estimates = replace(estimates, preparation=_known(0.5), gap=_known(1.5))
        return _changed(_flooded(500, 0), "clean", estimates=estimates)

    # A switch takes 2 s. Within 5 s more it falls by less than a fifth of 500/s, or by more.
    assert _actions(falling(13)) == {"clean": Action.SWITCH}
    assert _actions(falling(16)) == {}
    assert "V still falls by at least 16/s" in DECIDER.decide(0.0, falling(16)).of("clean").reason


def test_a_switch_that_costs_more_than_it_saves_is_not_made() -> None:
    dear = Decider(CHAIN, DualSettings(assumed_gap_s=20))
    for chain in (_chain(clean=5_000), _flooded(500, 0)):
        assert "clean" in _actions(chain)
        assert _actions(chain, dear) == {}
        assert "costs" in dear.decide(0.0, chain).of("clean").reason


def test_a_certain_ramp_prepares_before_the_queue_is_there() -> None:
    def ramp(by_per_s2: float) -> list[Standing]:
        points = tuple((0.5 * n - 5, 900 + by_per_s2 * (0.5 * n - 5)) for n in range(11))
        estimates = replace(_estimates(8.0), recent_arrivals=points, preparation=_known(4.0))
        return _changed(_chain(), "split", estimates=estimates)

    assert _actions(ramp(10)) == {}
    # The source delivers no more than usual yet, so the range is that of λ alone.
    assert _actions(ramp(500)) == dict.fromkeys(CHAIN[:4], Action.PREPARE)
    reason = DECIDER.decide(0.0, ramp(500)).of("split").reason
    assert "will pass its upper limit" in reason


def test_a_certain_ramp_switches_before_the_queue_is_there() -> None:
    def ramp(by_per_s2: float) -> list[Standing]:
        points = tuple((0.5 * n - 5, 500 + by_per_s2 * (0.5 * n - 5)) for n in range(11))
        estimates = replace(_estimates(8.0), recent_arrivals=points, arrival=_known(500.0))
        estimates = replace(estimates, preparation=_known(0.5), gap=_known(1.0))
        ready = _changed(_chain(), "split", estimates=estimates)
        return [replace(one, prepared=True) for one in ready]

    # 500/s and 100/s more every second: in 1.5 s no more than a data stream can take, 800/s.
    assert Action.SWITCH not in _actions(ramp(100)).values()
    assert _actions(ramp(500))["split"] is Action.SWITCH
    assert "a data stream is safe up to 800/s" in DECIDER.decide(0.0, ramp(500)).of("split").reason


@few
@given(
    st.permutations(CHAIN),
    st.dictionaries(st.sampled_from(CHAIN), st.floats(0, 1e5)),
    st.sets(st.sampled_from(CHAIN)),
)
def test_decisions_do_not_depend_on_the_order_of_reports(
    order: list[str], queues: dict[str, float], flooded: set[str]
) -> None:
    chain = [
        replace(one, paradigm=Paradigm.OPERATION if one.operation in flooded else one.paradigm)
        for one in _chain(**queues)
    ]
    by_name = {one.operation: one for one in chain}
    decision = DECIDER.decide(0.0, chain)
    assert DECIDER.decide(0.0, [by_name[name] for name in order]) == decision
    assert [one.operation for one in decision.operations] == list(CHAIN)


@few
@given(st.integers(0, 4), st.integers(0, 4))
def test_two_bursts_at_once_concern_what_each_of_them_concerns(first: int, second: int) -> None:
    queues = [{CHAIN[place]: 50_000.0} for place in (first, second)]
    alone = [set(_actions(_chain(**one))) for one in queues]
    assert set(_actions(_chain(**queues[0], **dict(queues[1].items() - queues[0].items())))) == (
        alone[0] | alone[1]
    )


@few
@given(st.floats(0, 1e5), st.floats(0, 1e5))
def test_a_longer_queue_never_ends_a_burst(queue: float, more: float) -> None:
    for make in (_chain(), _flooded(500, 0)):
        shorter = _changed(make, "clean", queue=queue, prepared=True)
        longer = _changed(make, "clean", queue=queue + more, prepared=True)
        targets = [DECIDER.decide(0.0, chain).of("clean").target for chain in (shorter, longer)]
        assert targets != [Paradigm.OPERATION, Paradigm.DATA]


@pytest.mark.parametrize("wrong", [_chain()[1:], [*_chain(), _chain()[0]], [*_chain()[1:]] * 2])
def test_standings_that_are_not_those_of_the_chain_are_refused(wrong: list[Standing]) -> None:
    with pytest.raises(ValueError, match="of a chain split, clean"):
        DECIDER.decide(0.0, wrong)


@pytest.mark.parametrize(
    "wrong", [{"hysteresis": 1}, {"shortest_interval_s": 9}, {"histeresis": 0.2}]
)
def test_wrong_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        DualSettings(**wrong)
