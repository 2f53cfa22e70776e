"""What a user may set of the choice between the paradigms."""

from __future__ import annotations

from pydantic import Field, model_validator

from streamgauge.models import StrictModel


class DualSettings(StrictModel):
    """Times in seconds. What is assumed counts only until it was measured."""

    hysteresis: float = Field(default=0.2, gt=0, lt=1)
    """δ: how far the queue must be above or below the length at which both are equal."""
    minimum_stay_s: float = Field(default=10.0, ge=0, allow_inf_nan=False)
    """An operation stays at least this long in a paradigm."""
    ahead_s: float = Field(default=30.0, gt=0, allow_inf_nan=False)
    """A switch must pay within this time."""
    shortest_interval_s: float = Field(default=0.1, gt=0, allow_inf_nan=False)
    longest_interval_s: float = Field(default=5.0, gt=0, allow_inf_nan=False)
    """Between these two the micro-batch interval is chosen."""
    assumed_speed_ratio: float = Field(default=0.2, gt=0, allow_inf_nan=False)
    """K = PD/PO."""
    assumed_schedule_s: float = Field(default=0.2, ge=0, allow_inf_nan=False)
    """t_s."""
    assumed_preparation_s: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    assumed_gap_s: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    """How long nothing is processed when an operation switches."""

    commit_s: float | None = Field(default=None, ge=1, allow_inf_nan=False)
    """How often a data stream with state commits its offsets. What came after is done again at a
    switch, and each commit holds up the records for some 0.1 s. None: chosen by the load."""
    fixed: bool = False
    """Whether every operation stays as it is, whatever the load."""

    @model_validator(mode="after")
    def _intervals_in_order(self) -> DualSettings:
        if self.shortest_interval_s > self.longest_interval_s:
            raise ValueError("the shortest interval is longer than the longest")
        return self
