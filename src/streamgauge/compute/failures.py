"""What a program on Spark could not do, as an error with cause and fix."""

from __future__ import annotations

from streamgauge.causes import advice_on, cause_of, line_of
from streamgauge.errors import ComponentError, ExperimentError, StreamgaugeError

_JVM_FIX = "see the log for the reason; for lack of memory raise `system.memory`"
_OTHER_FIX = "the log has Spark's own explanation; correct the query or its settings"
_JVM_GONE = ("Py4JNetworkError", "Answer from Java side is empty", "Connection refused")
"""Errors of Py4J when the JVM does not answer."""


def explained(
    error: BaseException, own_file: str | None = None, result_line: str | None = None
) -> StreamgaugeError:
    """An error that passed the user's own file is the user's to correct, at the line named.

    Where Spark refuses the query as a whole, `result_line` is.
    """
    if isinstance(error, StreamgaugeError):
        return error
    if any(sign in f"{type(error).__name__} {error}" for sign in _JVM_GONE):
        return ComponentError("Spark's JVM has ended", fix=_JVM_FIX)
    line = line_of(error, own_file) if own_file else None
    if line is None and type(error).__name__ == "AnalysisException":
        line = result_line
    if line is None:
        return ComponentError(cause_of(error), fix=_OTHER_FIX)
    problem = f"{line} {cause_of(error)}"
    return ExperimentError("workload.query", problem, fix=advice_on(error))
