"""What the queues tell of a system from outside: when it pulls, and how long a pull keeps it busy.

A system that works in batches pulls everything that waits, is busy with it for a while and then
pulls again. So the backlog is a sawtooth that falls to nothing with every pull, however badly the
system falls behind: what grows then is the time from pull to pull. How long it was busy with how
much says how fast it is, whether its pulls are bounded or not.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from streamgauge.driver.observations import Observation
from streamgauge.measure.pulls import Pull
from streamgauge.units import SECOND_US

ASKED_S = 0.5
"""A system asks how much waits, plans, and pulls what waited then; what came since is not left by
its choice."""
BLURRED_S = 0.05
"""Standard error of when a pull began: its tasks start one after the other."""
LEAST_SCATTER = 0.03
"""Of the time of a pull: no machine is steadier than that."""
DRIFT = 0.01
"""What the capacity of a machine wanders while a probe runs; no estimate is surer than that."""
STALL_SCALES = 3.0
"""A pull that lasts longer than usual by so many times the usual scatter was stalled."""
FAR = 0.1
"""An estimate for larger pulls than were seen is not made when it would be less sure than that."""
MOST_GAIN = 1.5
"""Nor when it would be so many times what was ever seen: where a slow spell of the machine made a
pull large and the next spell processed it quickly, size seems to cost nothing."""
ACCEPTABLE_S = 3.0
"""A pull of what comes in that time is of normal size still."""


class _Step(NamedTuple):
    start_s: float
    processed: int
    left: int


class Staircase:
    """Finds the pulls in what has been drained until now."""

    def __init__(self) -> None:
        self.time_s = 0.0
        self.offered = 0
        self.drained = 0
        self._steps: list[_Step] = []
        self._first: tuple[float, int] | None = None

    def look(self, seen: Observation) -> bool:
        """Whether the system has come back for more."""
        time_s = seen.time_us / SECOND_US
        came_back = seen.taken > self.drained
        if came_back:
            left = seen.offered - seen.taken
            self._steps.append(_Step(seen.taken_at_us / SECOND_US, seen.finished, left))
        self._first = self._first or (time_s, seen.offered)
        self.time_s, self.offered, self.drained = time_s, seen.offered, seen.taken
        return came_back

    @property
    def offered_per_s(self) -> float | None:
        """What was really offered: the generator may be a little late."""
        if self._first is None or self.time_s <= self._first[0]:
            return None
        return (self.offered - self._first[1]) / (self.time_s - self._first[0])

    @property
    def undone(self) -> int:
        """Events offered but not yet processed: those that wait, and those of the last pull."""
        return self.offered - (self._steps[-1].processed if self._steps else 0)

    def pulls(self, since_s: float) -> list[Pull]:
        """The pulls whose events are processed."""
        return [
            Pull(
                step.start_s,
                then.processed - step.processed,
                then.start_s - step.start_s,
                step.left,
            )
            for step, then in itertools.pairwise(self._steps)
            if step.start_s >= since_s
        ]

    @property
    def running(self) -> Pull | None:
        """The last pull, busy until now at least."""
        if not self._steps:
            return None
        step = self._steps[-1]
        events = self.drained - step.processed
        return Pull(step.start_s, events, self.time_s - step.start_s, step.left)


class Estimate(NamedTuple):
    """How fast a system works off what it pulls."""

    per_s: float
    uncertainty: float
    """Standard error, as a share."""
    seconds: float
    """Busy time that it rests on."""
    settling: bool = False
    """Pulls are small and take all that waits; they may just be growing to their size."""


def estimate(pulls: Sequence[Pull], rate_per_s: float) -> Estimate:
    """Events per second of busy time, stalls left out.

    A stall hits one pull and is gone; saturation hits all. What a pull lasted beyond what its
    size explains, and beyond the usual scatter, is not counted as busy.
    """
    per_event = _seconds_per_event(pulls)
    beyond = [pull.busy_s - per_event * pull.events for pull in pulls]
    usual = statistics.median(beyond)
    scatter = 1.48 * statistics.median(abs(b - usual) for b in beyond)
    # A scatter below that is luck.
    scatter = max(scatter, math.sqrt(2) * BLURRED_S)
    stalls = [b - usual for b in beyond if b - usual > STALL_SCALES * scatter]
    busy = max(sum(pull.busy_s for pull in pulls) - sum(stalls), BLURRED_S)
    events = sum(pull.events for pull in pulls)
    scatter = _true_scatter(scatter, busy / len(pulls))
    error_s = math.hypot(scatter * math.sqrt(len(pulls)), 2 * BLURRED_S)
    seen = Estimate(events / busy, math.hypot(error_s / busy, DRIFT), busy)
    if seen.per_s < rate_per_s and _takes_all(pulls, rate_per_s):
        return _when_grown(pulls, rate_per_s, seen, per_event, scatter)
    return seen


def _true_scatter(scatter: float, usual_s: float) -> float:
    """What pulls scatter by themselves.

    A blurred time makes one pull longer and the next one shorter, so it scatters single pulls but
    hardly their sum.
    """
    own = scatter**2 - 2 * BLURRED_S**2
    return math.sqrt(max(own, (LEAST_SCATTER * usual_s) ** 2))


def _seconds_per_event(pulls: Sequence[Pull]) -> float:
    """The slope of busy time over size, which a fixed time per pull does not enter.

    Pulls that are all of about one size do not separate the two.
    """
    whole = statistics.median(pull.busy_s / pull.events for pull in pulls)
    largest = max(pull.events for pull in pulls)
    if len(pulls) < 4 or largest < 1.3 * min(pull.events for pull in pulls):
        return whole
    slopes = [
        (one.busy_s - other.busy_s) / (one.events - other.events)
        for one, other in itertools.combinations(pulls, 2)
        if abs(one.events - other.events) > 0.1 * largest
    ]
    return min(max(statistics.median(slopes), 0.0), whole)


def _takes_all(pulls: Sequence[Pull], rate_per_s: float) -> bool:
    """Does a pull take everything that waits? Then the next can be larger."""
    last = pulls[-max(2, len(pulls) // 3) :]
    left = statistics.median(pull.left for pull in last)
    usual = sum(pull.events for pull in pulls) / len(pulls)
    return left <= ASKED_S * rate_per_s + 0.1 * usual


def _when_grown(
    pulls: Sequence[Pull], rate_per_s: float, seen: Estimate, per_event: float, scatter: float
) -> Estimate:
    """The estimate for pulls of acceptable size.

    As long as pulls grow they also grow more efficient, because a fixed time per pull is shared by
    more events. A backlog that grows while pulls are small is no saturation yet.
    """
    usual = sum(pull.events for pull in pulls) / len(pulls)
    grown = max(usual, ACCEPTABLE_S * rate_per_s)
    spread = sum((pull.events - usual) ** 2 for pull in pulls)
    if grown == usual:
        return seen
    if spread == 0:
        return seen._replace(settling=True)
    busy = seen.seconds / len(pulls) + (grown - usual) * per_event
    error_s = scatter * math.sqrt(1 / len(pulls) + (grown - usual) ** 2 / spread)
    uncertainty = math.hypot(error_s / busy, seen.uncertainty)
    most_per_s = MOST_GAIN * max(pull.events / pull.busy_s for pull in pulls)
    if uncertainty > FAR or per_event * seen.per_s >= 1 or grown / busy > most_per_s:
        return seen._replace(settling=True)
    return Estimate(grown / busy, uncertainty, seen.seconds)
