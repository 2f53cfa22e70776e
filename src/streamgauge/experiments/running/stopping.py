"""What may end a load before its time: policies, faults of the system, the judge of a probe."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from streamgauge.driver.observations import Observation
from streamgauge.driver.policies import QueueMarks, judge_full
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


class Stop(NamedTuple):
    """The load ends: at once, or cut so that all driver instances end at the same moment."""

    reasons: Sequence[str]
    at_once: bool


class StopCondition(Protocol):
    """Looks at every tick of the load, also after it was cut."""

    def look(self, seen: Seen) -> Stop | None: ...


class Action(NamedTuple):
    """Something that is done to the running system at a time of the load."""

    at_us: int
    name: str
    do: Callable[[RunningSystem], None]


class Unsustained:
    """One sustainability policy for each driver instance."""

    def __init__(self, plan: Plan, logs: Path, *, at_once: bool = False) -> None:
        self._name = plan.experiment.load.policy.name
        self._log = logs / "policy.log"
        self._at_once = at_once
        self.marks = marks_of(plan)
        self._policies = [plan.policy.build(marks) for marks in self.marks]
        self._numbers = {f"driver instance {n}": n for n in range(len(self.marks))}
        self.reasons = [""] * len(self.marks)
        """By driver instance: why its queue was not sustained."""

    def look(self, seen: Seen) -> Stop | None:
        found = []
        for one in seen.sources:
            number = self._numbers[one.source]
            if not self.reasons[number]:
                self.reasons[number] = self._judged(number, one) or ""
                if self.reasons[number]:
                    found.append(f"{one.source}: {self.reasons[number]}")
        return Stop(found, self._at_once) if found else None

    def _judged(self, number: int, seen: Observation) -> str | None:
        try:
            # A policy of the user's own may disregard that a queue can be full.
            return judge_full(self.marks[number], seen) or self._policies[number].judge(seen)
        except Exception as error:
            self._log.write_text(traceback.format_exc())
            raise ComponentError(
                f"the policy `{self._name}` failed: {type(error).__name__}: {error}",
                fix="correct its method `judge`",
                log=self._log,
            ) from error


class Dropped:
    """The system dropped a connection."""

    def __init__(self, *, at_once: bool = False) -> None:
        self._at_once = at_once
        self.reasons: list[str] = []

    def look(self, seen: Seen) -> Stop | None:
        self.reasons += seen.faults
        return Stop(list(seen.faults), self._at_once) if seen.faults else None


class Judged:
    """The judge of a probe has reached its verdict."""

    def __init__(self, judge: ProbeJudge, *, only_failure: bool = False) -> None:
        self._judge = judge
        self._only_failure = only_failure
        self.reason = ""

    def look(self, seen: Seen) -> Stop | None:
        verdict = self._judge.look(seen.overall) if seen.overall is not None else None
        if verdict is None or (self._only_failure and verdict != "failed") or self.reason:
            return None
        if not self._only_failure:
            return Stop([], at_once=True)
        self.reason = TOO_SLOW
        return Stop([self.reason], at_once=False)


def marks_of(plan: Plan) -> list[QueueMarks]:
    """Of the queue of each driver instance, by the events that it offers."""
    return [
        plan.policy.marks(feed.times.total, feed.times.duration_us)
        for feed in plan.built_load.feeds
    ]
