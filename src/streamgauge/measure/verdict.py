"""The verdict: are the results of a run right, and did the system sustain the load?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from streamgauge.measure.record import RunRecord
from streamgauge.measure.summary import FAULTS, Validation, Verdict

SEVERITY = (Verdict.VOID, Verdict.INVALID, Verdict.UNKNOWN, Verdict.VALID)
"""The most severe first, for trials and studies alike.

Void comes first: when the station itself failed, nothing that it reports about the system counts.
"""
_FAULT_REASONS = {
    "missing": "results are missing",
    "extra": "results were not expected",
    "duplicate": "results came more than once",
    "wrong": "results are wrong",
    "late": "results came after the run had ended",
}


@dataclass(frozen=True)
class Finding:
    """What one checker found, and why."""

    verdict: Verdict
    reasons: list[str]


Checker = Callable[[RunRecord, Validation], Finding | None]


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The most severe verdict; unknown where there is none."""
    return min(verdicts, key=SEVERITY.index, default=Verdict.UNKNOWN)


def judge(record: RunRecord, validation: Validation, max_lag_us: int) -> tuple[Verdict, list[str]]:
    """The most severe verdict of all checkers, and the reasons for it."""
    checkers: tuple[Checker, ...] = (
        late_generator(max_lag_us),
        different_input,
        faulty_results,
        unknown_results,
    )
    results = (checker(record, validation) for checker in checkers)
    findings = [finding for finding in results if finding is not None]
    if not findings:
        return Verdict.VALID, []
    verdict = worst(finding.verdict for finding in findings)
    same = (finding.reasons for finding in findings if finding.verdict is verdict)
    return verdict, [reason for reasons in same for reason in reasons]


def late_generator(max_lag_us: int) -> Checker:
    """Void if a generator was later than allowed: then the load was not the planned one."""

    def check(record: RunRecord, _: Validation) -> Finding | None:
        late = [
            f"the generator of driver instance {i.instance} was late itself: p99 lag "
            f"{i.lag_p99_us / 1_000:.0f} ms, allowed {max_lag_us / 1_000:.0f} ms"
            for i in record.instances
            if i.lag_p99_us > max_lag_us
        ]
        return Finding(Verdict.VOID, late) if late else None

    return check


def different_input(_: RunRecord, validation: Validation) -> Finding | None:
    """Void if the results were compared with those of another input."""
    if validation.input_matches is not False:
        return None
    reason = "the events regenerated for the check differ from those that were offered"
    return Finding(Verdict.VOID, [reason])


def faulty_results(record: RunRecord, validation: Validation) -> Finding | None:
    """Invalid if results are wrong; what is missing or late counts only after a complete drain."""
    reasons = [
        f"{count:,} {_FAULT_REASONS[name]}"
        for name in FAULTS
        if (count := getattr(validation, name))
        and (record.drained or name not in ("missing", "late"))
    ]
    return Finding(Verdict.INVALID, reasons) if reasons else None


def unknown_results(record: RunRecord, validation: Validation) -> Finding | None:
    """Unknown if there was no complete check, or nothing to check."""
    if validation.expected is None:
        reason = "the results could not be checked"
    elif not record.drained:
        reason = (
            "the system had not processed all of its input when time was up, so it is unknown "
            "which results are missing and which were still to come"
        )
    elif validation.expected == 0:
        reason = "no result was expected: the run is shorter than a window, or no events match"
    else:
        return None
    return Finding(Verdict.UNKNOWN, [reason])


def sustained(record: RunRecord) -> tuple[bool, list[str]]:
    """Whether the system kept up: no objection of a policy, no dropped connection, all drained."""
    reasons = [
        f"driver instance {i.instance}: {i.unsustained_because}"
        for i in record.instances
        if i.unsustained_because
    ]
    reasons += record.dropped
    if record.ended_early:
        reasons.append(record.ended_early)
    if not record.drained:
        left = sum(i.offered - i.drained for i in record.instances)
        reasons.append(f"{left:,} events were left in the queues when time was up")
    return not reasons, reasons
