"""What the scheduler is told about each operation, and what it decides, with its reasons."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from streamgauge.dual.model.estimates import Estimates
from streamgauge.dual.model.latency import Paradigm, Quantities
from streamgauge.dual.model.limits import Limits


class Action(Enum):
    """What is to be done with an operation now."""

    STAY = "stay"
    """Nothing."""
    PREPARE = "prepare"
    """Make the other paradigm ready, or keep it ready; the operation goes on."""
    SWITCH = "switch"
    """Drain and hand over to the other paradigm, which is ready."""


@dataclass(frozen=True)
class Standing:
    """Where an operation stands."""

    operation: str
    paradigm: Paradigm
    since_s: float
    """When it came to this paradigm."""
    queue: float
    """L: records that wait in front of it."""
    estimates: Estimates
    prepared: bool = False
    """Whether the other paradigm is ready to take over."""
    switching: bool = False
    """Whether a switch has begun and is not over."""


@dataclass(frozen=True)
class Figures:
    """The numbers behind a decision about one operation."""

    queue: float
    """Records that count against the limits: without the micro-batch that gathers."""
    limits: Limits
    quantities: Quantities
    speed_ratio_assumed: bool
    """Whether K is the assumed one, because PD or PO is not yet known."""
    saved_record_s: float
    """Records × seconds that leaving the paradigm saves within the time looked ahead."""
    slope_per_s2: float | None
    """How fast the arrival rate certainly grows."""


@dataclass(frozen=True)
class OperationDecision:
    """What is to be done with one operation, and why."""

    operation: str
    action: Action
    paradigm: Paradigm
    """The paradigm that it is in."""
    reason: str
    """One sentence with the figures that count."""
    figures: Figures | None
    """None as long as no speed is known."""

    @property
    def target(self) -> Paradigm:
        """The paradigm that it stays in, or is to go to."""
        return self.paradigm if self.action is Action.STAY else self.paradigm.other

    @property
    def interval_s(self) -> float | None:
        """The micro-batch interval to run with as operation stream, if one can be told.

        It is t_s. A micro-batch takes longer than that, so the next one starts at once while many
        records come, even if PO was estimated wrongly.
        """
        return self.figures.quantities.schedule_s if self.figures else None


@dataclass(frozen=True)
class Decision:
    """What is to be done with every operation of a chain, in its order."""

    time_s: float
    operations: tuple[OperationDecision, ...]

    def of(self, operation: str) -> OperationDecision:
        return next(one for one in self.operations if one.operation == operation)
