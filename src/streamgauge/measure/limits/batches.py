"""Limits of time: what a batch spends its time on, as the driver observed it."""

from __future__ import annotations

from streamgauge.measure.limits.capacity import MOST_INSTANCES
from streamgauge.measure.limits.evidence import Evidence
from streamgauge.measure.limits.findings import Finding, Kind
from streamgauge.measure.limits.mean_batch import MeanBatch
from streamgauge.measure.limits.words import counted, duration, percent

FIXED_COST = Kind("fixed cost", "fixed cost", "The time of a batch that its size does not change.")
SOURCE = Kind("source", "source", "Reading the input.", ordinary=True)
COMPUTE = Kind(
    "compute", "computing", "The time after the reading, not measured in parts.", ordinary=True
)


def fixed_cost(evidence: Evidence, batch: MeanBatch) -> Finding | None:
    """The time until the first event, which a batch of any size takes."""
    if batch.lead_ms <= 0:
        return None
    share = batch.share(batch.lead_ms)
    return Finding(
        FIXED_COST,
        share,
        shown_by=first_event_after(batch) + batch_size(batch),
        advice=fixed_cost_advice(evidence),
    )


def first_event_after(batch: MeanBatch) -> str:
    """The lead of a batch as text."""
    share = percent(batch.share(batch.lead_ms))
    return (
        f"a batch waits {duration(batch.lead_ms)} of {duration(batch.every_ms)} ({share}) for its "
        "first event"
    )


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
    share = batch.share(batch.pull_ms)
    shown = (
        f"reading takes {duration(batch.pull_ms)} of {duration(batch.every_ms)} in each batch "
        f"({percent(share)})"
    )
    if evidence.network_mb_per_s:
        shown += f", {evidence.network_mb_per_s:,.1f} MB/s in the mean"
    shown += (
        ". This includes the work on events while they arrive (decoding, the first step of an "
        "aggregation), which is not measured separately"
    )
    return Finding(SOURCE, share, shown, _reading_advice(evidence))


def _reading_advice(evidence: Evidence) -> str:
    instances, usable = evidence.driver_instances, evidence.usable_cores
    if instances < usable:
        return (
            f"One task reads from each driver instance, so {instances} of "
            f"{counted(usable, 'core')} read: `--set load.instances={min(usable, MOST_INSTANCES)}`."
        )
    return (
        f"All {counted(usable, 'core')} read. Read less: name the columns that the query needs "
        "(its `reads`), or give the system more cores."
    )


def compute(batch: MeanBatch) -> Finding | None:
    """The time after the last event of a batch."""
    if batch.busy_ms is None:
        return None
    rest_ms = max(0.0, batch.busy_ms - batch.lead_ms - batch.pull_ms)
    share = batch.share(rest_ms)
    return Finding(
        COMPUTE,
        share,
        shown_by=f"{duration(rest_ms)} of {duration(batch.every_ms)} in each batch "
        f"({percent(share)}) pass between the last event that is read and the next batch: "
        "computing, shuffle, state and delivery, not measured separately",
        advice="The system's own statistics may show which of these takes the time.",
    )
