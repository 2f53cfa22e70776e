from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from streamgauge import Choice, Keys, Real, Whole, event_spec
from streamgauge.events.distributions import DISTRIBUTIONS, Distribution, DistributionName

LANES = np.random.Philox(5).random_raw(500_000).view(np.uint32)


@given(st.sampled_from(DISTRIBUTIONS), st.integers(1, 2**30), st.floats(0.1, 5))
@settings(max_examples=40, deadline=None)
def test_every_value_lies_in_the_range(name: DistributionName, count: int, s: float) -> None:
    if name == "zipf":
        count = min(count, 100_000)
    edges = np.array([0, 1, 2**16, 2**31, 2**32 - 1], dtype=np.uint32)
    drawn = Distribution(name, count, s).draw(edges)
    assert drawn.min() >= 0
    assert drawn.max() < count


def test_uniform_is_even() -> None:
    counts = np.bincount(Distribution("uniform", 10).draw(LANES), minlength=10)
    assert np.abs(counts / len(LANES) - 0.1).max() < 0.002


def test_normal_has_its_middle_and_width() -> None:
    drawn = Distribution("normal", 6_000).draw(LANES)
    assert abs(drawn.mean() - 3_000) < 5
    # Six standard deviations span the range; cutting the tails takes 1.3 % of the deviation.
    assert abs(drawn.std() - 1_000 * 0.9867) < 5
    assert abs(np.mean(np.abs(drawn - 3_000) < 1_000) - 0.6845) < 0.005


@pytest.mark.parametrize("s", [0.8, 1.0, 1.5])
def test_zipf_follows_its_law(s: float) -> None:
    drawn = Distribution("zipf", 10_000, s).draw(LANES)
    shares = np.bincount(drawn, minlength=10_000) / len(drawn)
    law = np.arange(1, 10_001, dtype=float) ** -s
    law /= law.sum()
    assert np.abs(shares[:20] - law[:20]).max() < 0.002
    assert abs(shares[5_000:].sum() - law[5_000:].sum()) < 0.002


def test_a_single_key_is_one_key() -> None:
    assert set(Distribution("single", 1_000).draw(LANES)) == {0}


def test_the_share_outside_is_exact_and_spread_over_all_keys() -> None:
    column = Keys(size=100, distribution="uniform", outside=0.25)
    drawn = column.draw(LANES)
    outside = drawn >= 100
    assert abs(outside.mean() - 0.25) < 0.002
    counts = np.bincount(drawn[outside] - 100, minlength=100)
    assert counts.min() > 0.8 * counts.mean()


def test_values_are_decoded() -> None:
    drawn = np.array([0, 1, 2], dtype=np.int32)
    assert Whole(low=-1, high=1).decode(drawn).to_pylist() == [-1, 0, 1]
    assert Real(low=0.5, high=1.0, decimals=1).decode(drawn).to_pylist() == [0.5, 0.6, 0.7]
    assert Choice(values=("a", "b", "c")).decode(drawn).to_pylist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Whole(low=2, high=1),
        lambda: Real(low=2, high=1),
        lambda: Choice(values=()),
        lambda: Keys(size=0),
        lambda: Keys(size=5, outside=1.5),
        lambda: Keys(size=5, colour="red"),
        lambda: event_spec(event_time=Whole(low=0, high=1)),
    ],
)
def test_a_wrong_column_is_refused(wrong: object) -> None:
    with pytest.raises(ValidationError):
        wrong()  # type: ignore[operator]
