"""The one place where errors become messages and exit codes."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

import click

from streamgauge.cli.terminal import Session
from streamgauge.errors import (
    LONGEST_FIX,
    ExitCode,
    RunInterrupted,
    StreamgaugeError,
    shortened,
)

BROKEN_PIPE = 141
"""The exit code that a shell reports for a program whose reader has ended."""
_MAKE_ROOM = "make room on the disk, such as with `streamgauge clean`"
_WRITABLE = "choose a folder that can be written to (--runs-dir, TMPDIR)"
_FIXES = {
    errno.ENOSPC: _MAKE_ROOM,
    errno.EDQUOT: _MAKE_ROOM,
    errno.EROFS: _WRITABLE,
    errno.EACCES: _WRITABLE,
    errno.ENOTDIR: "choose another folder (--runs-dir, TMPDIR)",
    errno.EMFILE: "allow more open files (`ulimit -n`)",
    errno.ENOMEM: "end other programs, or lower `system.memory`",
}
"""Errors of the operating system that are no bug of ours, each with its fix."""


def exit_code_of(work: Callable[[], int], session: Session) -> int:
    """Does the work; an error is printed on standard error, without a traceback."""
    _replace_unprintable_characters()
    try:
        try:
            code = work()
            sys.stdout.flush()
            return code
        except BrokenPipeError:
            raise
        except Exception as error:
            return _explained(error, session)
        except KeyboardInterrupt:
            return _interrupted(session)
    except BrokenPipeError:
        _discard_output()
        return BROKEN_PIPE


def _interrupted(session: Session) -> int:
    session.note(("interrupted", "bold yellow"))
    return ExitCode.INTERRUPTED


def _explained(error: Exception, session: Session) -> int:
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.Abort):
        return _interrupted(session)
    if isinstance(error, RunInterrupted):
        where = f"what was measured until then is in {error.run}" if error.run else error.cause
        _print(session, where, error.fix, label=("interrupted:", "bold yellow"))
        return error.exit_code
    if isinstance(error, StreamgaugeError):
        _print(session, error.cause, error.fix, error.log)
        return error.exit_code
    if isinstance(error, click.UsageError):
        _print(session, *_usage(error))
        return ExitCode.USAGE
    if isinstance(error, click.ClickException):
        _print(session, error.format_message())
        return ExitCode.USAGE
    if isinstance(error, OSError) and error.errno in _FIXES:
        where = f" ({error.filename})" if error.filename else ""
        _print(session, f"{str(error.strerror).lower()}{where}", _FIXES[error.errno])
        return ExitCode.COMPONENT
    what = f"{type(error).__name__}: {error}".strip().rstrip(":")
    cause = f"unexpected {what}; this is a bug in streamgauge"
    log = _traceback_file(error, session.logs)
    _print(session, cause, "please report it with the log", log)
    return ExitCode.COMPONENT


def _usage(error: click.UsageError) -> tuple[str, str]:
    """Cause and fix of an error that click found."""
    # The message for a wrong option already has click's suggestions; they belong into the fix.
    near = getattr(error, "possibilities", None)
    cause = (error.message if near else error.format_message()).rstrip(".")
    program = error.ctx.command_path if error.ctx else "streamgauge"
    fix = f"did you mean `{near[0]}`?" if near else f"`{program} --help` shows how"
    return cause[:1].lower() + cause[1:], fix


def _print(
    session: Session,
    cause: str,
    fix: str = "",
    log: Path | None = None,
    label: tuple[str, str] = ("error:", "bold red"),
) -> None:
    session.note(label, f" {shortened(cause)}")
    if fix:
        session.note(("fix:", "bold"), f" {shortened(fix, LONGEST_FIX)}")
    if log is not None:
        session.note(("log:", "bold"), f" {log}")


def _traceback_file(error: Exception, logs: Path | None) -> Path | None:
    """With the logs of the run, or among the temporary files where there is no run."""
    for folder in (logs, Path(tempfile.gettempdir())):
        try:
            if folder is not None and folder.is_dir():
                handle, name = tempfile.mkstemp(".log", "streamgauge-error-", folder)
                with os.fdopen(handle, "w", errors="replace") as file:
                    file.writelines(traceback.format_exception(error))
                return Path(name)
        except OSError:
            continue
    return None


def _replace_unprintable_characters() -> None:
    """A terminal that has only ASCII gets `?` for a mark, not an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def _discard_output() -> None:
    """The reader has ended: the flush at the exit of Python must not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            os.dup2(nowhere, stream.fileno())
        except (OSError, ValueError):
            continue
    os.close(nowhere)
