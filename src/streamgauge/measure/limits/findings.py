"""Findings of the rules: a kind of limit, the figure that shows it, and advice; their ranking."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from streamgauge.measure.limits.evidence import Evidence
from streamgauge.measure.limits.words import cores, counted, percent
from streamgauge.measure.summary import Limit

LEAST = 0.1
"""A finding of less strength is left out."""
_STRONG = 0.5
_ROOM = 0.75
"""A system that uses a smaller share of its cores has cores left."""


@dataclass(frozen=True)
class Kind:
    name: str
    label: str
    meaning: str
    ordinary: bool = False
    """Work that every run has: no limit while the system keeps up and has cores left."""


NOTHING = Kind("none", "nothing", "The system kept up and had cores left.")
OTHER_PROGRAMS = Kind(
    "other programs", "other programs", "Programs outside the run had the cores of this machine."
)
UNKNOWN = Kind("unknown", "unknown", "No measurement shows a limit.")


@dataclass(frozen=True)
class Finding:
    """One possible limit of a run."""

    kind: Kind
    strength: float
    """The share that it explains: of the time between batches, of the cores or of the lag."""
    shown_by: str
    advice: str
    self_reported: bool = False

    def limit(self) -> Limit:
        return Limit(
            kind=self.kind.name,
            label=self.kind.label,
            meaning=self.kind.meaning,
            shown_by=self.shown_by,
            advice=self.advice,
            strength=round(self.strength, 3),
            self_reported=self.self_reported,
        )


@dataclass(frozen=True)
class SystemAdvice:
    """The settings of a system that general advice refers to; empty: the system has none."""

    more_cores: str = ""
    """Gives the system `{cores}` cores of this machine."""
    more_machines: str = ""
    """Runs the system on more machines than this one."""
    pin: str = ""
    """Pins the system to the CPUs `{cpus}`."""


def ranked(evidence: Evidence, candidates: Iterable[Finding | None]) -> list[Limit]:
    """The findings that matter, strongest first; those of equal strength in the given order.

    Limits overlap, so their strengths do not add up to one. Without a limit the result is `none`
    or `unknown`.
    """
    # On cores that are shared everything takes longer, so the other findings explain less.
    left = 1 - evidence.lost_to_others
    weighed = [
        one if one.kind is OTHER_PROGRAMS else replace(one, strength=left * one.strength)
        for one in candidates
        if one is not None
    ]
    found = [one for one in weighed if one.strength >= LEAST]
    kept_up = evidence.sustained and not evidence.at_maximum
    strong = any(one.strength >= _STRONG and not one.kind.ordinary for one in found)
    calm = _has_room(evidence) and evidence.queue_share < 1 and not strong
    if kept_up and (not found or calm):
        return [_nothing(evidence).limit()]
    if not found:
        return [_unknown(evidence).limit()]
    found.sort(key=lambda one: one.strength, reverse=True)
    return [one.limit() for one in found]


def _has_room(evidence: Evidence) -> bool:
    return evidence.system_share is None or evidence.system_share < _ROOM


def _nothing(evidence: Evidence) -> Finding:
    share = evidence.system_share
    return Finding(
        NOTHING,
        strength=0.0 if share is None else 1 - min(1.0, share),
        shown_by=f"not limited: the system kept up; {_used(evidence)}",
        advice="To find the highest rate that the system sustains: `--set load.rate=search`."
        if _has_room(evidence)
        else "Few cores are left: a slightly higher rate uses all of them.",
    )


def _unknown(evidence: Evidence) -> Finding:
    outcome = "the run has no verdict"
    if evidence.behind:
        outcome = "the system fell behind"
    elif evidence.at_maximum:
        outcome = "a search found no higher rate"
    return Finding(
        UNKNOWN,
        strength=0.0,
        shown_by=f"{outcome}, and no measurement shows the reason; {_used(evidence)}",
        advice="Find the time at which the queue began to grow in the charts of queue and CPU, and "
        "read the log of the system around that time.",
    )


def _used(evidence: Evidence) -> str:
    used, share = evidence.system_cpu, evidence.system_share
    if used is None or share is None:
        return "its CPU was not measured"
    return f"it used {cores(used)} of {counted(evidence.usable_cores, 'core')} ({percent(share)})"
