"""The verdict: can the results of a run be believed, and did the system keep up?"""

from __future__ import annotations

from streamgauge.measure.record import RunRecord
from streamgauge.measure.summary import Validation, Verdict

_FAULTS = {
    "missing": "results are missing",
    "extra": "results were not expected",
    "duplicate": "results came more than once",
    "wrong": "results are wrong",
    "late": "results came after the run had ended",
}


def judge(record: RunRecord, validation: Validation, max_lag_us: int) -> tuple[Verdict, list[str]]:
    """The worst finding wins; each is said in words."""
    late = [i for i in record.instances if i.lag_p99_us > max_lag_us]
    if late:
        reasons = [
            f"the generator of driver instance {i.instance} was late itself: p99 lag "
            f"{i.lag_p99_us / 1_000:.0f} ms, allowed {max_lag_us / 1_000:.0f} ms"
            for i in late
        ]
        return Verdict.VOID, reasons
    invalid = _invalid(validation, incomplete=not record.drained)
    if invalid:
        return Verdict.INVALID, invalid
    if validation.expected is None:
        return Verdict.UNKNOWN, ["the results could not be checked"]
    if not record.drained:
        return Verdict.UNKNOWN, [
            "the system was not through with its input when time was up, so nobody can say "
            "which results are missing and which were still to come"
        ]
    if validation.expected == 0:
        return Verdict.UNKNOWN, [
            "no result was expected: the run is shorter than a window, or no events match"
        ]
    return Verdict.VALID, []


def _invalid(validation: Validation, *, incomplete: bool) -> list[str]:
    reasons = []
    if validation.input_matches is False:
        reasons.append("the events made again for the check differ from those that were offered")
    for name, words in _FAULTS.items():
        count = getattr(validation, name)
        if count and not (incomplete and name in ("missing", "late")):
            reasons.append(f"{count:,} {words}")
    return reasons


def sustained(record: RunRecord) -> tuple[bool, list[str]]:
    """Did every driver instance find its queue drained, and was no connection dropped?"""
    reasons = [
        f"driver instance {i.instance}: {i.unsustained_because}"
        for i in record.instances
        if i.unsustained_because
    ]
    reasons += record.dropped
    if record.hopeless:
        reasons.append(record.hopeless)
    if not record.drained:
        left = sum(i.offered - i.drained for i in record.instances)
        reasons.append(f"{left:,} events were left in the queues when time was up")
    return not reasons, reasons
