"""The rules that hold for every system, in the order in which equal strengths are listed."""

from __future__ import annotations

from streamgauge.measure.limits import batches, capacity
from streamgauge.measure.limits.evidence import Evidence
from streamgauge.measure.limits.findings import Finding, SystemAdvice, ranked
from streamgauge.measure.limits.mean_batch import mean_batch
from streamgauge.measure.summary import Limit

_NO_SETTINGS = SystemAdvice()


def limits(evidence: Evidence, advice: SystemAdvice = _NO_SETTINGS) -> list[Limit]:
    """What limited the run, or may have; empty only if nothing was measured."""
    if evidence.nothing_measured:
        return []
    found = capacity_limits(evidence, advice)
    batch = mean_batch(evidence)
    if batch is not None:
        found += [
            batches.fixed_cost(evidence, batch),
            batches.source(evidence, batch),
            batches.compute(batch),
        ]
    return ranked(evidence, found)


def capacity_limits(evidence: Evidence, advice: SystemAdvice) -> list[Finding | None]:
    """Limits of the driver, of the cores, and of work that is not divided."""
    return [
        capacity.driver(evidence, advice),
        capacity.cpu(evidence, advice),
        capacity.hot_key(evidence),
    ]
