"""What limited a run, as far as it shows from outside: the rules that hold for every system.

A system adds the limits that only its own settings and statistics show (`System.limits`).
"""

from __future__ import annotations

from streamgauge.measure.limits.batches import compute, fixed_cost, mean_batch, source
from streamgauge.measure.limits.capacity import capacity_limits
from streamgauge.measure.limits.evidence import Evidence
from streamgauge.measure.limits.findings import Finding, Kind, SystemAdvice, ranked
from streamgauge.measure.limits.words import SELF_REPORTED
from streamgauge.measure.summary import Limit

__all__ = ["SELF_REPORTED", "Evidence", "Finding", "Kind", "SystemAdvice", "limits"]

_NO_SETTINGS = SystemAdvice()


def limits(evidence: Evidence, advice: SystemAdvice = _NO_SETTINGS) -> list[Limit]:
    """What limited the run, or may have; empty only if nothing was measured."""
    if evidence.nothing_measured:
        return []
    found = capacity_limits(evidence, advice)
    batch = mean_batch(evidence)
    if batch is not None:
        found += [fixed_cost(evidence, batch), source(evidence, batch), compute(batch)]
    return ranked(evidence, found)
