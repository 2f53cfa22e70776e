"""Calls the command line in this very process, as a shell would from outside."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest import mock

from streamgauge.cli import main

# What makes rich believe in a terminal or in colours, wherever the tests run.
_COLOURS = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "STREAMGAUGE_RUNS_DIR")


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str


class _Keyboard(io.StringIO):
    def isatty(self) -> bool:
        return True


def call(
    *arguments: str, env: Mapping[str, str] | None = None, stdin: str = "", keyboard: bool = False
) -> Answer:
    """Exit code, standard output and standard error of a command line."""
    given = _Keyboard(stdin) if keyboard else io.StringIO(stdin)
    out, err = io.StringIO(), io.StringIO()
    clean = {name: value for name, value in os.environ.items() if name not in _COLOURS}
    with ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, {**clean, **(env or {})}, clear=True))
        stack.enter_context(mock.patch.object(sys, "stdin", given))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        code = main(list(arguments))
    return Answer(int(code), out.getvalue(), err.getvalue())
