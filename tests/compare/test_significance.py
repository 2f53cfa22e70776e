from __future__ import annotations

import random

import pytest

from streamgauge.compare.significance import noise_of_means, noise_of_searches
from streamgauge.measure.spread import probability_beyond, spread_of, student_quantile

# The first example of the literature on Welch's test: t = −2.46, 25 degrees, p = 0.021.
FIRST = [27.5, 21, 19, 23.6, 17, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19, 21.7, 21.4]
SECOND = [27.1, 22, 20.8, 23.4, 23.4, 23.5, 25.8, 22, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4]


def margin(first: list[float], second: list[float]) -> float:
    found = noise_of_means(spread_of(first), spread_of(second)).margin
    assert found is not None
    return found


def test_the_margin_is_that_of_welch() -> None:
    delta = spread_of(FIRST).mean - spread_of(SECOND).mean
    t = delta / margin(FIRST, SECOND) * student_quantile(0.95, 25)
    assert t == pytest.approx(-2.46, abs=0.01)
    assert probability_beyond(t, 25) == pytest.approx(0.021, abs=0.001)


def test_equal_variances_give_the_margin_of_student() -> None:
    # Two samples of three with deviation 1: t(4) · √(2/3)
    assert margin([1, 2, 3], [11, 12, 13]) == pytest.approx(2.7764 * (2 / 3) ** 0.5, abs=1e-4)


def test_it_does_not_matter_which_is_the_base() -> None:
    assert margin(FIRST, SECOND[:4]) == margin(SECOND[:4], FIRST)


def test_one_noisy_side_is_enough_for_a_wide_margin() -> None:
    assert margin([5, 5, 5], [1, 2, 3]) == pytest.approx(4.3027 / 3**0.5, abs=1e-4)


def test_without_any_deviation_there_is_no_noise() -> None:
    assert margin([5, 5, 5], [6, 6]) == 0


def test_one_in_twenty_is_significant_by_chance() -> None:
    dice = random.Random(11)
    hits = 0
    for _ in range(800):
        first = [dice.gauss(100, 1) for _ in range(4)]
        second = [dice.gauss(100, 4) for _ in range(6)]
        delta = spread_of(first).mean - spread_of(second).mean
        hits += abs(delta) > margin(first, second)
    assert 0.03 < hits / 800 < 0.07


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ([1], [2], "one run each: the noise is unknown"),
        ([1], [2, 3], "one run of the base: its noise is unknown"),
        ([1, 2], [3], "one run of the other: its noise is unknown"),
    ],
)
def test_the_noise_of_one_run_is_unknown(
    first: list[float], second: list[float], words: str
) -> None:
    noise = noise_of_means(spread_of(first), spread_of(second))
    assert (noise.margin, noise.source) == (None, words)


def test_the_margin_of_searches_is_the_wider_gap() -> None:
    assert noise_of_searches((400, 420), (450, 480)).margin == 30
    assert noise_of_searches((400, 440), (450, 480)).margin == 40


def test_a_search_that_never_failed_has_no_precision() -> None:
    noise = noise_of_searches((400, 420), None)
    assert noise.margin is None
    assert "unknown" in noise.source
