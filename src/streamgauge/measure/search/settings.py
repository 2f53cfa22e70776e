"""What a search for the maximum sustainable throughput may be told."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, model_validator

from streamgauge.units import SECOND_US, Count, Share, WholeNumber

FIRST_GUESS_PER_S = 100_000.0
SHORTEST_PROBE_US = 8 * SECOND_US
"""In a shorter one too few pulls follow its warm-up for anybody to tell."""


class SearchSettings(BaseModel):
    """How exactly, how far and how long is searched."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    precision: Share = Field(
        default=0.05, ge=0.005, le=0.5, description="how far apart passed and failed may end"
    )
    start: Count | None = Field(
        default=None, gt=0, le=1e9, description="first guess, in events per second"
    )
    highest: Count = Field(default=50e6, gt=0, le=1e9, description="never offers more")
    probe_us: int = Field(
        default=25 * SECOND_US, ge=SECOND_US, description="longest probe that narrows"
    )
    shortest_us: int = Field(
        default=6 * SECOND_US, ge=SECOND_US, description="no verdict before, except on a break"
    )
    confirm_us: int = Field(
        default=60 * SECOND_US, ge=SECOND_US, description="length of the confirmation"
    )
    attempts: WholeNumber = Field(
        default=3, ge=1, le=20, description="how often a doubtful rate is tried"
    )
    budget_us: int | None = Field(
        default=None,
        gt=0,
        description="narrows no further when that much load has been offered; default: twice what"
        " a search usually takes",
    )

    @model_validator(mode="after")
    def _long_enough_for_a_verdict(self) -> SearchSettings:
        if self.shortest_us > min(self.probe_us, self.confirm_us):
            raise ValueError("shortest_us must not exceed probe_us and confirm_us")
        return self

    @property
    def first_per_s(self) -> float:
        return min(self.start or FIRST_GUESS_PER_S, self.highest)

    @property
    def saturate_us(self) -> int:
        """Longest probe far above the capacity: short, for its backlog must be drained."""
        return min(3 * self.shortest_us, max(self.probe_us, self.shortest_us))
