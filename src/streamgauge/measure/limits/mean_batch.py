"""Where the time of a mean micro-batch goes, seen from outside and in Spark's own words."""

from __future__ import annotations

from dataclasses import dataclass

from streamgauge.measure.limits.evidence import Evidence
from streamgauge.measure.limits.words import ratio

_FEW = 6
"""With fewer batches nobody can say that the state grows."""
_GROWTH = 1.5


@dataclass(frozen=True)
class Outside:
    """What the driver saw, in milliseconds of a mean batch."""

    lead_ms: float
    """From asking how far it may go to the first event."""
    pull_ms: float
    """From the first event to the last."""
    every_ms: float | None
    """From one batch to the next; None: there was only one."""
    events: float | None
    """None: nobody counted them."""


@dataclass(frozen=True)
class Words:
    """What Spark says, in milliseconds of wall-clock time of a mean batch."""

    total_ms: float
    compute_ms: float
    planning_ms: float
    update_ms: float
    """If the tasks share it evenly; contains the fetching of the shuffled rows."""
    commit_ms: float
    state_rows: tuple[float, float]
    """At the beginning and at the end."""
    state_bytes: float
    """At most."""

    @property
    def has_state(self) -> bool:
        return self.update_ms + self.commit_ms + self.state_rows[1] > 0

    @property
    def state_ms(self) -> float:
        return min(self.update_ms + self.commit_ms, self.compute_ms)

    @property
    def state_grows(self) -> bool:
        early, late = self.state_rows
        return late > _GROWTH * early > 0


@dataclass(frozen=True)
class MeanBatch:
    """What nobody measured is None."""

    every_ms: float
    """From one batch to the next, waiting included: what shares are shares of."""
    busy_ms: float | None
    outside: Outside | None
    words: Words | None

    def share(self, part_ms: float) -> float:
        return ratio(part_ms, self.every_ms)

    @property
    def pull_ms(self) -> float:
        return self.outside.pull_ms if self.outside else 0.0

    @property
    def fixed_ms(self) -> float:
        """What a batch costs however few events it has. The two figures overlap."""
        lead = self.outside.lead_ms if self.outside else 0.0
        return max(lead, self.words.planning_ms if self.words else 0.0)


def mean_batch(evidence: Evidence) -> MeanBatch | None:
    """None where there is no batch to speak of."""
    outside, words = _outside(evidence), _words(evidence)
    seen_ms = outside.every_ms if outside else None
    total_ms = words.total_ms if words else None
    trigger_ms = 1000 * max(0.0, evidence.trigger_s)
    if seen_ms is None and total_ms is None:
        return None
    # Without a trigger a batch begins as soon as the last one is done.
    busy = total_ms if total_ms is not None else None if trigger_ms else seen_ms
    every = max(seen_ms if seen_ms is not None else trigger_ms, total_ms or 0.0)
    return MeanBatch(every, busy, outside, words)


def _outside(evidence: Evidence) -> Outside | None:
    during = sorted(
        (pull for pull in evidence.pulls if 0 <= pull.first_handed_s <= evidence.duration_s),
        key=lambda pull: pull.first_handed_s,
    )
    if not during:
        return None
    lead = _mean([pull.first_handed_s - pull.start_s for pull in during])
    pull = _mean([pull.last_handed_s - pull.first_handed_s for pull in during])
    between = during[-1].first_handed_s - during[0].first_handed_s
    every = 1000 * between / (len(during) - 1) if len(during) > 1 else None
    counted = [pull.events for pull in during if pull.events is not None]
    return Outside(1000 * lead, 1000 * pull, every, _mean(counted) if counted else None)


def _words(evidence: Evidence) -> Words | None:
    batches = evidence.batches
    if not batches:
        return None
    part = max(1, len(batches) // 3) if len(batches) >= _FEW else len(batches)
    rows = [batch.state_rows for batch in batches]
    return Words(
        total_ms=_mean([batch.total_ms for batch in batches]),
        compute_ms=_mean([batch.compute_ms for batch in batches]),
        planning_ms=_mean([batch.planning_ms for batch in batches]),
        update_ms=_mean([batch.state_update_ms for batch in batches]) / evidence.parallel,
        commit_ms=_mean([batch.state_commit_ms for batch in batches]) / evidence.parallel,
        state_rows=(_mean(rows[:part]), _mean(rows[-part:])),
        state_bytes=max(0, *(batch.state_bytes for batch in batches)),
    )


def _mean(values: list[float] | list[int]) -> float:
    """Of what cannot be less than nothing."""
    return sum(max(0.0, value) for value in values) / len(values)
