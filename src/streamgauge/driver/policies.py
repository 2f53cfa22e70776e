"""Decide from the observations of one queue whether the load is sustained.

A queue has three marks, q_a < q_b < q_n. Up to q_a it is fine; above q_b it is not, and at q_n it
is full. Between q_a and q_b a policy decides, because a slow start and backpressure cause such a
queue for a while. A user's own policy is a class `MyPolicy(marks, **parameters)` with a method
`judge`, registered under the entry point group `streamgauge.policies`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from streamgauge.driver.observations import Observation
from streamgauge.driver.schedules import parameters
from streamgauge.driver.schedules.base import MAX_EVENTS
from streamgauge.errors import ExperimentError

DEFAULT_SHARES = (0.05, 0.10, 0.30)


@dataclass(frozen=True)
class QueueMarks:
    """Sizes of a queue, in events: acceptable is q_a, tolerable q_b, capacity q_n."""

    acceptable: int
    tolerable: int
    capacity: int

    def __post_init__(self) -> None:
        if not 0 <= self.acceptable < self.tolerable < self.capacity:
            sizes = f"{self.acceptable:,}, {self.tolerable:,} and {self.capacity:,} events"
            raise ExperimentError(
                "load.marks", f"{sizes} do not increase", fix="use 0 ≤ q_a < q_b < q_n"
            )

    @classmethod
    def of(cls, events_of_run: int, shares: Sequence[float] = DEFAULT_SHARES) -> QueueMarks:
        """Marks as shares of the events of a run, kept apart also when these are few."""
        if len(shares) != 3 or not 0 <= shares[0] < shares[1] < shares[2] <= 1:
            raise ExperimentError(
                "load.marks",
                f"{list(shares)} are not three increasing shares",
                fix=f"such as {list(DEFAULT_SHARES)}",
            )
        sizes = [int(Fraction(str(share)) * events_of_run) for share in shares]
        tolerable = max(sizes[1], sizes[0] + 1)
        return cls(sizes[0], tolerable, max(sizes[2], tolerable + 1))


class Policy(Protocol):
    """Gets the observations of one queue, in their order."""

    def judge(self, seen: Observation) -> str | None:
        """Why the load is unsustainable, or None while it is sustained."""


def judge_full(marks: QueueMarks, seen: Observation) -> str | None:
    """A full queue is unsustainable whatever the policy, also one of a user's own."""
    if seen.queued < marks.capacity:
        return None
    return _reason(seen, f"is full, q_n = {marks.capacity:,},")


class _MarkedPolicy(ABC):
    """A queue at q_a starts afresh, one above q_b is unsustainable."""

    def __init__(self, marks: QueueMarks) -> None:
        self._marks = marks
        self._half_way = max(1, (marks.tolerable - marks.acceptable) // 2)
        self._since: Observation | None = None
        """The observation with which the time above q_a, or its present interval, began."""

    def judge(self, seen: Observation) -> str | None:
        marks = self._marks
        if seen.queued <= marks.acceptable:
            self._since = None
            return None
        self._since = self._since or seen
        if seen.queued > marks.tolerable:
            return judge_full(marks, seen) or _reason(seen, f"above q_b = {marks.tolerable:,}")
        detail = self._judge_above(seen, self._since)
        return detail and _reason(seen, f"above q_a = {marks.acceptable:,} {detail}")

    @abstractmethod
    def _judge_above(self, seen: Observation, since: Observation) -> str | None:
        """Why a queue between q_a and q_b is unsustainable."""


class TimePolicy(_MarkedPolicy):
    """Above q_a is tolerated for a time without a break."""

    def __init__(self, marks: QueueMarks, patience_us: int = 5_000_000) -> None:
        super().__init__(marks)
        self._patience_us = parameters.span_us("load.policy.patience", patience_us)

    def _judge_above(self, seen: Observation, since: Observation) -> str | None:
        above_us = seen.time_us - since.time_us
        return None if above_us < self._patience_us else f"for {_seconds(above_us)}"


class CountPolicy(_MarkedPolicy):
    """Above q_a is tolerated for a number of pushes, by default (q_b − q_a)/2."""

    def __init__(self, marks: QueueMarks, patience: int | None = None) -> None:
        super().__init__(marks)
        given = self._half_way if patience is None else patience
        self._patience = parameters.whole("load.policy.patience", given, least=1, most=MAX_EVENTS)

    def _judge_above(self, seen: Observation, since: Observation) -> str | None:
        pushes = seen.offered - since.offered
        return None if pushes < self._patience else f"for {pushes:,} pushes"


class CombinedPolicy(_MarkedPolicy):
    """Above q_a is tolerated as long as the queue does not keep growing.

    The queue is compared when it rises above q_a, and again after every (q_b − q_a)/2 pushes. A
    queue that is larger than at the last comparison is unsustainable; one that is not starts a new
    interval, and one that is back at q_a starts afresh.
    """

    def _judge_above(self, seen: Observation, since: Observation) -> str | None:
        pushes = seen.offered - since.offered
        if pushes < self._half_way:
            return None
        self._since = seen
        if seen.queued <= since.queued:
            return None
        return f"and grown by {seen.queued - since.queued:,} in {pushes:,} pushes"


class SettledPolicy:
    """Gives a policy only the events that have queued up since the system was warm.

    The backlog of a cold start is no saturation, and near its maximum a system hardly reduces it.
    """

    def __init__(self, policy: Policy, settles_us: int) -> None:
        self._policy = policy
        self._settles_us = settles_us
        self._least: int | None = None

    def judge(self, seen: Observation) -> str | None:
        if seen.time_us < self._settles_us:
            return None
        self._least = seen.queued if self._least is None else min(self._least, seen.queued)
        return self._policy.judge(seen._replace(taken=seen.taken + self._least))


def _reason(seen: Observation, problem: str) -> str:
    return f"queue of {seen.queued:,} events {problem} at {_seconds(seen.time_us)}"


def _seconds(time_us: int) -> str:
    return f"{time_us / 1_000_000:,.1f} s"
