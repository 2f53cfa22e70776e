"""The evidence of a run on Spark: measurements, settings and self-reported progress."""

from __future__ import annotations

from dataclasses import dataclass

from streamgauge.measure.limits import Evidence
from streamgauge.measure.limits.batches import mean
from streamgauge.systems.spark.progress import BatchProgress

_LEAST_BATCHES = 6
"""Fewer batches do not show whether the state grows."""
_GROWTH = 1.5


@dataclass(frozen=True)
class SparkEvidence:
    measured: Evidence
    batches: list[BatchProgress]
    """Oldest first."""
    state_store: str
    shuffle_partitions: int
    memory_mb: float

    @property
    def interval_ms(self) -> float:
        """The trigger interval; 0: as soon as possible."""
        return 1000 * self.measured.pause_s


@dataclass(frozen=True)
class MeanProgress:
    """The self-reported times of a mean batch, in wall-clock milliseconds."""

    total_ms: float
    compute_ms: float
    planning_ms: float
    update_ms: float
    """If the tasks share it evenly; includes the fetching of the shuffled rows."""
    commit_ms: float
    state_rows: tuple[float, float]
    """At the beginning and at the end."""
    state_bytes: float
    """The maximum."""

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


def mean_progress(spark: SparkEvidence) -> MeanProgress | None:
    """None if Spark reported no batch."""
    batches, tasks = spark.batches, spark.measured.busy_tasks
    if not batches:
        return None
    part = max(1, len(batches) // 3) if len(batches) >= _LEAST_BATCHES else len(batches)
    rows = [batch.state_rows for batch in batches]
    return MeanProgress(
        total_ms=mean(batch.total_ms for batch in batches),
        compute_ms=mean(batch.compute_ms for batch in batches),
        planning_ms=mean(batch.planning_ms for batch in batches),
        update_ms=mean(batch.state_update_ms for batch in batches) / tasks,
        commit_ms=mean(batch.state_commit_ms for batch in batches) / tasks,
        state_rows=(mean(rows[:part]), mean(rows[-part:])),
        state_bytes=max(0, *(batch.state_bytes for batch in batches)),
    )
