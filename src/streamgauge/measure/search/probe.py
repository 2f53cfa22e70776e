"""One probe of a search: what is ordered, how it is judged while it runs, and what came out.

A system that works in batches pulls everything that waits, is busy with it for a while and then
pulls again. So the backlog is a sawtooth that falls to nothing with every pull, however badly the
system falls behind: what grows then is the time from pull to pull. The judge therefore compares,
pull by pull, how long the system was busy with how much; both are seen from outside.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from streamgauge.units import SECOND_US

Kind = Literal["saturate", "narrow", "confirm"]
Verdict = Literal["passed", "failed", "doubtful"]

WARM_UP_S = 5.0
"""Pulls that begin before are left out: a query plans and compiles while they run."""
WARM_UP_SHARE = 0.25
SATURATE_WARM_UP_S = 4.0
LOOK_S = 0.25
"""How often a judge is expected to be shown the queues."""
CLEAR = 1.5
"""Standard errors from the line beyond which a probe that narrows need not go on."""
DRIFT = 0.01
"""What the capacity of a machine wanders while a probe runs; no probe can be surer than that."""
TOLERATED = 0.2
"""Growth that counts as none, as a share of the precision."""
TOLERATED_WHEN_CONFIRMING = 0.3
ACCEPTABLE_S = 3.0
"""A pull of what comes in that time is of normal size still."""
STUCK_S = 8.0
STALL_SCALES = 3.0
MIX = 0.0
NEAR_S = 1.75
KEEPS_UP = 1.6
"""So much faster than offered must a backlog be worked off to end a saturation probe at once."""


class ProbeOrder(NamedTuple):
    """Offer that rate for that long, at most."""

    rate_per_s: float
    length_us: int
    kind: Kind


class ProbeOutcome(BaseModel):
    """What a probe found out; a search is resumed from these."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rate_per_s: float
    kind: Kind
    verdict: Verdict
    length_us: int = Field(description="how long the load really was")
    drained_per_s: float | None = Field(
        default=None, description="events per second while the system was busy, stalls left out"
    )
    error: float | None = Field(
        default=None,
        description="standard error of drained_per_s, as a share of it; None: only a bound",
    )
    reason: str = ""

    @property
    def growth(self) -> float | None:
        """Seconds by which the backlog grows per second; None where nobody could tell."""
        if self.drained_per_s is None or self.error is None:
            return None
        return 1 - self.drained_per_s / self.rate_per_s


class Pull(NamedTuple):
    """The system took that many events, and came back for more after that time."""

    at_s: float
    events: int
    busy_s: float
    left: int
    """What still waited after it."""


class _Step(NamedTuple):
    at_s: float
    drained_before: int
    left: int


class Staircase:
    """Finds the pulls in what has been drained until now."""

    def __init__(self) -> None:
        self.time_s = 0.0
        self.offered = 0
        self.drained = 0
        self._steps: list[_Step] = []
        self._may_widen = False
        self._first: tuple[float, int] | None = None

    def look(self, time_s: float, offered: int, drained: int) -> bool:
        """Whether the system has come back for more."""
        stepped = drained > self.drained
        # The driver instances report one after the other, so one pull may show in two looks.
        widened = stepped and self._may_widen
        if widened:
            self._steps[-1] = self._steps[-1]._replace(left=offered - drained)
        elif stepped:
            middle_s = (self.time_s + time_s) / 2
            self._steps.append(_Step(middle_s, self.drained, offered - drained))
        self._may_widen = stepped and not widened
        self._first = self._first or (time_s, offered)
        self.time_s, self.offered, self.drained = time_s, offered, drained
        return stepped and not widened

    @property
    def offered_per_s(self) -> float | None:
        """What was really offered: the generator may be a little late."""
        if self._first is None or self.time_s <= self._first[0]:
            return None
        return (self.offered - self._first[1]) / (self.time_s - self._first[0])

    @property
    def undone(self) -> int:
        """Events offered but not yet worked off: those that wait, and those of the last pull."""
        return self.offered - (self._steps[-1].drained_before if self._steps else 0)

    def pulls(self, since_s: float) -> list[Pull]:
        """Those that are worked off, without the very first."""
        return [
            Pull(
                step.at_s,
                then.drained_before - step.drained_before,
                then.at_s - step.at_s,
                step.left,
            )
            for step, then in zip(self._steps[1:], self._steps[2:], strict=False)
            if step.at_s >= since_s
        ]

    @property
    def running(self) -> Pull | None:
        """The last pull, busy until now at least."""
        if not self._steps:
            return None
        step = self._steps[-1]
        events = self.drained - step.drained_before
        return Pull(step.at_s, events, self.time_s - step.at_s, step.left)


class Estimate(NamedTuple):
    """How fast a system works off what it pulls."""

    per_s: float
    error: float
    seconds: float
    with_stalls_per_s: float


def estimate(pulls: Sequence[Pull], rate_per_s: float) -> Estimate:
    """Events per second of busy time, stalls left out.

    A stall hits one pull and is gone; saturation hits all. What a pull lasted beyond what its
    size explains, and beyond the usual scatter, is not counted as busy.
    """
    per_event = _seconds_per_event(pulls)
    beyond = [pull.busy_s - per_event * pull.events for pull in pulls]
    usual = statistics.median(beyond)
    scatter = 1.48 * statistics.median(abs(b - usual) for b in beyond)
    # Times are known to a look only; a scatter below that is luck.
    scatter = max(scatter, 0.4 * LOOK_S)
    stalled = sum(b - usual for b in beyond if b - usual > STALL_SCALES * scatter)
    busy = sum(pull.busy_s for pull in pulls) - stalled
    events = sum(pull.events for pull in pulls)
    error = scatter * math.sqrt(len(pulls)) / busy
    seen = Estimate(events / busy, error, busy, events / (busy + stalled))
    if seen.per_s < rate_per_s and _takes_all(pulls, rate_per_s):
        return _when_grown(pulls, rate_per_s, seen, per_event, scatter)
    return seen


def _seconds_per_event(pulls: Sequence[Pull]) -> float:
    """The slope of busy time over size, which a fixed time per pull does not enter.

    Where all pulls are of about one size nobody can tell the two apart.
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
    return left <= 2 * LOOK_S * rate_per_s + 0.1 * usual


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
    if grown == usual or spread == 0 or per_event * seen.per_s >= 1:
        return seen
    busy = seen.seconds / len(pulls) + (grown - usual) * per_event
    error = scatter * math.sqrt(1 / len(pulls) + (grown - usual) ** 2 / spread) / busy
    return Estimate(grown / busy, error, seen.seconds, max(seen.with_stalls_per_s, grown / busy))


class ProbeJudge:
    """Looks at the queues of a running probe, all driver instances together."""

    def __init__(self, order: ProbeOrder, precision: float, shortest_us: int = 6 * SECOND_US):
        self._order = order
        self._shortest_s = shortest_us / SECOND_US
        # Growth below this is not told from none; the confirmation is longer, and forgives more
        # because a second one is dear.
        confirms = order.kind == "confirm"
        self._tolerated = precision * (TOLERATED_WHEN_CONFIRMING if confirms else TOLERATED)
        self._stairs = Staircase()
        self._precision = precision
        self._estimate: Estimate | None = None
        self._verdict: Verdict | None = None
        self._bound_per_s: float | None = None

    def look(self, time_us: int, offered: int, drained: int) -> Verdict | None:
        """The verdict as soon as it is clear, None while it is not."""
        if self._verdict is None:
            came_back = self._stairs.look(time_us / SECOND_US, offered, drained)
            if self._stairs.time_s >= self._shortest_s:
                if came_back:
                    self._judge()
                elif self._stuck():
                    self._verdict = "doubtful" if self._order.kind == "saturate" else "failed"
        return self._verdict

    def finish(self, broken: str | None = None) -> ProbeOutcome:
        """What came out, at the end of the probe; `broken` fails it whatever the queues say."""
        verdict, seen = self._verdict, self._estimate
        if verdict is None:
            verdict = self._last_word()
            seen = self._estimate
        if broken is not None:
            verdict = "failed"
        return ProbeOutcome(
            rate_per_s=self._order.rate_per_s,
            kind=self._order.kind,
            verdict=verdict,
            length_us=round(self._stairs.time_s * SECOND_US),
            drained_per_s=(1 - MIX) * seen.per_s + MIX * seen.with_stalls_per_s
            if seen
            else self._bound_per_s,
            error=seen.error if seen else None,
            reason=broken or self._in_words(),
        )

    @property
    def _rate_per_s(self) -> float:
        return self._stairs.offered_per_s or self._order.rate_per_s

    @property
    def _growth(self) -> float:
        return 1 - self._estimate.per_s / self._rate_per_s if self._estimate else 0.0

    @property
    def _age_s(self) -> float:
        return self._stairs.undone / self._order.rate_per_s

    def _stuck(self) -> bool:
        """Busy with one pull for so long that no stall and no cold start explain it."""
        running = self._stairs.running or Pull(0.0, 0, self._stairs.time_s, 0)
        return running.busy_s > STUCK_S + 3 * running.events / self._order.rate_per_s

    def _judge(self) -> None:
        if self._order.kind == "saturate":
            self._judge_saturation()
            return
        pulls = self._steady_pulls()
        if len(pulls) < 4:
            return
        self._estimate = seen = estimate(pulls, self._rate_per_s)
        above = self._growth - self._tolerated
        if seen.seconds > 4 and above > CLEAR * math.hypot(seen.error, DRIFT):
            self._verdict = "failed"
        elif self._order.kind == "narrow" and seen.seconds > 8 and -above > CLEAR * seen.error:
            self._verdict = "passed"

    def _steady_pulls(self) -> list[Pull]:
        pulls = self._stairs.pulls(max(WARM_UP_S, WARM_UP_SHARE * self._stairs.time_s))
        running = self._stairs.running
        # A pull that is not worked off counts as soon as it has lasted too long in any case.
        if (
            running
            and running.at_s >= WARM_UP_S
            and running.busy_s * self._rate_per_s > (running.events)
        ):
            pulls.append(running)
        return pulls

    def _judge_saturation(self) -> None:
        """Saturated, and how fast it drains then; or far from it."""
        rate = self._order.rate_per_s
        fast = self._fastest()
        if fast is not None and fast > KEEPS_UP * rate:
            self._keeps_up(fast)
            return
        pulls = self._stairs.pulls(SATURATE_WARM_UP_S)
        if len(pulls) < 2:
            return
        self._estimate = seen = estimate(pulls, self._rate_per_s)
        enough = len(pulls) >= 3 and seen.seconds >= 5
        # The further above the capacity, the dearer is every second: its backlog must be drained.
        rough = seen.seconds >= 2.5 and self._growth > 0.4 and seen.error < 0.06
        if rough or (enough and self._growth > 0.03 and seen.error < 0.04):
            self._verdict = "failed"
        elif enough and self._growth < 0 and self._age_s < 2:
            self._keeps_up(fast)

    def _fastest(self) -> float | None:
        """The highest rate at which a backlog was worked off: the capacity is not below it."""
        backlogs = [p for p in self._stairs.pulls(0) if p.events >= self._order.rate_per_s]
        return max((p.events / p.busy_s for p in backlogs), default=None)

    def _keeps_up(self, fast: float | None) -> None:
        self._verdict = "passed"
        seen = self._estimate
        # Long pulls that are worked off no faster than they came: the capacity is near.
        running = self._stairs.running
        long = running and running.events > NEAR_S * self._order.rate_per_s
        if seen and long and self._growth > -0.03 and seen.error < 0.05:
            return
        if seen and fast is not None:
            fast = max(fast, seen.per_s)
        self._estimate, self._bound_per_s = None, fast

    def _last_word(self) -> Verdict:
        if self._stairs.time_s < self._shortest_s:
            return "doubtful"
        if self._order.kind == "saturate":
            return self._last_word_on_saturation()
        pulls = self._steady_pulls()
        if len(pulls) < 2:
            self._estimate = None
            return "failed" if self._age_s > STUCK_S else "doubtful"
        self._estimate = estimate(pulls, self._rate_per_s)
        above = (self._growth - self._tolerated) / self._estimate.error
        if abs(above) < 1 and self._order.kind == "narrow":
            return "doubtful"
        return "failed" if above > 0 else "passed"

    def _last_word_on_saturation(self) -> Verdict:
        pulls = self._stairs.pulls(SATURATE_WARM_UP_S) or self._stairs.pulls(0)
        if not pulls:
            running = self._stairs.running
            self._bound_per_s = running and running.events / max(running.busy_s, 1.0)
            return "doubtful"
        self._estimate = estimate(pulls, self._rate_per_s)
        if self._growth > max(0.02, self._estimate.error):
            return "failed"
        self._keeps_up(self._fastest())
        return "passed"

    def _in_words(self) -> str:
        if self._estimate is None:
            return f"what is not worked off is {self._age_s:.1f} s old"
        return (
            f"works off {self._estimate.per_s:,.0f}/s of {self._rate_per_s:,.0f}/s"
            f" (± {100 * self._estimate.error:.1f} %), stalls left out;"
            f" what is not worked off is {self._age_s:.1f} s old"
        )
