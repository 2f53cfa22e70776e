"""What may end a load early: policies, faults of the system, the judge of a probe."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from streamgauge.driver.observations import Observation
from streamgauge.driver.policies import judge_full
from streamgauge.errors import ComponentError
from streamgauge.experiments.planning.plan import Plan
from streamgauge.measure.search import ProbeJudge
from streamgauge.systems.running import RunningSystem

TOO_SLOW = "the system processes less than is offered"


class Seen(NamedTuple):
    """What is new since the last tick."""

    sources: Sequence[Observation]
    overall: Observation | None
    faults: Sequence[str]
    """Of the system, such as a dropped connection."""


class StopCondition(Protocol):
    """Checked at every tick of the load, also after it was cut."""

    def check(self, seen: Seen) -> list[str] | None:
        """The reasons to end the load, None while there is none."""


class Action(NamedTuple):
    """Something that is done to the running system at a time of the load."""

    at_us: int
    name: str
    do: Callable[[RunningSystem], None]


class Unsustained:
    """One sustainability policy for each driver instance."""

    def __init__(self, plan: Plan, logs: Path) -> None:
        self._name = plan.experiment.load.policy.name
        self._log = logs / "policy.log"
        self.marks = [
            plan.policy.marks(feed.times.total, feed.times.duration_us)
            for feed in plan.built_load.feeds
        ]
        self._policies = {
            f"driver instance {number}": (marks, plan.policy.build(marks))
            for number, marks in enumerate(self.marks)
        }
        self.reasons = dict.fromkeys(self._policies, "")
        """Why the queue of a driver instance was not sustained; empty where it was."""

    def check(self, seen: Seen) -> list[str] | None:
        found = []
        for one in seen.sources:
            if not self.reasons[one.source] and (reason := self._judge(one)):
                self.reasons[one.source] = reason
                found.append(f"{one.source}: {reason}")
        return found or None

    def _judge(self, seen: Observation) -> str | None:
        marks, policy = self._policies[seen.source]
        try:
            # A policy of the user's own may disregard that a queue can be full.
            return judge_full(marks, seen) or policy.judge(seen)
        except Exception as error:
            self._log.write_text(traceback.format_exc())
            raise ComponentError(
                f"the policy `{self._name}` failed: {type(error).__name__}: {error}",
                fix="correct its method `judge`",
                log=self._log,
            ) from error


class Dropped:
    """The system dropped a connection."""

    def __init__(self) -> None:
        self.reasons: list[str] = []

    def check(self, seen: Seen) -> list[str] | None:
        self.reasons += seen.faults
        return list(seen.faults) or None


class UntilFault:
    """A condition that looks only at what happened before the first fault.

    The backlog of an outage is what a trial with faults measures; it does not end the load.
    """

    def __init__(self, condition: StopCondition, disturbed: Callable[[], bool]) -> None:
        self._condition = condition
        self._disturbed = disturbed

    def check(self, seen: Seen) -> list[str] | None:
        return None if self._disturbed() else self._condition.check(seen)


class Judged:
    """The judge of a probe has reached its verdict; a confirmation ends early only if it fails."""

    def __init__(self, judge: ProbeJudge, *, only_failure: bool = False) -> None:
        self._judge = judge
        self._only_failure = only_failure
        self.reason = ""

    def check(self, seen: Seen) -> list[str] | None:
        verdict = self._judge.look(seen.overall) if seen.overall is not None else None
        if verdict is None or (self._only_failure and (verdict != "failed" or self.reason)):
            return None
        if not self._only_failure:
            return []
        self.reason = TOO_SLOW
        return [self.reason]
