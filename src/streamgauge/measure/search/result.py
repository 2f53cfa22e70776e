"""The result of a search, in figures and in a sentence."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from streamgauge.measure.search.estimate import Estimate
from streamgauge.measure.search.probe import ProbeOutcome
from streamgauge.measure.search.settings import CONSTANTS as C
from streamgauge.measure.search.settings import SearchSettings
from streamgauge.units import format_duration


class SearchResult(BaseModel):
    """What a search found."""

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
    interval_per_s: tuple[float, float] | None = Field(
        default=None, description="95 % interval of the capacity, recurring pauses included"
    )
    in_words: str = ""


def in_words(result: SearchResult, settings: SearchSettings, capacity: Estimate | None) -> str:
    """How certain the maximum is."""
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
    if capacity is None:
        return words
    return (
        f"{words}. All {len(result.tries)} probes together see {capacity.per_s:,.0f}/s"
        f" ± {100 * C.interval * capacity.error:.1f} % (95 % interval), recurring pauses included"
    )
