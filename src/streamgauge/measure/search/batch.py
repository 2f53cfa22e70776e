"""The judge for channels that show every pull of the system: a pull ends when the next begins."""

from __future__ import annotations

import itertools

import numpy as np

from streamgauge.measure.search.estimate import Step
from streamgauge.measure.search.flow import FlowJudge
from streamgauge.measure.search.probe import ProbeOrder, ProbeVerdict
from streamgauge.measure.search.settings import CONSTANTS as C
from streamgauge.units import SECOND_US


class BatchJudge(FlowJudge):
    """The judge for systems that pull: a pull ends when the next one begins."""

    def __init__(
        self,
        order: ProbeOrder,
        precision: float,
        shortest_us: int = 6 * SECOND_US,
        pause_us: int = 0,
    ) -> None:
        super().__init__(order, precision, shortest_us)
        self._trigger_s = pause_us / SECOND_US

    def _verdict_while_waiting(self) -> ProbeVerdict | None:
        """Fails a system that is busy with one pull for longer than a cold start explains."""
        at_s, processed = self._steps[-1] if self._steps else Step(0.0, 0)
        due_s = (self._last.taken - processed) / self._order.rate_per_s
        busy_s = self._last.time_us / SECOND_US - at_s
        return "failed" if busy_s > C.stuck_s + 3 * due_s else None

    def _early_verdict(self) -> ProbeVerdict | None:
        bound = self._lower_bound() if self._order.kind == "saturate" else None
        if bound is not None and bound > C.faster * self._order.rate_per_s:
            return "passed"
        return super()._early_verdict()

    def _final_verdict(self) -> ProbeVerdict:
        return "passed" if self._waits() else super()._final_verdict()

    def _waits(self) -> bool:
        """Whether the system waits for its trigger, so that it keeps up with time to spare."""
        if not self._trigger_s or len(self._steps) < 2:
            return False
        gaps_s = np.diff([step.at_s for step in self._steps])
        return bool(np.median(gaps_s) < self._trigger_s + C.punctual_s)

    def _lower_bound(self) -> float | None:
        """The highest rate at which a pull of one second of the load or more was processed."""
        if self._waits():
            return None
        rates = [
            (then.processed - step.processed) / (then.at_s - step.at_s)
            for step, then in itertools.pairwise(self._steps)
            if then.processed - step.processed >= self._order.rate_per_s
        ]
        return max(rates, default=None)
