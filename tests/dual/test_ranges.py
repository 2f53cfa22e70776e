"""Which operations a burst concerns."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.dual.model.ranges import concerned, switch_range
from tests.dual.cases import few

PAPER = (8, 0.625, 1, 0.1)

chains = st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.625, 1.0, 2.0, 8.0]), min_size=1, max_size=9)


@st.composite
def chains_with_bursts(draw: st.DrawFn) -> tuple[list[float], list[int]]:
    chain = draw(chains)
    places = st.integers(1, len(chain))
    return chain, draw(st.lists(places, min_size=1, max_size=4))


def _records(chain: list[float], first: int, last: int, source: float) -> float:
    """Records behind operation `last` per record before operation `first` − 1."""
    return math.prod([source, *chain][first - 1 : last + 1])


def test_the_example_of_the_paper() -> None:
    assert set(switch_range(PAPER, 2)) == {2, 3, 4}


def test_a_longer_chain_behind_the_example_is_not_in_its_range() -> None:
    assert set(switch_range((*PAPER, 1, 1), 2)) == {2, 3, 4}


def test_without_an_operation_that_shrinks_the_range_reaches_the_end() -> None:
    assert set(switch_range((8, 1, 1), 2)) == {2, 3}
    assert set(switch_range((1, 1, 1), 1)) == {1, 2, 3}


def test_an_operation_that_is_slow_without_any_amplification_is_alone() -> None:
    assert set(switch_range((0.1, 1, 1), 2)) == {2}


def test_a_source_that_delivers_more_makes_the_range_longer() -> None:
    assert set(switch_range((1, 0.5, 0.9, 0.1), 1)) == {1, 2}
    assert set(switch_range((1, 0.5, 0.9, 0.1), 1, source_magnification=3)) == {1, 2, 3, 4}


@few
@given(chains_with_bursts(), st.floats(1, 5))
def test_the_range_is_the_smallest_that_ends_the_surplus(
    case: tuple[list[float], list[int]], source: float
) -> None:
    chain, (burst, *_) = case
    found = switch_range(chain, burst, source)
    assert found[0] == burst
    for earlier in found[:-1]:
        assert _records(chain, burst, earlier, source) >= 1
    if found[-1] < len(chain):
        assert _records(chain, burst, found[-1], source) < 1


@few
@given(chains_with_bursts(), st.randoms())
def test_several_bursts_concern_the_union_of_their_ranges_in_any_order(
    case: tuple[list[float], list[int]], random: st.DataObject
) -> None:
    chain, bursts = case
    found = concerned(chain, bursts)
    assert set(found) == set().union(*(switch_range(chain, burst) for burst in bursts))
    shuffled = list(bursts)
    random.shuffle(shuffled)
    assert concerned(chain, shuffled) == found


@few
@given(chains_with_bursts())
def test_an_operation_follows_the_nearest_burst_whose_range_it_is_in(
    case: tuple[list[float], list[int]],
) -> None:
    chain, bursts = case
    for place, followed in concerned(chain, bursts).items():
        assert followed == max(b for b in bursts if place in switch_range(chain, b))


@few
@given(chains_with_bursts(), st.floats(0.01, 1))
def test_an_operation_that_shrinks_more_never_makes_a_range_longer(
    case: tuple[list[float], list[int]], factor: float
) -> None:
    chain, (burst, place, *_) = case[0], [*case[1], 1]
    less = [value * factor if i == place else value for i, value in enumerate(chain, 1)]
    assert len(switch_range(less, burst)) <= len(switch_range(chain, burst))


def test_no_bursts_concern_nothing() -> None:
    assert concerned(PAPER, []) == {}


@pytest.mark.parametrize("burst", [0, 5, -1])
def test_a_burst_at_no_operation_is_refused(burst: int) -> None:
    with pytest.raises(ValueError, match="no operation"):
        switch_range(PAPER, burst)
