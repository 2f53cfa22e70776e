"""One probe of a search: what is ordered, how it is judged while it runs, and what came out."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from streamgauge.driver.observations import Observation
from streamgauge.measure.pulls import Pull
from streamgauge.measure.search.pulls import Estimate, Staircase, estimate
from streamgauge.units import SECOND_US

ProbeKind = Literal["saturate", "narrow", "confirm"]
ProbeVerdict = Literal["passed", "failed", "doubtful"]

TOLERATED = 0.2
"""Growth of the backlog that counts as none, as a share of the precision."""
TOLERATED_WHEN_CONFIRMING = 0.3
"""More than above: a confirmation is surer of what it sees, and a second one is dear."""
CLEAR = 1.5
"""So many standard errors from what is tolerated end a probe early. That is few: a wrong verdict
costs one more probe, while the estimates of all probes are put together in any case."""
CLEAR_WHEN_CONFIRMING = 2.5
"""More than above: a confirmation is meant to last, and to fail one wrongly costs another."""
SEEN_S = 8.0
"""Less busy time ends no probe early that is not hopeless: those that fail soonest do so by bad
luck, and then all probes together take the system for slower than it is."""
WARM_UP_S = 5.0
"""Pulls that begin before are left out: a query plans and compiles while they run. Nor is what
they leave in the queues held against the system."""
WARM_UP_US = round(WARM_UP_S * SECOND_US)
WARM_UP_SHARE = 0.25
SATURATE_WARM_UP_S = 4.0
HOPELESS = 0.25
"""So much less than is offered is worked off that two batches tell, if they lost more time than
a stall would take."""
STALL_S = 2.0
STUCK_S = 8.0
"""One pull may keep a system busy for that long, whatever its size."""
FLOODED = 0.25
"""What is not worked off may be that old, as a share of the length of the probe."""
KEEPS_UP = 1.6
"""A backlog that is worked off so much faster than more is offered ends a saturation probe."""
PUNCTUAL_S = 0.25
"""A system that has time to spare may come so late at the border of its trigger interval."""
ROUGH = 0.15
"""An estimate that is less sure tells nothing of a system that seems to keep up."""
NEAR_S = 1.75
"""Where a pull takes what comes in that time, the fixed time per pull hardly counts any more."""


class ProbeOrder(NamedTuple):
    """Offer that rate for that long, at most."""

    rate_per_s: float
    length_us: int
    kind: ProbeKind


class ProbeOutcome(BaseModel):
    """What a probe found out; a search is resumed from these."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rate_per_s: float
    kind: ProbeKind
    verdict: ProbeVerdict
    length_us: int = Field(description="how long the load really was")
    drained_per_s: float | None = Field(
        default=None, description="events per second while the system was busy, stalls left out"
    )
    error: float | None = Field(
        default=None,
        description="standard error of drained_per_s, as a share of it; None: only a bound",
    )
    reason: str = ""
    late: bool = Field(
        default=False, description="the generator itself was late, so the system was not at fault"
    )

    @property
    def growth(self) -> float | None:
        """Seconds by which the backlog grows per second; None where nobody could tell."""
        if self.drained_per_s is None or self.error is None:
            return None
        return 1 - self.drained_per_s / self.rate_per_s


class BatchJudge:
    """Looks at the queues of a running probe, all driver instances together."""

    def __init__(
        self,
        order: ProbeOrder,
        precision: float,
        shortest_us: int = 6 * SECOND_US,
        pause_us: int = 0,
    ) -> None:
        self._order = order
        self._shortest_s = shortest_us / SECOND_US
        # From pull to pull the system takes so long at least, however little it is busy.
        self._pause_s = pause_us / SECOND_US
        confirms = order.kind == "confirm"
        self._tolerated = precision * (TOLERATED_WHEN_CONFIRMING if confirms else TOLERATED)
        self._stairs = Staircase()
        self._estimate: Estimate | None = None
        self._verdict: ProbeVerdict | None = None
        self._bound_per_s: float | None = None

    def look(self, seen: Observation) -> ProbeVerdict | None:
        """The verdict as soon as it is clear, None while it is not."""
        if self._verdict is not None:
            return self._verdict
        came_back = self._stairs.look(seen)
        if self._stairs.time_s < self._shortest_s:
            return None
        if came_back and self._order.kind == "saturate":
            self._judge_saturation()
        elif came_back:
            self._judge()
        elif self._stuck() or (self._flooded() and self._order.kind != "saturate"):
            self._verdict = self._last_word()
        return self._verdict

    def late(self, reason: str) -> ProbeOutcome:
        """The generator itself was late: nobody has seen what the system does at that rate. It is
        tried again, but a confirmation is too dear for that."""
        return ProbeOutcome(
            rate_per_s=self._order.rate_per_s,
            kind=self._order.kind,
            verdict="failed" if self._order.kind == "confirm" else "doubtful",
            length_us=round(self._stairs.time_s * SECOND_US),
            reason=reason,
            late=True,
        )

    def finish(self, broken: str | None = None) -> ProbeOutcome:
        """What came out, at the end of the probe; `broken` fails it whatever the queues say."""
        verdict = self._verdict or self._last_word()
        seen = self._estimate
        return ProbeOutcome(
            rate_per_s=self._order.rate_per_s,
            kind=self._order.kind,
            verdict=verdict if broken is None else "failed",
            length_us=round(self._stairs.time_s * SECOND_US),
            drained_per_s=seen.per_s if seen else self._bound_per_s,
            error=seen.uncertainty if seen else None,
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

    def _flooded(self) -> bool:
        """So far behind that what the last pulls were like does not matter."""
        length_s = self._order.length_us / SECOND_US
        return self._age_s > max(2 * STUCK_S, FLOODED * length_s)

    def _judge(self) -> None:
        """Clearly more growth than tolerated, or clearly less."""
        pulls = self._steady_pulls()
        if len(pulls) < 2 or self._pauses(pulls):
            return
        self._estimate = seen = estimate(pulls, self._rate_per_s)
        # The batches of a flooded system grow: waiting for more of them takes ever longer.
        if self._growth > HOPELESS and self._growth * seen.seconds > STALL_S:
            self._verdict = "failed"
            return
        if len(pulls) < 4:
            return
        above = self._growth - self._tolerated
        narrows = self._order.kind == "narrow"
        clear = (CLEAR if narrows else CLEAR_WHEN_CONFIRMING) * seen.uncertainty
        if seen.seconds < SEEN_S:
            return
        if above > clear and not seen.settling:
            self._verdict = "failed"
        elif narrows and above < -clear:
            self._verdict = "passed"

    def _steady_pulls(self) -> list[Pull]:
        pulls = self._stairs.pulls(max(WARM_UP_S, WARM_UP_SHARE * self._stairs.time_s))
        running = self._stairs.running
        if running and running.start_s >= WARM_UP_S:
            # A pull that is not worked off counts as soon as it lasts longer than others, and than
            # a stall explains.
            busy_s = sum(pull.busy_s for pull in pulls) or 1.0
            events = sum(pull.events for pull in pulls) or self._rate_per_s
            if running.busy_s > running.events * busy_s / events + STALL_S:
                pulls.append(running)
        return pulls

    def _pauses(self, pulls: Sequence[Pull]) -> bool:
        """Had the system time to spare? Then nobody sees how fast it is, but that it keeps up."""
        usual_s = statistics.median(pull.busy_s for pull in pulls)
        return self._pause_s > 0 and usual_s < self._pause_s + PUNCTUAL_S

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
        if self._pauses(pulls):
            # Its backlog says nothing either: it may just not have come for it yet.
            self._verdict = "passed"
            return
        self._estimate = seen = estimate(pulls, self._rate_per_s)
        enough = len(pulls) >= 3 and seen.seconds >= 3 and not seen.settling
        # The further above the capacity, the dearer is every second: its backlog must be drained.
        rough = seen.seconds >= 2.5 and self._growth > 0.4 and seen.uncertainty < 0.06
        if rough or (enough and self._growth > 0.03 and seen.uncertainty < 0.04):
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
        if seen and long and self._growth > -0.03 and seen.uncertainty < ROUGH:
            return
        if seen and fast is not None:
            fast = max(fast, seen.per_s)
        self._estimate, self._bound_per_s = None, fast

    def _last_word(self) -> ProbeVerdict:
        if self._stairs.time_s < self._shortest_s:
            return "doubtful"
        if self._order.kind == "saturate":
            return self._last_word_on_saturation()
        pulls = self._steady_pulls()
        pauses = len(pulls) >= 2 and self._pauses(pulls)
        enough = len(pulls) >= 2 and not pauses
        self._estimate = estimate(pulls, self._rate_per_s) if enough else None
        if self._stuck() or self._flooded():
            return "failed"
        if pauses:
            return "passed"
        if self._estimate is None:
            return "failed" if self._age_s > STUCK_S else "doubtful"
        if self._estimate.settling:
            late = [pull for pull in pulls if pull.start_s > self._stairs.time_s / 2]
            self._estimate = estimate(late if len(late) >= 4 else pulls, self._rate_per_s)
        above = (self._growth - self._tolerated) / self._estimate.uncertainty
        if abs(above) < 1 and self._order.kind == "narrow":
            return "doubtful"
        return "failed" if above > 0 else "passed"

    def _last_word_on_saturation(self) -> ProbeVerdict:
        pulls = self._stairs.pulls(SATURATE_WARM_UP_S) or self._stairs.pulls(0)[1:]
        if not pulls:
            running = self._stairs.running
            self._bound_per_s = running and running.events / max(running.busy_s, 1.0)
            return "doubtful"
        if self._pauses(pulls):
            return "passed"
        self._estimate = estimate(pulls, self._rate_per_s)
        settling = self._estimate.settling and self._growth < HOPELESS
        if self._growth > max(0.02, self._estimate.uncertainty) and not settling:
            return "failed"
        self._keeps_up(self._fastest())
        return "passed"

    def _in_words(self) -> str:
        if self._estimate is None:
            return f"what is not worked off is {self._age_s:.1f} s old"
        return (
            f"works off {self._estimate.per_s:,.0f}/s of {self._rate_per_s:,.0f}/s"
            f" (± {100 * self._estimate.uncertainty:.1f} %), stalls left out;"
            f" what is not worked off is {self._age_s:.1f} s old"
        )
