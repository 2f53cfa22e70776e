"""The judge for channels that show only what was offered and what was finished.

Behind a broker nobody sees when the system pulls. What can be seen is how many events the results
reflect, so the judge compares the slope of that with the slope of what was offered.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from streamgauge.driver.observations import Observation
from streamgauge.measure.search.probe import (
    CLEAR,
    CLEAR_WHEN_CONFIRMING,
    SEEN_S,
    TOLERATED,
    TOLERATED_WHEN_CONFIRMING,
    WARM_UP_S,
    ProbeOrder,
    ProbeOutcome,
    ProbeVerdict,
)
from streamgauge.measure.search.pulls import DRIFT
from streamgauge.units import SECOND_US

LEAST_STEPS = 5
"""Fewer advances of the frontier have no slope worth the name."""
SATURATED = 0.05
"""A saturation probe is over when so large a share of the load is clearly not processed."""


class Slope(NamedTuple):
    """Events per second, and its standard error as a share."""

    per_s: float
    error: float


class FlowJudge:
    """Judges the flow through a system, all sources together."""

    def __init__(self, order: ProbeOrder, precision: float) -> None:
        self._order = order
        confirms = order.kind == "confirm"
        self._tolerated = precision * (TOLERATED_WHEN_CONFIRMING if confirms else TOLERATED)
        self._clear = CLEAR_WHEN_CONFIRMING if confirms else CLEAR
        self._steps: list[tuple[float, int]] = []
        self._last = Observation("", 0, 0, 0)
        self._first: Observation | None = None
        self._verdict: ProbeVerdict | None = None

    def look(self, seen: Observation) -> ProbeVerdict | None:
        if self._verdict is not None:
            return self._verdict
        advanced = seen.finished > self._last.finished
        self._last = seen
        if seen.time_us < WARM_UP_S * SECOND_US:
            return None
        self._first = self._first or seen
        if advanced:
            self._steps.append((seen.taken_at_us / SECOND_US, seen.finished))
            self._verdict = self._judged()
        return self._verdict

    def late(self, reason: str) -> ProbeOutcome:
        verdict: ProbeVerdict = "failed" if self._order.kind == "confirm" else "doubtful"
        return self._outcome(verdict, None, reason).model_copy(update={"late": True})

    def finish(self, broken: str | None = None) -> ProbeOutcome:
        slope = self._slope()
        verdict = "failed" if broken else self._verdict or self._last_verdict(slope)
        if self._order.kind == "saturate" and verdict == "passed":
            # A system that keeps up shows the rate that is offered, not what it could do.
            slope = None
        return self._outcome(verdict, slope, broken or self._described(slope))

    def _judged(self) -> ProbeVerdict | None:
        slope = self._slope()
        if slope is None or self._steps[-1][0] - self._steps[0][0] < SEEN_S:
            return None
        growth = self._growth(slope)
        clear = self._clear * slope.error
        if self._order.kind == "saturate":
            return "failed" if growth - SATURATED > clear else None
        if growth - self._tolerated > clear:
            return "failed"
        narrows = self._order.kind == "narrow"
        return "passed" if narrows and growth - self._tolerated < -clear else None

    def _last_verdict(self, slope: Slope | None) -> ProbeVerdict:
        if slope is None:
            backlog_s = self._last.queued / self._order.rate_per_s
            return "failed" if backlog_s > SEEN_S else "doubtful"
        beyond = self._growth(slope) - self._tolerated
        if abs(beyond) < slope.error and self._order.kind == "narrow":
            return "doubtful"
        return "failed" if beyond > 0 else "passed"

    def _growth(self, slope: Slope) -> float:
        """The share of the load by which the backlog grows."""
        return 1 - slope.per_s / self._offered_per_s

    @property
    def _offered_per_s(self) -> float:
        """What was really offered: the generator may be a little late."""
        first, last = self._first, self._last
        if first is None or last.time_us <= first.time_us:
            return self._order.rate_per_s
        return (last.offered - first.offered) * SECOND_US / (last.time_us - first.time_us)

    def _slope(self) -> Slope | None:
        """Least squares over the advances of what is finished."""
        if len(self._steps) < LEAST_STEPS:
            return None
        times, counts = (np.array(column, dtype=float) for column in zip(*self._steps, strict=True))
        centred = times - times.mean()
        spread = float((centred**2).sum())
        per_s = float((centred * counts).sum()) / spread if spread else 0.0
        if per_s <= 0:
            return None
        rest = counts - counts.mean() - per_s * centred
        error = math.sqrt(float((rest**2).sum()) / (len(times) - 2) / spread) / per_s
        return Slope(per_s, math.hypot(error, DRIFT))

    def _outcome(self, verdict: ProbeVerdict, slope: Slope | None, reason: str) -> ProbeOutcome:
        return ProbeOutcome(
            rate_per_s=self._order.rate_per_s,
            kind=self._order.kind,
            verdict=verdict,
            length_us=self._last.time_us,
            drained_per_s=slope.per_s if slope else None,
            error=slope.error if slope else None,
            reason=reason,
        )

    def _described(self, slope: Slope | None) -> str:
        backlog = f"the backlog is {self._last.queued / self._order.rate_per_s:.1f} s"
        if slope is None:
            return backlog
        return (
            f"processes {slope.per_s:,.0f}/s of {self._offered_per_s:,.0f}/s"
            f" (± {100 * slope.error:.1f} %); {backlog}"
        )
