"""One probe of a search: its order and its outcome."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

ProbeKind = Literal["saturate", "narrow", "confirm"]
ProbeVerdict = Literal["passed", "failed", "doubtful"]


class ProbeOrder(NamedTuple):
    """A rate to offer, and for how long at most."""

    rate_per_s: float
    length_us: int
    kind: ProbeKind


class ProbeOutcome(BaseModel):
    """The outcome of a probe; a search is resumed from these."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rate_per_s: float
    kind: ProbeKind
    verdict: ProbeVerdict
    length_us: int = Field(description="how long the load really was")
    drained_per_s: float | None = Field(
        default=None, description="events processed per second, without a pause that did not recur"
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
        """Seconds by which the backlog grows per second; None if it is unknown."""
        if self.drained_per_s is None or self.error is None:
            return None
        return 1 - self.drained_per_s / self.rate_per_s
