"""The times of a mean batch, as the driver observed them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from streamgauge.measure.limits.evidence import Evidence
from streamgauge.measure.limits.words import ratio


@dataclass(frozen=True)
class MeanBatch:
    """A mean batch. Times are in milliseconds; lead and pull are 0 if no pull was observed."""

    every_ms: float
    """From one batch to the next, waiting included: shares are shares of this."""
    busy_ms: float | None
    """Without the waiting for the next batch; None: not known."""
    lead_ms: float = 0.0
    """From the request for events to the first hand-over."""
    pull_ms: float = 0.0
    """From the first hand-over to the last."""
    events: float | None = None
    """None: no pull was observed."""

    def share(self, part_ms: float) -> float:
        return ratio(part_ms, self.every_ms)


def mean_batch(evidence: Evidence, reported_ms: float | None = None) -> MeanBatch | None:
    """The mean batch of the load; None if its length is not known.

    `reported_ms`: the mean duration of a batch, where the system reports it.
    """
    pulls = _during_load(evidence)
    observed_ms = None
    if len(pulls) > 1:
        observed_ms = 1000 * (pulls[-1][0] - pulls[0][0]) / (len(pulls) - 1)
    if observed_ms is None and reported_ms is None:
        return None
    pause_ms = 1000 * max(0.0, evidence.pause_s)
    # Without a pause a batch begins as soon as the previous one ends.
    busy_ms = reported_ms if reported_ms is not None else None if pause_ms else observed_ms
    every_ms = max(observed_ms if observed_ms is not None else pause_ms, reported_ms or 0.0)
    if not pulls:
        return MeanBatch(every_ms, busy_ms)
    return MeanBatch(
        every_ms,
        busy_ms,
        lead_ms=1000 * mean(first - start for first, _, start, _ in pulls),
        pull_ms=1000 * mean(last - first for first, last, _, _ in pulls),
        events=mean(events for *_, events in pulls),
    )


def _during_load(evidence: Evidence) -> list[tuple[float, float, float, int]]:
    """Of each pull during the load: first and last hand-over, start, and events; in order."""
    return sorted(
        (*pull.handed_s, pull.start_s, pull.events)
        for pull in evidence.pulls
        if pull.handed_s is not None and 0 <= pull.handed_s[0] <= evidence.duration_s
    )


def mean(values: Iterable[float]) -> float:
    """The mean of durations or counts; a negative value, from a clock that was set, counts as 0."""
    all_values = [max(0.0, value) for value in values]
    return sum(all_values) / len(all_values)
