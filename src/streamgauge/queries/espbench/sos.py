"""Stochastic outlier selection over a window of points, quick enough for a stream.

Each point has an affinity exp(-beta·distance) to every other; its beta is that at which its
affinities, as a probability distribution, have the wanted perplexity. The definition finds beta
by 50 rounds of bisection from 1. Here Newton's method finds the limit of the bisection, for all
points at once, and the rounds are then replayed on the betas alone: the entropy falls
with beta, so that the limit says which way each round goes. This gives the beta of the bisection
without its 50 passes over all distances, also where the wanted perplexity cannot be reached
(because more points are equal than that) and the bisection only doubles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PERPLEXITY = 30.0
ROUNDS = 50
_SAMPLED = 8
"""The first guess looks at every eighth neighbour."""
_GUESS_STEPS = 4
_MOST_STEPS = 100
_PRECISE = 1e-5
"""Relative step of beta after which the error of Newton's method is about its square."""
_FLAT = 1e-12
_LONGEST_STEP = 3.0
"""Of the logarithm of beta: the entropy is flat far away from its limit."""


def outlier_probabilities(
    points: Floats, perplexity: float = PERPLEXITY, rounds: int = ROUNDS
) -> Floats:
    """The probability of each point (a row of coordinates) that it is an outlier."""
    count = len(points)
    if count < 2:
        return np.ones(count)
    distances = _to_others(points)
    # Only differences within a row matter, and without its minimum no row of affinities is 0.
    distances -= distances.min(axis=1, keepdims=True)
    limit = np.exp(_log_betas(distances, np.log(perplexity), rounds))
    distances *= -_replayed(limit, rounds)[:, None]
    affinities = np.exp(distances, out=distances)
    affinities /= affinities.sum(axis=1, keepdims=True)
    return _not_bound(affinities)


def _to_others(points: Floats) -> Floats:
    """Euclidean distances, a row per point, without that to the point itself."""
    count = len(points)
    squares = np.zeros((count, count))
    for column in np.ascontiguousarray(points.T, dtype=np.float64):
        difference = column[:, None] - column[None, :]
        difference *= difference
        squares += difference
    return _without_diagonal(np.sqrt(squares, out=squares)).reshape(count, count - 1).copy()


def _without_diagonal(square: Floats) -> Floats:
    """A view of the others: between two diagonal elements lie as many as there are rows."""
    count = len(square)
    return square.reshape(-1)[1:].reshape(count - 1, count + 1)[:, :-1]


def _not_bound(bindings: Floats) -> Floats:
    """For each point the product, over all others, of the probability not to be bound to it."""
    count = len(bindings)
    square = np.ones((count, count))
    np.subtract(1.0, bindings.reshape(count - 1, count), out=_without_diagonal(square))
    return np.asarray(np.multiply.reduce(square, axis=0))


def _log_betas(distances: Floats, wanted: float, rounds: int) -> Floats:
    """The logarithms of beta to which the bisection converges; beyond what it can reach, ± inf."""
    reach = (rounds + 1) * np.log(2)
    search = _Search(distances, wanted, _guess(distances, wanted, reach), reach)
    for _ in range(_MOST_STEPS):
        search.step()
        if not search.leave():
            break
    found = search.found
    return np.where(np.abs(found) < reach, found, np.sign(found) * np.inf)


def _guess(distances: Floats, wanted: float, reach: float) -> Floats:
    """From a few of the neighbours; rows for which these are too few get what is usual."""
    guess = np.zeros(len(distances))
    if distances.shape[1] < 4 * _SAMPLED:
        return guess
    sample = np.ascontiguousarray(distances[:, ::_SAMPLED])
    sample -= sample.min(axis=1, keepdims=True)
    share = sample.shape[1] / distances.shape[1]
    search = _Search(sample, wanted + np.log(share), guess, reach)
    for _ in range(_GUESS_STEPS):
        search.step()
    settled = search.moved < 1
    usual = np.median(search.found[settled]) if settled.any() else 0.0
    return np.where(settled, search.found, usual)


@dataclass
class _Rows:
    """The rows that are still searched: their places and what is known of each."""

    places: NDArray[np.intp]
    distances: Floats
    log_beta: Floats
    low: Floats
    high: Floats

    def only(self, kept: NDArray[np.bool_]) -> _Rows:
        return _Rows(
            self.places[kept],
            self.distances[kept],
            self.log_beta[kept],
            self.low[kept],
            self.high[kept],
        )


class _Search:
    """Newton's method on the logarithm of beta, in which the entropy is nearly linear.

    A bracket around each limit keeps a step from leaving it.
    """

    def __init__(self, distances: Floats, wanted: float, guess: Floats, reach: float) -> None:
        self.found = guess.copy()
        self._wanted, self._reach = wanted, reach
        rows = len(distances)
        unknown = np.full(rows, np.inf)
        self._rows = _Rows(np.arange(rows), distances, guess.copy(), -unknown, unknown)
        self.moved = unknown
        self._weights = np.empty_like(distances)

    def step(self) -> None:
        rows = self._rows
        entropy, slope = self._entropy(rows)
        above = entropy > self._wanted
        rows.low[above] = rows.log_beta[above]
        rows.high[~above] = rows.log_beta[~above]
        far = np.where(above, _LONGEST_STEP, -_LONGEST_STEP)
        # A flat entropy says nothing but the direction.
        flat = slope < _FLAT
        move = np.where(flat, far, (entropy - self._wanted) / np.where(flat, 1.0, slope))
        to = rows.log_beta + np.clip(move, -_LONGEST_STEP, _LONGEST_STEP)
        outside = ((to <= rows.low) | (to >= rows.high)) & (np.abs(move) > _PRECISE)
        to[outside] = (rows.low[outside] + rows.high[outside]) / 2
        to = np.clip(to, -self._reach, self._reach)
        self.moved = np.abs(to - rows.log_beta)
        rows.log_beta = to
        self.found[rows.places] = to

    def leave(self) -> bool:
        """Takes out the rows that have converged; false when none is left."""
        going = self.moved > _PRECISE
        if not going.all():
            self._rows = self._rows.only(going)
        return len(self._rows.places) > 0

    def _entropy(self, rows: _Rows) -> tuple[Floats, Floats]:
        """The entropy of each row, and how fast it falls with the logarithm of beta."""
        beta, distances = np.exp(rows.log_beta), rows.distances
        weights = self._weights[: len(beta)]
        np.multiply(distances, -beta[:, None], out=weights)
        np.exp(weights, out=weights)
        total = weights.sum(axis=1)
        weights *= distances
        mean = weights.sum(axis=1) / total
        square = np.einsum("ij,ij->i", weights, distances) / total
        return np.log(total) + beta * mean, beta * beta * (square - mean * mean)


def _replayed(limit: Floats, rounds: int) -> Floats:
    """Where the rounds of the bisection end, given where they would converge."""
    beta = np.ones(len(limit))
    low, high = np.zeros(len(limit)), np.full(len(limit), np.inf)
    for _ in range(rounds):
        up = beta < limit
        low, high = np.where(up, beta, low), np.where(up, high, beta)
        doubles, halves = up & np.isinf(high), ~up & (low == 0)
        middle = np.where(doubles, 2 * beta, (low + high) / 2)
        beta = np.where(halves, beta / 2, middle)
    return beta
