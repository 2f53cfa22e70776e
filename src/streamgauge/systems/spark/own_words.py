"""What Spark says of its own batches: good enough for advice on tuning, never for a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery


class BatchWords(BaseModel):
    """One micro-batch; milliseconds of wall-clock time, and of tasks where it says so."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    total_ms: int
    compute_ms: int
    """Of `addBatch`: reading, computing and delivering."""
    planning_ms: int
    """Everything before and after: offsets, plan, logs."""
    state_update_ms: int
    """Of all tasks together."""
    state_commit_ms: int
    """Of all tasks together."""
    state_rows: int
    state_bytes: int


def own_words(running: StreamingQuery) -> list[dict[str, int]]:
    """The batches that had input, oldest first."""
    found = []
    for progress in running.recentProgress:
        if not progress.numInputRows:
            continue
        durations = progress.durationMs
        total = int(durations.get("triggerExecution", 0))
        compute = int(durations.get("addBatch", 0))
        operators = progress.stateOperators
        words = BatchWords(
            total_ms=total,
            compute_ms=compute,
            planning_ms=max(0, total - compute),
            state_update_ms=sum(o.allUpdatesTimeMs for o in operators),
            state_commit_ms=sum(o.commitTimeMs for o in operators),
            state_rows=sum(o.numRowsTotal for o in operators),
            state_bytes=sum(o.memoryUsedBytes for o in operators),
        )
        found.append(words.model_dump())
    return found
