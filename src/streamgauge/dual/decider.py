"""The core of the scheduler: which operation prepares a switch, switches or stays.

It has no clock and no state: the same standings lead to the same decisions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from streamgauge.dual.assessment import Assessment, Pressure, assess
from streamgauge.dual.decision import Action, Decision, OperationDecision, Standing
from streamgauge.dual.model.latency import Paradigm
from streamgauge.dual.model.ranges import concerned
from streamgauge.dual.settings import DualSettings


@dataclass(frozen=True)
class Decider:
    """Decides for a chain of operations, in the order in which records flow through them."""

    operations: tuple[str, ...]
    settings: DualSettings = field(default_factory=DualSettings)

    def decide(self, now_s: float, standings: Iterable[Standing]) -> Decision:
        """What to do with each operation; exactly one standing of each, in any order."""
        given = list(standings)
        by_name = {standing.operation: standing for standing in given}
        if len(given) != len(self.operations) or by_name.keys() != set(self.operations):
            names = ", ".join(standing.operation for standing in given)
            raise ValueError(f"standings of {names}, of a chain {', '.join(self.operations)}")
        chain = [by_name[name] for name in self.operations]
        assessments = [assess(standing, self.settings) for standing in chain]
        bursts = self._followed(Pressure.BURST, chain, assessments)
        ramps = self._followed(Pressure.RAMP, chain, assessments)
        decided = [
            self._decided(now_s, standing, assessment, bursts.get(place), ramps.get(place))
            for place, (standing, assessment) in enumerate(zip(chain, assessments, strict=True), 1)
        ]
        return Decision(now_s, tuple(decided))

    def _followed(
        self, pressure: Pressure, chain: Sequence[Standing], assessments: Sequence[Assessment]
    ) -> dict[int, str]:
        """The operations in the range of a burst or ramp, and the operation where it starts."""
        starts = [
            place
            for place, assessment in enumerate(assessments, 1)
            if assessment.pressure is pressure
        ]
        values = [standing.estimates.magnification.value for standing in chain]
        magnifications = [1.0 if value is None else value for value in values]
        followed = concerned(magnifications, starts, _source_magnification(assessments[0]))
        return {place: self.operations[start - 1] for place, start in followed.items()}

    def _decided(
        self,
        now_s: float,
        standing: Standing,
        assessment: Assessment,
        burst: str | None,
        ramp: str | None,
    ) -> OperationDecision:
        def decision(action: Action, reason: str) -> OperationDecision:
            return OperationDecision(
                standing.operation, action, standing.paradigm, reason, assessment.figures
            )

        target, reason = self._target(standing, assessment, burst)
        if standing.switching:
            return decision(Action.STAY, "a switch has begun and is not over")
        rest_s = standing.since_s + self.settings.minimum_stay_s - now_s
        if target is standing.paradigm:
            if ramp is None or target is Paradigm.OPERATION or assessment.data_stream_is_faster:
                return decision(Action.STAY, reason)
            if ramp != standing.operation:
                reason = f"in the range of the ramp at `{ramp}`"
            return decision(Action.PREPARE, reason)
        if rest_s > 0:
            return decision(Action.STAY, f"{reason}; stays {rest_s:.1f} s more, the minimum stay")
        return decision(Action.SWITCH if standing.prepared else Action.PREPARE, reason)

    def _target(
        self, standing: Standing, assessment: Assessment, burst: str | None
    ) -> tuple[Paradigm, str]:
        """The paradigm that an operation belongs into now, and why."""
        if burst is not None:
            own = burst == standing.operation
            reason = assessment.reason if own else f"in the range of the burst at `{burst}`"
            calm = assessment.pressure is not Pressure.BURST
            if not (calm and assessment.data_stream_is_faster):
                return Paradigm.OPERATION, reason
            if standing.paradigm is Paradigm.DATA:
                return Paradigm.DATA, f"{reason}, but faster as data stream"
        if assessment.pressure in (Pressure.UNKNOWN, Pressure.PAST):
            return standing.paradigm, assessment.reason
        return Paradigm.DATA, assessment.reason


def _source_magnification(first: Assessment) -> float:
    """λ of the source: by how much it delivers more than the first operation can take."""
    if first.figures is None:
        return 1.0
    quantities = first.figures.quantities
    return max(1.0, quantities.arrival_per_s / quantities.data_speed_per_s)
