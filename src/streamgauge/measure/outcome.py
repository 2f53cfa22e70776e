"""The outcome of a run: one word for all of it, which follows from its exit code."""

from __future__ import annotations

from enum import Enum

from streamgauge.errors import ExitCode
from streamgauge.measure.summary import Status, Summary, Verdict


class Outcome(str, Enum):
    """The headline of a trial, a study or a search."""

    PASSED = "PASSED"
    NOT_SUSTAINED = "NOT SUSTAINED"
    THRESHOLD_FAILED = "THRESHOLD FAILED"
    INVALID = "INVALID"
    UNKNOWN = "UNKNOWN"
    VOID = "VOID"
    BROKEN_OFF = "BROKEN OFF"
    INTERRUPTED = "INTERRUPTED"

    def __str__(self) -> str:
        return f"{self.mark} {self.value}"

    @property
    def exit_code(self) -> ExitCode:
        return _EXIT_CODES[self]

    @property
    def kind(self) -> str:
        """The colour: good, bad, open (undecided) or void."""
        return _KINDS.get(self, "bad")

    @property
    def mark(self) -> str:
        """A sign besides the colour."""
        return _MARKS[self.kind]

    @property
    def meaning(self) -> str:
        return _MEANINGS[self]


_EXIT_CODES = {
    Outcome.PASSED: ExitCode.VALID,
    Outcome.NOT_SUSTAINED: ExitCode.FAILED,
    Outcome.THRESHOLD_FAILED: ExitCode.FAILED,
    Outcome.INVALID: ExitCode.INVALID,
    # Results that could not be checked are no success.
    Outcome.UNKNOWN: ExitCode.INVALID,
    Outcome.VOID: ExitCode.VOID,
    Outcome.BROKEN_OFF: ExitCode.COMPONENT,
    Outcome.INTERRUPTED: ExitCode.INTERRUPTED,
}
_KINDS = {
    Outcome.PASSED: "good",
    Outcome.UNKNOWN: "open",
    Outcome.INTERRUPTED: "open",
    Outcome.VOID: "void",
}
_MARKS = {"good": "✓", "bad": "✗", "open": "?", "void": "∅"}
_MEANINGS = {
    Outcome.PASSED: "The system kept up, every result is right, and every threshold held.",
    Outcome.NOT_SUSTAINED: "The system did not keep up with the offered rate.",
    Outcome.THRESHOLD_FAILED: "A threshold of the experiment failed.",
    Outcome.INVALID: "The system's results are not the expected ones.",
    Outcome.UNKNOWN: "It is unknown whether the results are right.",
    Outcome.VOID: "The station itself failed: the run shows nothing about the system.",
    Outcome.BROKEN_OFF: "A component died: only what was measured until then is shown.",
    Outcome.INTERRUPTED: "The run was stopped: only what was measured until then is shown.",
}
_BY_STATUS = {Status.INTERRUPTED: Outcome.INTERRUPTED, Status.FAILED: Outcome.BROKEN_OFF}
_BY_VERDICT = {Verdict.VOID: Outcome.VOID, Verdict.INVALID: Outcome.INVALID}


_ALONE = "Every message that was sent is in the broker once, and every threshold held."


def meaning_of(summary: Summary) -> str:
    """The outcome in a sentence."""
    found = outcome_of(summary)
    return _ALONE if found is Outcome.PASSED and summary.without_system else found.meaning


def outcome_of(summary: Summary) -> Outcome:
    """The first rule that applies; `docs/architecture.md` has the contract."""
    found = _BY_STATUS.get(summary.status) or _BY_VERDICT.get(summary.verdict)
    if found is not None:
        return found
    if summary.sustained is False:
        return Outcome.NOT_SUSTAINED
    if not all(threshold.passed for threshold in summary.thresholds):
        return Outcome.THRESHOLD_FAILED
    return Outcome.PASSED if summary.verdict is Verdict.VALID else Outcome.UNKNOWN
