"""What a summary means to a script: the exit code."""

from __future__ import annotations

from streamgauge.errors import ExitCode
from streamgauge.measure.summary import Status, Summary, Verdict


def exit_code(summary: Summary) -> ExitCode:
    """The worst finding decides; see the contract in `docs/architecture.md`."""
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
    # Nobody could show that the results are right, so this is no success either.
    return ExitCode.VALID if summary.verdict is Verdict.VALID else ExitCode.INVALID
