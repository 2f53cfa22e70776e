"""All limits together, the strongest first."""

from __future__ import annotations

from streamgauge.measure.limits import batch_time, capacity
from streamgauge.measure.limits.evidence import Evidence
from streamgauge.measure.limits.mean_batch import mean_batch
from streamgauge.measure.limits.words import cores, counted, percent
from streamgauge.measure.summary import Limit

LEAST = 0.1
"""What explains less is not worth a line."""
_STRONG = 0.5
_WELL_BELOW = 0.75
"""A system that uses less of its cores has room left."""
_WORK = frozenset({"source", "state", "shuffle", "compute", "hot key"})
"""What a system does anyway: no limit as long as it is done in time and cores are left."""


def limits(evidence: Evidence) -> list[Limit]:
    """What held the run back, or might have; empty only if nothing was measured.

    The strength is the share of time or capacity that a limit explains: of the time from one
    micro-batch to the next, of the cores, or of the lag that is allowed. Limits overlap, so they
    do not add up to one: a system whose cores are all busy also spends its time on something.
    """
    if evidence.nothing_measured:
        return []
    found = [one for one in _all(evidence) if one.strength >= LEAST]
    kept_up = evidence.sustained and not evidence.at_maximum
    if kept_up and (not found or _calm(evidence, found)):
        return [_nothing(evidence)]
    if not found:
        return [_unknown(evidence)]
    found.sort(key=lambda one: one.strength, reverse=True)
    return [one.model_copy(update={"strength": round(one.strength, 3)}) for one in found]


def _all(evidence: Evidence) -> list[Limit]:
    """In the order in which those of equal strength are named."""
    found = [rule(evidence) for rule in (capacity.driver, capacity.cpu, capacity.hot_key)]
    batch = mean_batch(evidence)
    if batch is not None:
        found += [
            rule(evidence, batch)
            for rule in (
                batch_time.trigger,
                batch_time.fixed_cost,
                batch_time.source,
                batch_time.state,
                batch_time.shuffle,
            )
        ]
    return [one for one in found if one is not None]


def _calm(evidence: Evidence, found: list[Limit]) -> bool:
    share = evidence.system_share
    room = share is None or share < _WELL_BELOW
    strong = any(one.strength >= _STRONG and one.kind not in _WORK for one in found)
    return room and evidence.queue_share < 1 and not strong


def _nothing(evidence: Evidence) -> Limit:
    share = evidence.system_share
    room = share is None or share < _WELL_BELOW
    return Limit(
        kind="none",
        shown_by=f"not limited: the system kept up; {_used(evidence)}",
        advice="To find out how much it sustains: `--set load.rate=search`."
        if room
        else "Little is left: a somewhat higher rate takes all cores.",
        strength=0.0 if share is None else round(1 - min(1.0, share), 3),
    )


def _unknown(evidence: Evidence) -> Limit:
    how = "the run has no verdict"
    if evidence.behind:
        how = "the system fell behind"
    elif evidence.at_maximum:
        how = "a search found no more than this"
    return Limit(
        kind="unknown",
        shown_by=f"{how}, and nothing that was measured says why; {_used(evidence)}",
        advice="Look at the charts of queue and CPU for the moment at which it began, and into the "
        "log of the system.",
        strength=0.0,
    )


def _used(evidence: Evidence) -> str:
    used, share = evidence.system_cpu, evidence.system_share
    if used is None or share is None:
        return "its CPU was not seen"
    of_all = counted(evidence.usable_cores, "core")
    return f"it used {cores(used)} of {of_all} ({percent(share)})"
