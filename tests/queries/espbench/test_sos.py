"""The quick outlier selection against a plain bisection, point by point and round by round."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from streamgauge.queries.espbench.sos import outlier_probabilities
from streamgauge.queries.espbench.sos_reference import reference_probabilities

Floats = NDArray[np.float64]
WINDOW = 500
BORDER = 1e-9


def plain(points: Floats, perplexity: float = 30, rounds: int = 50) -> Floats:
    """The definition, for one point after the other."""
    count = len(points)
    if count == 1:
        return np.ones(1)
    bindings = np.zeros((count, count))
    for i in range(count):
        distances = np.sqrt(((np.delete(points, i, axis=0) - points[i]) ** 2).sum(axis=1))
        # exp() of a long distance is 0; the share of each in the sum is that of the differences.
        distances -= distances.min()
        bindings[i, np.arange(count) != i] = _bindings_of(distances, perplexity, rounds)
    return np.asarray(np.prod(1 - bindings, axis=0))


def _bindings_of(distances: Floats, perplexity: float, rounds: int) -> Floats:
    beta, low, high = 1.0, None, None
    for _ in range(rounds):
        affinities = np.exp(-distances * beta)
        total = affinities.sum()
        entropy = math.log(total) + beta * (distances * affinities).sum() / total
        if entropy - math.log(perplexity) > 0:
            low, beta = beta, 2 * beta if high is None else (beta + high) / 2
        else:
            high, beta = beta, beta / 2 if low is None else (beta + low) / 2
    affinities = np.exp(-distances * beta)
    return np.asarray(affinities / affinities.sum())


def random_window(seed: int) -> Floats:
    """Real numbers of any spread, and whole numbers as sensors send them, in turns."""
    random = np.random.default_rng(seed)
    # The plain bisection takes a second for a window of full length.
    shape = (WINDOW if seed % 20 < 2 else WINDOW // 5, 2)
    if seed % 2:
        return random.normal(0, 10 ** random.uniform(-3, 3), shape)
    walk = np.cumsum(random.normal(0, random.uniform(0.2, 3), shape), axis=0)
    noise = random.normal(0, random.uniform(0.5, 4), shape)
    return np.asarray(np.round(np.array((13_050, 14_380)) + walk + noise))


def _one_far_away() -> Floats:
    points = np.tile((13_050.0, 14_380.0), (WINDOW, 1))
    points[7] = (18_200, 20_000)
    return points


def _special() -> dict[str, Floats]:
    random = np.random.default_rng(1)
    equal = np.tile((13_050.0, 14_380.0), (WINDOW, 1))
    steps = np.repeat(np.arange(WINDOW // 10), 10)
    few = np.round(random.normal((13_050, 14_380), 1.0, (WINDOW, 2)))
    burst = np.round(13_050 + 5_150 * np.sin(np.linspace(0, math.pi, WINDOW)) ** 6)
    exactly = np.repeat(random.integers(0, 10_000, (WINDOW // 31 + 1, 2)), 31, axis=0)[:WINDOW]
    return {
        "all equal": equal,
        "equal but for one far away": _one_far_away(),
        "two values": np.where(np.arange(WINDOW)[:, None] % 2, equal, equal + 1),
        "few whole values, many of each": few,
        "ten of each on a line": np.column_stack((steps, 2 * steps)).astype(float),
        "a burst": np.column_stack((burst, np.full(WINDOW, 14_380.0))),
        "as many equal points as the perplexity, and one": exactly.astype(float),
        "equal but for the last bits": equal + random.normal(0, 1e-9, (WINDOW, 2)),
        "too near for fifty doublings": random.normal(0, 1e-15, (WINDOW, 2)),
        "so near that the rounds run out": random.normal(0, 1e-12, (WINDOW, 2)),
        "far apart": random.normal(0, 1e12, (WINDOW, 2)),
        "fewer points than the perplexity": random.normal(0, 1, (20, 2)),
        "two points": np.array([(1.0, 1.0), (2.0, 5.0)]),
        "one point": np.array([(1.0, 1.0)]),
    }


def differing(found: Floats, wanted: Floats) -> tuple[int, int]:
    """How many printed probabilities and decisions differ, apart from those on a border."""
    to_border = np.abs(100 * wanted % 1 - 0.5) / 100
    clear = to_border > BORDER
    printed = [(f"{a:.2f}", f"{b:.2f}") for a, b in zip(found[clear], wanted[clear], strict=True)]
    decided = np.abs(wanted - 0.5) > BORDER
    return (
        sum(a != b for a, b in printed),
        int(((found >= 0.5) != (wanted >= 0.5))[decided].sum()),
    )


def test_the_vector_of_the_publication() -> None:
    points = np.array([(1, 1), (2, 1), (1, 2), (2, 2), (5, 8)], dtype=float)
    published = [0.27900, 0.25775, 0.22136, 0.12707, 0.99227]
    for select in (outlier_probabilities, reference_probabilities, plain):
        assert select(points, 3, 500) == pytest.approx(published, abs=1e-5)


def test_a_hundred_random_windows_agree_with_the_plain_bisection() -> None:
    on_a_border = 0
    for seed in range(100):
        window = random_window(seed)
        wanted = plain(window)
        assert differing(outlier_probabilities(window), wanted) == (0, 0), seed
        assert differing(reference_probabilities(window), wanted) == (0, 0), seed
        on_a_border += int((np.abs(100 * wanted % 1 - 0.5) / 100 <= BORDER).sum())
        on_a_border += int((np.abs(wanted - 0.5) <= BORDER).sum())
    # Where the plain result lies on a border either side is right; no window may hide behind it.
    assert on_a_border == 0


@pytest.mark.parametrize("name", _special())
def test_windows_in_which_the_perplexity_is_hard_or_impossible_to_reach(name: str) -> None:
    window = _special()[name]
    wanted = plain(window)
    assert outlier_probabilities(window) == pytest.approx(wanted, abs=1e-6)
    assert differing(outlier_probabilities(window), wanted) == (0, 0)
    assert differing(reference_probabilities(window), wanted) == (0, 0)


def test_a_point_far_from_equal_ones_is_an_outlier() -> None:
    probabilities = outlier_probabilities(_one_far_away())
    assert probabilities[7] == pytest.approx(1.0)
    assert (np.delete(probabilities, 7) < 0.5).all()
