"""The judge of probes by the flow through a system.

It compares the slope of what is processed with the slope of what is offered. The difference is the
growth of the backlog, and with it of the latency.
"""

from __future__ import annotations

from streamgauge.driver.observations import Observation
from streamgauge.measure.search.estimate import Estimate, Step, estimate
from streamgauge.measure.search.probe import ProbeOrder, ProbeOutcome, ProbeVerdict
from streamgauge.measure.search.settings import CONSTANTS as C
from streamgauge.measure.search.settings import WARM_UP_US
from streamgauge.units import SECOND_US


class FlowJudge:
    """The judge for any basis of observations, of all sources together."""

    def __init__(
        self, order: ProbeOrder, precision: float, shortest_us: int = 6 * SECOND_US
    ) -> None:
        self._order = order
        self._shortest_us = shortest_us
        self._threshold = C.saturated if order.kind == "saturate" else C.tolerated * precision
        self._slack = C.slack * precision
        self._steps: list[Step] = []
        self._first: Observation | None = None
        self._last = Observation("", 0, 0, 0)
        self._verdict: ProbeVerdict | None = None
        self._estimate: Estimate | None = None

    def look(self, seen: Observation) -> ProbeVerdict | None:
        if self._verdict is not None:
            return self._verdict
        self._first = self._first or seen
        advanced = seen.taken > self._last.taken
        self._last = seen
        if advanced:
            self._steps.append(Step(seen.taken_at_us / SECOND_US, seen.finished))
        if seen.time_us >= self._shortest_us:
            self._verdict = self._early_verdict() if advanced else self._verdict_while_waiting()
        return self._verdict

    def late(self, reason: str) -> ProbeOutcome:
        """The rate is tried again, except in a confirmation, which is too expensive."""
        verdict: ProbeVerdict = "failed" if self._order.kind == "confirm" else "doubtful"
        return self._outcome(verdict, reason).model_copy(update={"late": True})

    def finish(self, broken: str | None = None) -> ProbeOutcome:
        self._estimate = estimate(self._warm_steps())
        verdict = self._verdict or self._final_verdict()
        outcome = self._outcome("failed" if broken else verdict, broken or self._described())
        seen = self._estimate
        if self._order.kind == "saturate" and verdict == "passed":
            # A system that keeps up processes what is offered, which is less than its capacity.
            return outcome.model_copy(update={"drained_per_s": self._lower_bound()})
        update = {"drained_per_s": seen.per_s, "error": seen.error} if seen else {}
        return outcome.model_copy(update=update)

    def _lower_bound(self) -> float | None:
        """A rate that the capacity is not below, from a probe that kept up."""
        return None

    def _verdict_while_waiting(self) -> ProbeVerdict | None:
        """The verdict while nothing more is processed."""
        return None

    def _early_verdict(self) -> ProbeVerdict | None:
        self._estimate = seen = estimate(self._warm_steps())
        if seen is None:
            return None
        beyond, kind = self._growth(seen) - self._threshold, self._order.kind
        soon = kind == "saturate" or beyond > C.flooded
        if seen.seconds < (C.flooded_s if soon else C.observed_s):
            return None
        if beyond > C.clear * seen.error:
            return "failed"
        return "passed" if kind != "confirm" and beyond < -C.clear * seen.error else None

    def _final_verdict(self) -> ProbeVerdict:
        seen = self._estimate
        if self._last.time_us < self._shortest_us:
            return "doubtful"
        if seen is None:
            return "failed" if self._backlog_s > C.stuck_s else "doubtful"
        beyond = self._growth(seen) - self._threshold
        slack = {"saturate": 0.0, "narrow": seen.error, "confirm": min(seen.error, self._slack)}
        if beyond > slack[self._order.kind]:
            return "failed"
        return "doubtful" if self._order.kind == "narrow" and beyond > 0 else "passed"

    def _warm_steps(self) -> list[Step]:
        since_us = max(WARM_UP_US, C.warm_up_share * self._last.time_us)
        return [step for step in self._steps if step.at_s * SECOND_US >= since_us]

    def _growth(self, seen: Estimate) -> float:
        """The share of the load by which the backlog grows."""
        return 1 - seen.per_s / self._offered_per_s

    @property
    def _offered_per_s(self) -> float:
        """The rate that was really offered: the generator may be a little late."""
        first, last = self._first, self._last
        if first is None or last.time_us <= first.time_us:
            return self._order.rate_per_s
        return (last.offered - first.offered) * SECOND_US / (last.time_us - first.time_us)

    @property
    def _backlog_s(self) -> float:
        processed = self._steps[-1].processed if self._steps else 0
        return (self._last.offered - processed) / self._order.rate_per_s

    def _outcome(self, verdict: ProbeVerdict, reason: str) -> ProbeOutcome:
        return ProbeOutcome(
            rate_per_s=self._order.rate_per_s,
            kind=self._order.kind,
            verdict=verdict,
            length_us=self._last.time_us,
            reason=reason,
        )

    def _described(self) -> str:
        backlog = f"the backlog is {self._backlog_s:.1f} s"
        seen = self._estimate
        if seen is None:
            return backlog
        return (
            f"processes {seen.per_s:,.0f}/s of {self._offered_per_s:,.0f}/s"
            f" (± {100 * seen.error:.1f} %); {backlog}"
        )
