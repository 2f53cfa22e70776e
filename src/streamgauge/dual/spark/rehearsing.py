"""A rehearsal: the segments process a backlog of records in both paradigms, before the real work.

The JVM compiles both kinds of query, and the speeds PD and PO are known from the beginning.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from streamgauge.dual.model.estimates import Estimates, Observation
from streamgauge.dual.model.latency import Paradigm
from streamgauge.dual.monitoring import Batch, scheduling_s
from streamgauge.dual.spark.runs import Run, Trigger
from streamgauge.dual.spark.segment import Segment
from streamgauge.dual.topics import Topics

BATCHES = 8
QUIET_S = 1.0
LONGEST_S = 40.0
_POLL_S = 0.02
_BEGUN = 0.1
"""The speed counts from this share of the results on: the tasks start one after the other."""


def rehearse(topics: Topics, segments: Sequence[Segment], folder: Path) -> list[Estimates]:
    """Of each segment; the first one reads a topic with records, the others what it makes."""
    found = []
    for segment in segments:
        records = sum(topics.ends(segment.source, segment.partitions).values())
        known = Estimates()
        if records:
            # Each twice: the first time most of it is compiling.
            for paradigm in (Paradigm.OPERATION, Paradigm.DATA) * 2:
                checkpoint = folder / f"rehearsal-{time.time_ns()}"
                known = _rehearsed(topics, segment, paradigm, checkpoint, records)
                shutil.rmtree(checkpoint, ignore_errors=True)
                found.append((segment, known))
    return [_merged(known for one, known in found if one is segment) for segment in segments]


def _merged(found: Iterable[Estimates]) -> Estimates:
    """The last one of each paradigm."""
    merged = Estimates()
    for known in found:
        data, operation = known.data_speed.value, known.operation_speed.value
        merged = Estimates(
            magnification=known.magnification,
            data_speed=known.data_speed if data else merged.data_speed,
            operation_speed=known.operation_speed if operation else merged.operation_speed,
            schedule=known.schedule if operation else merged.schedule,
        )
    return merged


def _rehearsed(
    topics: Topics, segment: Segment, paradigm: Paradigm, checkpoint: Path, records: int
) -> Estimates:
    before = sum(topics.ends(segment.sink, segment.partitions).values())
    limit = max(1, records // BATCHES) if paradigm is Paradigm.OPERATION else None
    seconds = 0.0 if paradigm is Paradigm.OPERATION else LONGEST_S
    messages = segment.messages(limit=limit)
    run = Run(segment, Trigger(paradigm, seconds), checkpoint, messages)
    seen: list[tuple[float, int]] = []
    deadline = changed_s = time.monotonic()
    deadline += LONGEST_S
    while run.active and time.monotonic() < deadline:
        emitted = sum(topics.ends(segment.sink, segment.partitions).values()) - before
        now_s = time.monotonic()
        if emitted and (not seen or emitted > seen[-1][1]):
            seen.append((now_s, emitted))
            changed_s = now_s
        if seen and now_s > changed_s + QUIET_S:
            break
        time.sleep(_POLL_S)
    batches = [
        Batch(one.numInputRows, one.durationMs.get("triggerExecution", 0) / 1_000)
        for one in run.query.recentProgress
        if one.numInputRows
    ]
    run.stop()
    if not seen:
        return Estimates()
    return _estimates(paradigm, records, seen, batches)


def _estimates(
    paradigm: Paradigm, records: int, seen: Sequence[tuple[float, int]], batches: Sequence[Batch]
) -> Estimates:
    total = seen[-1][1]
    begun_s, begun = next(one for one in seen if one[1] >= _BEGUN * total)
    elapsed_s = max(1e-3, seen[-1][0] - begun_s)
    processed = records * (1 - begun / total)
    schedule_s = None
    busy_s: float | None = elapsed_s
    if paradigm is Paradigm.OPERATION:
        if not batches:
            return Estimates()
        # The first ones are slow: the JVM compiles them.
        rest = batches[len(batches) // 2 :]
        schedule_s = scheduling_s(batches)
        busy_s = max(1e-3, sum(one.seconds - schedule_s for one in rest))
        processed, elapsed_s = float(sum(one.records for one in rest)), busy_s
    if processed <= 0:
        return Estimates()
    return Estimates().updated(
        Observation(
            time_s=0.0,
            elapsed_s=elapsed_s,
            paradigm=paradigm,
            arrived=0,
            processed=processed,
            emitted=processed * total / records,
            busy_s=busy_s,
            schedule_s=schedule_s,
            # Of batches that were mostly scheduling the speed would not be taken.
            batches=0,
        )
    )
