"""Limits of the batches themselves: the trigger interval, and the fixed cost of each batch."""

from __future__ import annotations

from math import ceil

from streamgauge.measure.limits import SELF_REPORTED, Finding, Kind
from streamgauge.measure.limits.batches import (
    FIXED_COST,
    MeanBatch,
    batch_size,
    first_event_after,
    fixed_cost_advice,
)
from streamgauge.measure.limits.words import percent, ratio
from streamgauge.systems.spark.advice.evidence import MeanProgress, SparkEvidence
from streamgauge.systems.spark.advice.work import partitions
from streamgauge.units import format_duration
from streamgauge.writing import duration

TRIGGER = Kind(
    "trigger", "trigger interval", "The interval of micro-batches is too long or too short."
)
_EARLY = 0.6
"""A batch that ends after this share of the interval, or earlier, waits for the rest of it."""
_FIXED = 0.3
"""The share of fixed cost from which a batch longer than its interval should be larger."""


def trigger(spark: SparkEvidence, batch: MeanBatch, progress: MeanProgress) -> Finding | None:
    """The interval is too long for the latency, or too short for a batch."""
    if spark.interval_ms > 0 and progress.total_ms <= _EARLY * spark.interval_ms:
        return _too_long(spark, progress)
    if not _is_too_short(spark, batch, progress):
        return None
    fixed_ms = _fixed_ms(batch, progress)
    longer = _trigger_of(max(1.25 * progress.total_ms, 4 * fixed_ms))
    return Finding(
        TRIGGER,
        batch.share(fixed_ms),
        shown_by=f"a batch takes {duration(progress.total_ms)} ({SELF_REPORTED}), longer than the "
        f"interval of {duration(spark.interval_ms)}, and {_fixed_part(batch, progress)}",
        advice=f"Fewer and larger batches have the fixed cost less often: {longer}.",
        self_reported=True,
    )


def _is_too_short(spark: SparkEvidence, batch: MeanBatch, progress: MeanProgress) -> bool:
    too_long = progress.total_ms > spark.interval_ms > 0
    return too_long and batch.share(_fixed_ms(batch, progress)) >= _FIXED


def _too_long(spark: SparkEvidence, progress: MeanProgress) -> Finding:
    evidence, interval_ms = spark.measured, spark.interval_ms
    waiting = 1 - ratio(progress.total_ms, interval_ms)
    latency = evidence.event_time_p50_ms
    shown = (
        f"a batch takes {duration(progress.total_ms)} ({SELF_REPORTED}) and then waits for the "
        f"interval of {duration(interval_ms)}: {percent(waiting)} of the time"
    )
    if latency is not None:
        shown += f"; p50 of event-time latency is {duration(latency)}"
    advice = f"Shorten the interval: {_trigger_of(1.25 * progress.total_ms)}."
    if evidence.behind:
        shown += ". The queue grew nevertheless"
        advice += (
            " If `system.max_events_per_batch` is set, it keeps the batches small: raise it or "
            "remove it."
        )
    explained = waiting if latency is None or latency <= 0 else ratio(interval_ms, latency)
    return Finding(TRIGGER, min(waiting, explained), shown, advice, self_reported=True)


def fixed_cost(
    spark: SparkEvidence, batch: MeanBatch, progress: MeanProgress | None
) -> Finding | None:
    """The time that a batch of any size takes."""
    evidence, fixed_ms = spark.measured, _fixed_ms(batch, progress)
    if fixed_ms <= 0 or (progress and _is_too_short(spark, batch, progress)):
        return None
    advice = fixed_cost_advice(evidence)
    if evidence.behind and 4 * fixed_ms > spark.interval_ms:
        advice = f"{advice.rstrip('.')}: {_trigger_of(4 * fixed_ms)}, at the cost of latency."
    if spark.shuffle_partitions > evidence.usable_cores:
        advice += f" Fewer tasks start faster: {partitions(evidence.usable_cores)}."
    return Finding(
        FIXED_COST,
        batch.share(fixed_ms),
        shown_by=_fixed_part(batch, progress) + batch_size(batch),
        advice=advice,
        self_reported=progress is not None and progress.planning_ms > 0,
    )


def _fixed_ms(batch: MeanBatch, progress: MeanProgress | None) -> float:
    """The larger of the lead and the planning: the two overlap."""
    return max(batch.lead_ms, progress.planning_ms if progress else 0.0)


def _fixed_part(batch: MeanBatch, progress: MeanProgress | None) -> str:
    planning_ms = progress.planning_ms if progress else 0.0
    if batch.lead_ms >= planning_ms:
        planning = f"; planning takes {duration(planning_ms)} ({SELF_REPORTED})"
        return first_event_after(batch) + (planning if planning_ms else "")
    share, whole = percent(batch.share(planning_ms)), duration(batch.every_ms)
    text = f"planning and logs take {duration(planning_ms)} of {whole} ({share}; {SELF_REPORTED})"
    lead = f"; the first event arrives {duration(batch.lead_ms)} after the batch begins"
    return text + (lead if batch.lead_ms else "")


def _trigger_of(milliseconds: float) -> str:
    """The setting, rounded up to a tenth of a second."""
    tenths = max(1, ceil(min(milliseconds, 1e9) / 100))
    return f"`--set 'system.trigger={format_duration(100_000 * tenths)}'`"
