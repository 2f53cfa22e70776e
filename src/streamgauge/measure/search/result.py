"""What a search found out, in figures and in words."""

from __future__ import annotations

import math

from pydantic import BaseModel, ConfigDict, Field

from streamgauge.measure.search.probe import ProbeOutcome
from streamgauge.measure.search.settings import SearchSettings
from streamgauge.units import format_duration

HIDDEN = 0.02
"""What one probe cannot know of its own error: the capacity drifts, and stalls come at random."""
CLEARLY = 3.0
"""So many standard errors above all that was seen before, an estimate refutes it; if it is sure."""
FIRM = 0.05
"""An estimate is that sure at least: one that is not may be the luck of a fast spell."""


class SearchResult(BaseModel):
    """What a search found out."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    maximum_sustainable_per_s: float | None = Field(
        default=None, description="highest rate that held for a full-length run"
    )
    passed: float | None = Field(default=None, description="highest rate that passed")
    failed: float | None = Field(default=None, description="lowest rate that failed")
    tries: list[ProbeOutcome] = Field(default=[], description="every probe, in order")
    confirmed: bool = False
    precise: bool = Field(
        default=False, description="is the maximum within the precision of a rate that failed?"
    )
    in_words: str = ""


class Capacity:
    """What all probes together say of the rate at which the system drains when it is saturated."""

    def __init__(self) -> None:
        self._weighted = 0.0
        self._weights = 0.0

    def add(self, per_s: float, uncertainty: float) -> None:
        """A system that works off clearly more than it seemed to be able to was underrated: cold,
        flooded, or on a machine that had other work. What said so is forgotten."""
        weight = 1 / (uncertainty**2 + HIDDEN**2)
        if self.per_s is not None:
            error = self.per_s * math.hypot(self.uncertainty, math.sqrt(1 / weight))
            if uncertainty < FIRM and per_s - self.per_s > CLEARLY * error:
                self._weighted = self._weights = 0.0
        self._weighted += weight * per_s
        self._weights += weight

    @property
    def per_s(self) -> float | None:
        return self._weighted / self._weights if self._weights else None

    @property
    def uncertainty(self) -> float:
        """Standard error, as a share."""
        return 1 / math.sqrt(self._weights) if self._weights else math.inf


def in_words(result: SearchResult, settings: SearchSettings, capacity: Capacity) -> str:
    """How sure one can be of the maximum."""
    confirmed, failed = result.maximum_sustainable_per_s, result.failed
    if confirmed is None:
        below = f"; {failed:,.0f}/s failed" if failed is not None else ""
        return f"no rate has been confirmed{below}"
    words = f"{confirmed:,.0f}/s held for {format_duration(settings.confirm_us)}"
    if failed is None:
        return f"{words}; no higher rate was found to fail, so the maximum may be higher"
    verdicts = [t.verdict for t in result.tries if t.rate_per_s == failed]
    counts = ", ".join(f"{verdicts.count(v)} {v}" for v in dict.fromkeys(verdicts))
    apart = 100 * (failed / confirmed - 1)
    words += f"; {failed:,.0f}/s, {apart:.1f} % more, did not (probes: {counts})"
    if any(t.late for t in result.tries if t.rate_per_s == failed):
        words += "; the generator itself was late at that rate, so the system may sustain more"
    if not result.precise:
        words += f"; the precision of {100 * settings.precision:g} % was not reached"
    if capacity.per_s is None:
        return words
    return (
        f"{words}. All {len(result.tries)} probes together see {capacity.per_s:,.0f}/s"
        f" ± {200 * capacity.uncertainty:.1f} % between stalls (two standard errors)"
    )
