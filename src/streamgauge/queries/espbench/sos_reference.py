"""Stochastic outlier selection as it is defined, round by round, for the oracle.

It shares nothing with `sos.py`, so that each can be wrong alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def reference_probabilities(points: Floats, perplexity: float = 30.0, rounds: int = 50) -> Floats:
    """The probability of each point that it is an outlier, after that many rounds of bisection."""
    count = len(points)
    if count < 2:
        return np.ones(count)
    difference = points[:, np.newaxis, :] - points[np.newaxis, :, :]
    distance = np.sqrt(np.square(difference).sum(axis=2))
    itself = np.eye(count, dtype=bool)
    # The distribution of a row is the same for distances less a constant, and exp() of those
    # to a point far away from all others would be 0 for every one.
    distance -= np.where(itself, np.inf, distance).min(axis=1, keepdims=True)
    distance[itself] = 0.0
    beta, lowest, highest = np.ones(count), np.full(count, -np.inf), np.full(count, np.inf)
    affinity, weighted = np.empty_like(distance), np.empty_like(distance)
    for _ in range(rounds):
        total = _affinities(distance, beta, affinity)
        np.multiply(distance, affinity, out=weighted)
        entropy = np.log(total) + beta * weighted.sum(axis=1) / total
        above = entropy > np.log(perplexity)
        lowest = np.where(above, beta, lowest)
        highest = np.where(above, highest, beta)
        bounded = np.isfinite(lowest) & np.isfinite(highest)
        further = np.where(above, beta * 2, beta / 2)
        beta = np.where(bounded, (np.where(bounded, lowest, 0) + highest) / 2, further)
    binding = affinity / _affinities(distance, beta, affinity)[:, np.newaxis]
    return np.asarray(np.prod(1.0 - binding, axis=0))


def _affinities(distance: Floats, beta: Floats, affinity: Floats) -> Floats:
    """Fills in the affinities, none to oneself, and gives the sum of each row."""
    np.multiply(distance, -beta[:, np.newaxis], out=affinity)
    np.exp(affinity, out=affinity)
    np.fill_diagonal(affinity, 0.0)
    return np.asarray(affinity.sum(axis=1))
