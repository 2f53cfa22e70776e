"""The protocol of a judge of probes, and the judge that fits a channel."""

from __future__ import annotations

from typing import Protocol

from streamgauge.driver.observations import Basis, Observation
from streamgauge.measure.search.batch import BatchJudge
from streamgauge.measure.search.flow import FlowJudge
from streamgauge.measure.search.probe import ProbeOrder, ProbeOutcome, ProbeVerdict


class ProbeJudge(Protocol):
    """Decides from observations whether a system keeps up with the rate of a probe."""

    def look(self, seen: Observation) -> ProbeVerdict | None:
        """The verdict as soon as it is clear, None while it is not."""

    def late(self, reason: str) -> ProbeOutcome:
        """The outcome when the generator itself was late."""

    def finish(self, broken: str | None = None) -> ProbeOutcome:
        """The outcome at the end of the probe; `broken` fails it whatever was observed."""


def judge_of(order: ProbeOrder, precision: float, basis: Basis, pause_us: int = 0) -> ProbeJudge:
    """Pulls show when the system was busy; any other basis shows only how the load flows."""
    if basis is Basis.PULLED:
        return BatchJudge(order, precision, pause_us=pause_us)
    return FlowJudge(order, precision)
