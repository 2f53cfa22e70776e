"""The settings of a search for the maximum sustainable throughput, and its constants."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, model_validator

from streamgauge.units import SECOND_US, Count, Share, WholeNumber

FIRST_GUESS_PER_S = 100_000.0
SHORTEST_PROBE_US = 8 * SECOND_US
"""A shorter probe has too few pulls after its warm-up for a verdict."""
WARM_UP_US = 5 * SECOND_US
"""What a system processes before is left out: a query plans and compiles, and queues fill."""


@dataclass(frozen=True)
class Constants:
    """Chosen on simulated systems; `slack`, `clear`, `saturated` and `observed_s` also on those of
    the benchmark.

    `precision` is that of the search, errors are standard errors as a share of the estimate.
    """

    # The estimator.
    wander: float = 4.2
    """Error of a slope, in standard deviations of the residuals per length: the value for a random
    walk. For pauses at equal distances it is an upper bound."""
    drift: float = 0.01
    """No estimate is more certain: the speed of a machine changes by this while it runs."""
    unseen_s: float = 0.2
    """Pauses just before or after the observed time change an estimate by this per length."""
    least_pause_s: float = 0.25
    """A shorter pause is scatter."""
    recurs: float = 1 / 3
    """A pause recurs if another one has this share of its length. Then both count."""
    usual_gaps: int = 4
    """With fewer gaps between steps there is no usual pace, and no pause is forgiven."""
    forgiven: float = 0.5
    """Share of a forgiven pause that counts as error, because it may recur later."""

    # The verdict on one probe.
    warm_up_share: float = 0.25
    """Of a long probe this share is left out, because large states fill for longer than 5 s."""
    tolerated: float = 0.1
    """Growth of the backlog that counts as none, as a share of the precision."""
    slack: float = 0.8
    """Growth beyond that within one error, in which a confirmation passes, as a share of the
    precision: less confirms too little on a machine with stalls, more confirms what grows."""
    saturated: float = 0.05
    """Growth from which a saturation probe shows the capacity."""
    clear: float = 1.5
    """Errors between growth and tolerance that end a probe early. A wrong verdict costs one more
    probe, and the estimates of all probes are combined."""
    observed_s: float = 7.0
    """Less time after the warm-up ends no probe early."""
    flooded: float = 0.25
    """If this share is not processed, less time is enough, because the backlog must be drained."""
    flooded_s: float = 3.0
    """Then, and in a saturation probe."""
    stuck_s: float = 8.0
    """The longest time for one pull, beyond three times the time in which its events were due."""
    faster: float = 1.6
    """A backlog processed at so many times the offered rate ends a saturation probe."""
    punctual_s: float = 0.25
    """A system that waits for its trigger pulls up to this late."""

    # The search.
    least_per_s: float = 1.0
    """A system that cannot sustain this rate is broken; the search ends."""
    most_probes: int = 40
    """A system that needs more contradicts itself; then only confirmations follow."""
    patience: float = 2.0
    """Default budget, as a multiple of what a search usually takes."""
    adjacent: float = 1.2
    """Between two rates with a smaller ratio a saturation probe gives no information."""
    agree: float = 3.0
    """Two estimates further apart than so many errors contradict each other."""
    firm: float = 0.05
    """An estimate with a larger error does not refute others: it may be a short fast phase."""
    above: float = 0.6
    """Rates are narrowed this far above the estimate, as a share of the precision: near enough to
    be of use when they fail, far enough to fail clearly."""
    below: float = 0.35
    """A rate is confirmed this far below the estimate, as a share of the precision: at the
    capacity itself a backlog never shrinks."""
    interval: float = 2.0
    """Errors on both sides of the stated interval: about 95 %."""


CONSTANTS = Constants()


class SearchSettings(BaseModel):
    """Precision, range and length of a search."""

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
        """Longest probe far above the capacity: short, because its backlog must be drained."""
        return min(3 * self.shortest_us, max(self.probe_us, self.shortest_us))
