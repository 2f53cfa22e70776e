"""The estimator: events per second that a system processes, from the steps of what is processed.

A system that works in batches pulls everything that waits, so its queue is empty after every pull
even if it falls behind. How much was processed until each pull shows its speed nevertheless, and
does so whether pulls are bounded or not. Behind a broker the steps are those of the results.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from streamgauge.measure.search.probe import ProbeOutcome
from streamgauge.measure.search.settings import CONSTANTS as C

LEAST_STEPS = 3


class Step(NamedTuple):
    """A moment, in seconds since the load began, and the events processed by then."""

    at_s: float
    processed: int


class Estimate(NamedTuple):
    """Events per second, its standard error as a share, and the observed time."""

    per_s: float
    error: float
    seconds: float

    @property
    def interval_per_s(self) -> tuple[float, float]:
        half = C.interval * self.error * self.per_s
        return self.per_s - half, self.per_s + half


def estimate(steps: Sequence[Step]) -> Estimate | None:
    """The slope by least squares, without a pause that does not recur.

    Pauses that recur reduce the slope, as they reduce the capacity, and enter its error through the
    residuals.
    """
    if len(steps) < LEAST_STEPS:
        return None
    at_s, processed = np.array(steps, dtype=float).T
    place, pause_s = _single_pause(np.diff(at_s), np.diff(processed))
    at_s[place + 1 :] -= pause_s
    centred = at_s - at_s.mean()
    spread, seconds = float((centred**2).sum()), float(at_s[-1] - at_s[0])
    per_s = float((centred * processed).sum()) / spread if spread else 0.0
    if per_s <= 0:
        return None
    residuals_s = (processed - processed.mean()) / per_s - centred
    scatter_s = math.sqrt(float((residuals_s**2).sum()) / (len(steps) - 2))
    error_s = math.hypot(C.wander * scatter_s, C.unseen_s, C.forgiven * pause_s)
    return Estimate(per_s, math.hypot(error_s / seconds, C.drift), seconds)


def _single_pause(gaps_s: np.ndarray, events: np.ndarray) -> tuple[int, float]:
    """After which step a pause began that does not recur, and its length; or 0 s.

    A pause is what a gap lasts beyond what its events explain at the usual pace.
    """
    if len(gaps_s) < C.usual_gaps:
        return 0, 0.0
    pace = float(np.median(gaps_s / np.maximum(events, 1)))
    beyond_s = gaps_s - pace * events
    place = int(np.argmax(beyond_s))
    longest_s, others_s = float(beyond_s[place]), np.delete(beyond_s, place)
    single = longest_s > C.least_pause_s and others_s.max() < C.recurs * longest_s
    return place, longest_s if single else 0.0


def combined(tries: Sequence[ProbeOutcome]) -> Estimate | None:
    """The capacity: the mean over the probes in which the system fell behind, by their errors.

    A system that keeps up processes what is offered, so its probes only refute lower estimates,
    those of a system that was cold, flooded or on a busy machine. The longest probe refutes shorter
    ones that disagree: in these, pauses do not recur and states do not grow to their size.
    """
    seen: list[Estimate] = []
    for one in tries:
        if one.drained_per_s is None or one.error is None:
            continue
        new, known = Estimate(one.drained_per_s, one.error, one.length_us / 1e6), _mean(seen)
        if one.verdict != "passed" and new.per_s < one.rate_per_s:
            seen.append(new)
        elif known is None or (
            new.per_s > known.per_s and new.error < C.firm and not _agree(new, known)
        ):
            seen = [new]
    return _mean(seen)


def _mean(seen: Sequence[Estimate]) -> Estimate | None:
    if not seen:
        return None
    longest = max(seen, key=lambda one: one.seconds)
    agreeing = [one for one in seen if _agree(one, longest)]
    weights = [1 / one.error**2 for one in agreeing]
    per_s = float(np.average([one.per_s for one in agreeing], weights=weights))
    return Estimate(per_s, math.hypot(1 / math.sqrt(sum(weights)), C.drift), longest.seconds)


def _agree(one: Estimate, other: Estimate) -> bool:
    error_per_s = math.hypot(one.error * one.per_s, other.error * other.per_s)
    return abs(one.per_s - other.per_s) <= C.agree * error_per_s
