"""A rehearsal: the segments process a backlog of records in both paradigms, before the real work.

The JVM compiles both kinds of query, and the speeds PD and PO are known from the beginning.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from streamgauge.dual.model.estimates import Estimates, Observation
from streamgauge.dual.model.latency import Paradigm
from streamgauge.dual.monitoring import Batch, rehearsed_speed
from streamgauge.dual.spark.runs import Run, Trigger
from streamgauge.dual.spark.segment import Segment
from streamgauge.dual.topics import Topics

QUIET_S = 1.0
LONGEST_S = 40.0
_POLL_S = 0.02
_BEGUN = 0.1
"""The speed counts from this share of the results on: the tasks start one after the other."""
_SMALL, _LARGE = 16, 4
"""Micro-batches of the two passes: what scheduling takes is seen by batches of different size."""


def rehearse(topics: Topics, segments: Sequence[Segment], folder: Path) -> list[Estimates]:
    """Of each segment; the first one reads a topic with records, the others what it makes."""
    return [_Rehearsal(topics, segment, folder).estimates() for segment in segments]


class _Rehearsal:
    def __init__(self, topics: Topics, segment: Segment, folder: Path) -> None:
        self._topics, self._segment, self._folder = topics, segment, folder
        self._records = sum(topics.ends(segment.source, segment.partitions).values())

    def estimates(self) -> Estimates:
        known = Estimates()
        if not self._records:
            return known
        # More than once: the first time most of it is compiling.
        small, _ = self._micro_batches(_SMALL)
        self._speed()
        large, _ = self._micro_batches(_LARGE)
        again, emitted = self._micro_batches(_LARGE)
        large += again
        processed, elapsed_s, results = self._speed()
        if elapsed_s:
            known = known.updated(
                _observation(Paradigm.DATA, processed, elapsed_s, results / self._records)
            )
        if small and large:
            schedule_s, speed_per_s = rehearsed_speed(small, large)
            records = float(sum(one.records for one in large))
            known = known.updated(
                _observation(
                    Paradigm.OPERATION,
                    records,
                    records / speed_per_s,
                    emitted / self._records,
                    schedule_s,
                )
            )
        return known

    def _micro_batches(self, count: int) -> tuple[list[Batch], int]:
        """Those of the second half, because before the JVM compiles; and results in all."""
        limit = max(1, self._records // count)
        with self._run(Trigger(Paradigm.OPERATION, 0.0), limit) as run:
            seen = self._results(run)
            found = [
                Batch(one.numInputRows, one.durationMs.get("triggerExecution", 0) / 1_000)
                for one in run.query.recentProgress
                if one.numInputRows
            ]
        return found[len(found) // 2 :], seen[-1][1] if seen else 0

    def _speed(self) -> tuple[float, float, int]:
        """As data stream: records, seconds, and results in all."""
        with self._run(Trigger(Paradigm.DATA, LONGEST_S), None) as run:
            seen = self._results(run)
        if not seen:
            return 0.0, 0.0, 0
        last_s, results = seen[-1]
        begun_s, begun = next(one for one in seen if one[1] >= _BEGUN * results)
        return self._records * (1 - begun / results), last_s - begun_s, results

    @contextmanager
    def _run(self, trigger: Trigger, limit: int | None) -> Iterator[Run]:
        checkpoint = self._folder / f"rehearsal-{time.time_ns()}"
        run = Run(self._segment, trigger, checkpoint, self._segment.messages(limit=limit))
        try:
            yield run
        finally:
            run.stop()
            shutil.rmtree(checkpoint, ignore_errors=True)

    def _results(self, run: Run) -> list[tuple[float, int]]:
        """Their number, whenever it has changed, until nothing comes any more."""
        before, seen = self._in_sink, list[tuple[float, int]]()
        began_s = time.monotonic()
        while run.active and (now_s := time.monotonic()) < began_s + LONGEST_S:
            emitted = self._in_sink - before
            if emitted > (seen[-1][1] if seen else 0):
                seen.append((now_s, emitted))
            elif seen and now_s > seen[-1][0] + QUIET_S:
                break
            time.sleep(_POLL_S)
        return seen

    @property
    def _in_sink(self) -> int:
        segment = self._segment
        return sum(self._topics.ends(segment.sink, segment.partitions).values())


def _observation(
    paradigm: Paradigm,
    processed: float,
    busy_s: float,
    magnification: float,
    schedule_s: float | None = None,
) -> Observation:
    return Observation(
        time_s=0.0,
        elapsed_s=busy_s,
        paradigm=paradigm,
        arrived=0,
        processed=processed,
        emitted=processed * magnification,
        busy_s=busy_s,
        schedule_s=schedule_s,
        # All of the time is processing: what scheduling took is subtracted already.
        batches=0,
    )
