"""One operation as a fluid, under a Decider: what it is to be decided about, without Spark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from streamgauge.dual.decider import Decider
from streamgauge.dual.decision import Action, OperationDecision, Standing
from streamgauge.dual.model.estimates import Estimates, Observation
from streamgauge.dual.model.latency import Paradigm

STEP_S = 0.5


@dataclass
class SimulatedOperation:
    """The true quantities, which the decider only gets to know from observations."""

    decider: Decider
    data_speed_per_s: float
    operation_speed_per_s: float
    schedule_s: float = 0.1
    preparation_s: float = 1.0
    gap_s: float = 1.0
    backlog: float = 0.0

    time_s: float = 0.0
    paradigm: Paradigm = Paradigm.DATA
    since_s: float = -1e9
    estimates: Estimates = field(default_factory=Estimates)
    decisions: list[OperationDecision] = field(default_factory=list)
    switches: list[tuple[float, Paradigm]] = field(default_factory=list)
    interval_s: float = 0.0
    ready_s: float | None = None
    gap_until_s: float | None = None

    def run(self, arrival_per_s: Callable[[float], float], until_s: float) -> SimulatedOperation:
        while self.time_s < until_s:
            self._step(arrival_per_s(self.time_s))
        return self

    def _step(self, arrival_per_s: float) -> None:
        self.time_s += STEP_S
        arrived = arrival_per_s * STEP_S
        self.backlog += arrived
        if self.gap_until_s is None:
            self._process(arrived)
        elif self.time_s >= self.gap_until_s:
            self.estimates = self.estimates.switched(self.preparation_s, self.gap_s)
            self.paradigm, self.since_s = self.paradigm.other, self.time_s
            self.switches.append((self.time_s, self.paradigm))
            self.gap_until_s = None
        self._decide(arrival_per_s)

    def _process(self, arrived: float) -> None:
        in_data = self.paradigm is Paradigm.DATA
        speed_per_s = self.data_speed_per_s if in_data else self.operation_speed_per_s
        processed = min(self.backlog, speed_per_s * STEP_S)
        self.backlog -= processed
        full = self.backlog > 0
        busy_s = (STEP_S if full else None) if in_data else processed / speed_per_s
        schedule_s = None if in_data else self.schedule_s
        self.estimates = self.estimates.updated(
            Observation(
                self.time_s,
                STEP_S,
                self.paradigm,
                arrived,
                processed,
                processed,
                busy_s,
                schedule_s,
            )
        )

    def _decide(self, arrival_per_s: float) -> None:
        in_data = self.paradigm is Paradigm.DATA
        standing = Standing(
            "count",
            self.paradigm,
            self.since_s,
            self.backlog + (0.0 if in_data else arrival_per_s * self.interval_s),
            self.estimates,
            prepared=self.ready_s is not None and self.time_s >= self.ready_s,
            switching=self.gap_until_s is not None,
        )
        decision = self.decider.decide(self.time_s, [standing]).of("count")
        self.decisions.append(decision)
        if decision.action is Action.STAY:
            self.ready_s = None
        elif decision.action is Action.PREPARE and self.ready_s is None:
            self.ready_s = self.time_s + self.preparation_s
        elif decision.action is Action.SWITCH:
            self.gap_until_s = self.time_s + self.gap_s
            self.interval_s = decision.interval_s or 0.0
