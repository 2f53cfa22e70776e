"""Limits of time: the parts of a mean batch, as the driver observed them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from streamgauge.measure.limits.capacity import MOST_INSTANCES
from streamgauge.measure.limits.evidence import Evidence
from streamgauge.measure.limits.findings import Finding, Kind
from streamgauge.measure.limits.words import counted, percent, ratio
from streamgauge.writing import duration

FIXED_COST = Kind("fixed cost", "fixed cost", "The time of a batch that its size does not change.")
SOURCE = Kind("source", "source", "Reading the input.", ordinary=True)
COMPUTE = Kind(
    "compute", "computing", "The time after the reading, not measured in parts.", ordinary=True
)


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

    def describe(self, part_ms: float) -> str:
        """`1.40 s of 2.00 s in each batch (70 %)`."""
        share = percent(self.share(part_ms))
        return f"{duration(part_ms)} of {duration(self.every_ms)} in each batch ({share})"


def mean_batch(evidence: Evidence, reported_ms: float | None = None) -> MeanBatch | None:
    """The mean batch of the load; None if its length is not known.

    `reported_ms`: the mean duration of a batch, if the system reports it.
    """
    # Of each pull during the load: first and last hand-over, start, and events.
    pulls = sorted(
        (*pull.handed_s, pull.start_s, pull.events)
        for pull in evidence.pulls
        if pull.handed_s is not None and 0 <= pull.handed_s[0] <= evidence.duration_s
    )
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


def mean(values: Iterable[float]) -> float:
    """The mean of durations or counts; a negative value, from a clock that was set, counts as 0."""
    all_values = [max(0.0, value) for value in values]
    return sum(all_values) / len(all_values)


def fixed_cost(evidence: Evidence, batch: MeanBatch) -> Finding | None:
    """The time until the first event, which a batch of any size takes."""
    if batch.lead_ms <= 0:
        return None
    shown = first_event_after(batch) + batch_size(batch)
    return Finding(FIXED_COST, batch.share(batch.lead_ms), shown, fixed_cost_advice(evidence))


def first_event_after(batch: MeanBatch) -> str:
    """The lead of a batch as text."""
    share = percent(batch.share(batch.lead_ms))
    lead, whole = duration(batch.lead_ms), duration(batch.every_ms)
    return f"a batch waits {lead} of {whole} ({share}) for its first event"


def batch_size(batch: MeanBatch) -> str:
    return "" if batch.events is None else f", with {batch.events:,.0f} events in a batch"


def fixed_cost_advice(evidence: Evidence) -> str:
    if evidence.behind:
        return "Larger batches have this cost less often."
    return "No result is faster than this. A simpler query is planned and started faster."


def source(evidence: Evidence, batch: MeanBatch) -> Finding | None:
    """Reading the input."""
    if batch.pull_ms <= 0:
        return None
    rate = evidence.network_mb_per_s
    shown = (
        f"reading takes {batch.describe(batch.pull_ms)}"
        + (f", {rate:,.1f} MB/s in the mean" if rate else "")
        + ". This includes the work on events while they arrive (decoding, the first step of an "
        "aggregation), which is not measured separately"
    )
    instances, usable = evidence.driver_instances, evidence.usable_cores
    if instances < usable:
        advice = (
            f"One task reads from each driver instance, so {instances} of "
            f"{counted(usable, 'core')} read: `--set load.instances={min(usable, MOST_INSTANCES)}`."
        )
    else:
        advice = (
            f"All {counted(usable, 'core')} read. Read less: name the columns that the query needs "
            "(its `reads`), or give the system more cores."
        )
    return Finding(SOURCE, batch.share(batch.pull_ms), shown, advice)


def compute(batch: MeanBatch) -> Finding | None:
    """The time after the last event of a batch."""
    if batch.busy_ms is None:
        return None
    rest_ms = max(0.0, batch.busy_ms - batch.lead_ms - batch.pull_ms)
    return Finding(
        COMPUTE,
        batch.share(rest_ms),
        shown_by=f"{batch.describe(rest_ms)} pass between the last event that is read and the next "
        "batch: computing, shuffle, state and delivery, not measured separately",
        advice="The system's own statistics may show which of these takes the time.",
    )
