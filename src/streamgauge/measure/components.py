"""What the latency of a run consists of: outside wait, process, wait, schedule, network.

The whole, the mean visibility latency, and the backlog are measured from outside. Wait, schedule
and process are what the system reports of itself. The network is what is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean, median

from pydantic import BaseModel, ConfigDict, Field

from streamgauge.dual.history import History
from streamgauge.dual.model.latency import Paradigm
from streamgauge.dual.reports import Seen, SegmentSeen

SMOOTHED_S = 5.0
"""The backlog is looked at as a mean over so long: within a micro-batch it goes up and down."""


class _Figures(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class OwnParts(_Figures):
    """What a system reports of the way of a record through it; None: it does not say."""

    process_ms: float | None = Field(default=None, description="of the record alone")
    wait_ms: float | None = Field(default=None, description="for and within its micro-batch")
    schedule_ms: float | None = Field(default=None, description="of its micro-batch")


class LatencyComponents(OwnParts):
    outside_wait_ms: float | None = Field(default=None, description="in front of the system")
    network_ms: float | None = Field(default=None, description="the rest of the whole")
    total_ms: float | None = Field(default=None, description="mean visibility latency")
    growing: bool = Field(default=False, description="the outside wait grows: no mean")


def components(
    parts: OwnParts, total_ms: float | None, outside_ms: float | None, *, growing: bool
) -> LatencyComponents:
    """The network is never negative: parts that a system reports may add up to too much."""
    network = None
    if total_ms is not None and not growing:
        known = (parts.process_ms, parts.wait_ms, parts.schedule_ms, outside_ms)
        network = round(max(0.0, total_ms - sum(part or 0.0 for part in known)), 3)
    return LatencyComponents(
        **parts.model_dump(),
        outside_wait_ms=outside_ms,
        network_ms=network,
        total_ms=total_ms,
        growing=growing,
    )


def outside_wait_ms(
    time_s: Sequence[float],
    queued: Sequence[float],
    drained_per_s: float | None,
    warm_up_s: float,
) -> float | None:
    """The backlog above its lowest level, as time: what a system that keeps up holds is no wait."""
    levels = _smoothed([(at, n) for at, n in zip(time_s, queued, strict=False) if at >= warm_up_s])
    if not levels or not drained_per_s:
        return None
    return round(1_000 * (fmean(levels) - min(levels)) / drained_per_s, 3)


def _smoothed(samples: Sequence[tuple[float, float]]) -> list[float]:
    """Means over stretches of equal length; a last one that is shorter is left out."""
    stretches: dict[int, list[float]] = {}
    for at_s, value in samples:
        stretches.setdefault(int((at_s - samples[0][0]) / SMOOTHED_S), []).append(value)
    found = [fmean(values) for values in stretches.values()]
    return found[:-1] if len(found) > 1 else found


def of_micro_batches(
    total_ms: Iterable[float], compute_ms: Iterable[float], trigger_ms: float, rate_per_s: float
) -> OwnParts:
    """Of a system that reports how long its micro-batches took.

    A record comes at any time between the starts of two batches, so it waits half of that for its
    batch, and then until all of the batch is computed.
    """
    totals, computed = list(total_ms), list(compute_ms)
    if not totals:
        return OwnParts()
    whole, compute = median(totals), median(computed)
    interval = max(whole, trigger_ms)
    records = rate_per_s * interval / 1_000
    process = compute / records if records > 1 else compute
    return OwnParts(
        process_ms=round(process, 4),
        wait_ms=round(interval / 2 + compute - process, 3),
        schedule_ms=round(whole - compute, 3),
    )


def of_segments(history: History, from_us: int, to_us: int) -> OwnParts:
    """Of the dual-paradigm runtime: the sum over its segments, the mean over what was seen."""
    found = [
        _of_chain(report.segments)
        for report in history.reports
        if isinstance(report, Seen) and from_us <= report.at_us <= to_us
    ]
    return OwnParts(
        **{
            name: round(fmean(values), 4)
            for name in OwnParts.model_fields
            if (values := [value for one in found if (value := getattr(one, name)) is not None])
        }
    )


def _of_chain(segments: Sequence[SegmentSeen]) -> OwnParts:
    speeds = [
        one.data_speed_per_s if one.paradigm is Paradigm.DATA else one.operation_speed_per_s
        for one in segments
    ]
    held = [one for one in segments if one.paradigm is Paradigm.OPERATION]
    return OwnParts(
        process_ms=sum(1_000 / speed for speed in speeds if speed) if all(speeds) else None,
        wait_ms=_sum(_wait_ms(one) for one in held),
        schedule_ms=_sum(one.schedule_ms for one in held),
    )


def _wait_ms(one: SegmentSeen) -> float | None:
    """T/2 until the batch begins, and V·T/PO until all of it is computed."""
    if one.interval_ms is None or one.arrival_per_s is None or not one.operation_speed_per_s:
        return None
    return one.interval_ms / 2 + one.interval_ms * one.arrival_per_s / one.operation_speed_per_s


def _sum(values: Iterable[float | None]) -> float | None:
    """0 without any; None if one is not known."""
    total = 0.0
    for value in values:
        if value is None:
            return None
        total += value
    return total
