"""What limited Spark: the general limits, and those that its settings and its progress show."""

from __future__ import annotations

from streamgauge.measure.limits import SystemAdvice
from streamgauge.measure.limits.batches import compute, mean_batch, source
from streamgauge.measure.limits.capacity import capacity_limits
from streamgauge.measure.limits.findings import ranked
from streamgauge.measure.summary import Limit
from streamgauge.systems.spark.advice.evidence import SparkEvidence, mean_progress
from streamgauge.systems.spark.advice.intervals import fixed_cost, trigger
from streamgauge.systems.spark.advice.work import shuffle, state

__all__ = ["SparkEvidence", "spark_limits"]

_SETTINGS = SystemAdvice(
    more_cores="`--set 'system.master=local[{cores}]'`",
    more_machines="`--set system.master=spark://HOST:7077`",
    pin="`--set 'system.cpus=[{cpus}]'`",
)


def spark_limits(spark: SparkEvidence) -> list[Limit]:
    """What limited the run, or may have; empty only if nothing was measured or reported."""
    evidence = spark.measured
    if evidence.nothing_measured and not spark.batches:
        return []
    found = capacity_limits(evidence, _SETTINGS)
    progress = mean_progress(spark)
    batch = mean_batch(evidence, progress.total_ms if progress else None)
    if batch is not None:
        found += [
            trigger(spark, batch, progress) if progress else None,
            fixed_cost(spark, batch, progress),
            source(evidence, batch),
            state(spark, batch, progress) if progress else None,
            shuffle(spark, batch, progress) if progress else compute(batch),
        ]
    return ranked(evidence, found)
