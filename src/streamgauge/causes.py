"""The cause of an error in one line, and the line of the user's own code where it arose."""

from __future__ import annotations

import os
import re
import traceback
from pathlib import Path

from pydantic import ValidationError

LONGEST = 300
_TRACEBACK = "Traceback (most recent call last):\n"
_ADVICE = {
    "UNRESOLVED_COLUMN": "use a column that is there, or correct its name",
    "CANNOT_PARSE_INTERVAL": "write a duration with its unit, such as `5 seconds`",
    "SESSION_OR_CONTEXT_NOT_EXISTS": "move it into the function: Spark is not there yet when the "
    "file is read",
    "STREAMING_OUTPUT_MODE": 'group by a window of `event_time`, or use output_mode="update"',
    "ModuleNotFoundError": "correct the import, or install the package where streamgauge is",
    "NameError": "define or import that name",
    "SyntaxError": "correct the Python of that line",
}
"""By a word of the cause."""


def cause_of(error: BaseException) -> str:
    """`KeyError: 'threshold'`; of a long text of Spark's, the line that tells most."""
    name, text = type(error).__name__, str(error)
    if isinstance(error, ValidationError):
        details = error.errors()[0]
        name, message = error.title, details["msg"].removeprefix("Value error, ")
        text = ": ".join([*filter(None, [".".join(map(str, details["loc"]))]), message])
    elif _TRACEBACK in text:
        # The innermost traceback, such as that of a Python worker: the cause is at its end.
        lines = text.rpartition(_TRACEBACK)[2].splitlines()
        return _tidy(next((line for line in lines if line[:1].strip()), name))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines[1:] if re.search(r"(Error|Exception): ", line)]
    if causes:
        return _tidy(causes[-1])
    message = lines[0].rpartition("terminated with exception: ")[2] if lines else ""
    return _tidy(f"{name}: {message}" if message else name)


def _tidy(cause: str) -> str:
    """Without the packages of the exception's name and the codes for programs."""
    cause = re.sub(r"^(?:Caused by: )?(?:\w+\.)+(?=\w+:)", "", cause)
    cause = re.sub(r"\s*SQLSTATE: \w+;?|\[[A-Z_]+(\.[A-Z_]+)*\] ", "", cause)
    return cause[:LONGEST]


def line_of(error: BaseException, file: str) -> str | None:
    """`my_query.py:24`: the innermost line of that file, or of one beside it, with the error."""
    folder = Path(file).parent
    # Of an expression that fails in the JVM, Spark's text names the line.
    text = re.findall(rf'({re.escape(str(folder))}/[^/":\n]+)(?:", line |:)(\d+)', str(error))
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        frames.append((str(error.filename), error.lineno))
    own = [(path, line) for path, line in [*text, *frames] if Path(path).parent == folder]
    return place(*own[-1]) if own else None


def place(path: str, line: object) -> str:
    """The path as short as it can be, for the folder of the user."""
    relative = os.path.relpath(path)
    return f"{path if relative.startswith('..') else relative}:{line}"


def advice_on(cause: BaseException) -> str:
    """What to do about an error in the user's code."""
    text = f"{type(cause).__name__} {cause}"
    return next((fix for word, fix in _ADVICE.items() if word in text), "correct that line")
