"""Spark's reports about its batches: used for advice on tuning, never for a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import StreamingQueryProgress
    from pyspark.sql.streaming.query import StreamingQuery


class BatchProgress(BaseModel):
    """One micro-batch; times are wall-clock milliseconds, unless they are sums over tasks."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    total_ms: int
    compute_ms: int
    """`addBatch`: reading, computing and delivering."""
    planning_ms: int
    """Everything before and after `addBatch`: offsets, plan, logs."""
    state_update_ms: int
    """Sum over all tasks."""
    state_commit_ms: int
    """Sum over all tasks."""
    state_rows: int
    state_bytes: int


def reported_batches(running: StreamingQuery) -> list[BatchProgress]:
    """The batches that had input, oldest first."""
    return [_batch(progress) for progress in running.recentProgress if progress.numInputRows]


def _batch(progress: StreamingQueryProgress) -> BatchProgress:
    total = int(progress.durationMs.get("triggerExecution", 0))
    compute = int(progress.durationMs.get("addBatch", 0))
    operators = progress.stateOperators
    return BatchProgress(
        total_ms=total,
        compute_ms=compute,
        planning_ms=max(0, total - compute),
        state_update_ms=sum(o.allUpdatesTimeMs for o in operators),
        state_commit_ms=sum(o.commitTimeMs for o in operators),
        state_rows=sum(o.numRowsTotal for o in operators),
        state_bytes=sum(o.memoryUsedBytes for o in operators),
    )
