"""The exit code that a summary leads to."""

from __future__ import annotations

from streamgauge.errors import ExitCode
from streamgauge.measure.summary import Status, Summary, Verdict


def exit_code(summary: Summary) -> ExitCode:
    """The first rule that applies; `docs/architecture.md` has the contract."""
    if summary.status is Status.INTERRUPTED:
        return ExitCode.INTERRUPTED
    if summary.status is Status.FAILED:
        return ExitCode.COMPONENT
    if summary.verdict is Verdict.VOID:
        return ExitCode.VOID
    if summary.verdict is Verdict.INVALID:
        return ExitCode.INVALID
    if summary.sustained is False or any(not t.passed for t in summary.thresholds):
        return ExitCode.FAILED
    # Results that could not be checked are no success.
    return ExitCode.VALID if summary.verdict is Verdict.VALID else ExitCode.INVALID
