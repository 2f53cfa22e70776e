"""Limits of the work in a batch: the state, and the rest of the computing."""

from __future__ import annotations

from streamgauge.measure.limits import SELF_REPORTED, Finding, Kind
from streamgauge.measure.limits.batches import COMPUTE, MeanBatch
from streamgauge.measure.limits.words import counted, percent, ratio
from streamgauge.systems.spark.advice.evidence import MeanProgress, SparkEvidence
from streamgauge.writing import duration, megabytes

STATE = Kind("state", "state", "Updating and committing the state of the query.", ordinary=True)
SHUFFLE = Kind(
    "shuffle", "shuffle", "Shuffling rows, starting tasks, delivering results.", ordinary=True
)
_LARGE_STATE = 1e9
_MOST_OF_MEMORY = 0.5


def state(spark: SparkEvidence, batch: MeanBatch, progress: MeanProgress) -> Finding | None:
    """Updating and committing the state of a query."""
    if not progress.has_state:
        return None
    share = batch.share(progress.state_ms)
    early, late = progress.state_rows
    shown = (
        f"keeping state takes {duration(progress.state_ms)} of {duration(batch.every_ms)} in each "
        f"batch ({percent(share)}; {SELF_REPORTED}, if "
        f"{counted(spark.measured.busy_tasks, 'task')} at a time share it evenly): "
        f"{duration(progress.commit_ms)} to commit it and {duration(progress.update_ms)} to update "
        "it, including the fetching of the shuffled rows, which is not reported separately; "
        f"{late:,.0f} rows, at most {megabytes(progress.state_bytes / 1e6)}"
    )
    if progress.state_grows:
        shown += f", after {early:,.0f} rows at the beginning"
    full = ratio(progress.state_bytes, 1e6 * spark.memory_mb)
    if full >= _MOST_OF_MEMORY:
        shown += f", which is {percent(full)} of its memory"
        share = max(share, full)
    return Finding(STATE, share, shown, _less_state(spark, progress, full), self_reported=True)


def _less_state(spark: SparkEvidence, progress: MeanProgress, full: float) -> str:
    large = progress.state_bytes >= _LARGE_STATE or full >= _MOST_OF_MEMORY
    usable = spark.measured.usable_cores
    if spark.state_store == "rocksdb" and not large:
        advice = "State of this size fits into memory: `--set system.state_store=memory`."
    elif spark.state_store == "memory" and large:
        advice = "Keep the state outside the heap: `--set system.state_store=rocksdb`."
    elif spark.shuffle_partitions > usable:
        advice = f"Each partition commits separately: {partitions(usable)}."
    else:
        advice = "Keep less: fewer keys (`workload.keys`) or shorter windows (`workload.window`)."
    if progress.state_grows:
        advice += (
            " If the state grows for longer than a window lasts, some of it is never removed: "
            "check `load.disorder`, which is the delay of the watermark."
        )
    return advice


def shuffle(spark: SparkEvidence, batch: MeanBatch, progress: MeanProgress) -> Finding:
    """The computing without the reading and the state."""
    rest_ms = max(0.0, progress.compute_ms - batch.pull_ms - progress.state_ms)
    share = batch.share(rest_ms)
    number, usable = spark.shuffle_partitions, spark.measured.usable_cores
    if not progress.has_state:
        return Finding(
            COMPUTE,
            share,
            shown_by=f"computing takes {batch.describe(rest_ms)}, without the reading "
            f"({SELF_REPORTED}); the query keeps no state, and whether it shuffles is not known",
            advice="A simpler query, or more cores.",
            self_reported=True,
        )
    shown = (
        f"computing takes {batch.describe(rest_ms)}, without the reading and the state "
        f"({SELF_REPORTED}): the shuffle, the start of tasks and the delivery of results, not "
        f"reported separately; {counted(number, 'partition')} on {counted(usable, 'core')}"
    )
    if number == usable:
        advice = (
            "There is one partition for each core. Shuffle less: drop columns and rows before the "
            f"aggregation or join. If the keys are uneven, try {partitions(2 * usable)}."
        )
    elif number < usable:
        advice = f"Only {number} of {usable} cores work after the shuffle: {partitions(usable)}."
    else:
        advice = (
            f"Every batch starts {number:,} tasks after the shuffle, each with a separate state: "
            f"{partitions(usable)} is enough."
        )
    return Finding(SHUFFLE, share, shown, advice, self_reported=True)


def partitions(number: int) -> str:
    """The setting that gives a shuffle that many partitions."""
    return f"`--set system.shuffle_partitions={number}`"
