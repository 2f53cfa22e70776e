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
from streamgauge.errors import ExitCode, RunInterrupted, StreamgaugeError

BROKEN_PIPE = 141
"""What a shell reports of a program that wrote to a reader that had gone."""

_FIXES = {
    errno.ENOSPC: "make room on the disk, such as with `streamgauge clean`",
    errno.EDQUOT: "make room on the disk, such as with `streamgauge clean`",
    errno.EROFS: "choose a folder that can be written to (--runs-dir, TMPDIR)",
    errno.EACCES: "choose a folder that can be written to (--runs-dir, TMPDIR)",
    errno.ENOTDIR: "choose another folder (--runs-dir, TMPDIR)",
    errno.EMFILE: "allow more open files (`ulimit -n`)",
    errno.ENOMEM: "end other programs, or lower `system.memory`",
}
"""Refusals of the operating system that are no bug of ours, each with what helps."""


def exit_code_of(work: Callable[[], int], session: Session) -> int:
    """Does the work; whatever goes wrong is said on standard error, without a traceback."""
    _never_fail_on_a_character()
    try:
        try:
            code = work()
            sys.stdout.flush()
            return code
        except Exception as error:
            return _explained(error, session)
        except KeyboardInterrupt:
            session.note(("interrupted", "bold yellow"))
            return ExitCode.INTERRUPTED
    except BrokenPipeError:
        _forget_output()
        return BROKEN_PIPE


def _explained(error: Exception, session: Session) -> int:
    if isinstance(error, BrokenPipeError):
        raise error
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.Abort):
        session.note(("interrupted", "bold yellow"))
        return ExitCode.INTERRUPTED
    if isinstance(error, RunInterrupted):
        where = f"what was measured until then is in {error.run}" if error.run else error.cause
        _say(session, "interrupted", where, error.fix, style="bold yellow")
        return error.exit_code
    if isinstance(error, StreamgaugeError):
        _say(session, "error", error.cause, error.fix, error.log)
        return error.exit_code
    if isinstance(error, click.UsageError):
        _say(session, "error", *_usage(error))
        return ExitCode.USAGE
    if isinstance(error, click.ClickException):
        _say(session, "error", error.format_message())
        return ExitCode.USAGE
    if isinstance(error, OSError) and error.errno in _FIXES:
        where = f" ({error.filename})" if error.filename else ""
        _say(session, "error", f"{str(error.strerror).lower()}{where}", _FIXES[error.errno])
        return ExitCode.COMPONENT
    return _bug(error, session)


def _usage(error: click.UsageError) -> tuple[str, str]:
    """Click's own complaint in our form."""
    # Of a wrong option click also knows what was meant; that belongs into the fix.
    near = getattr(error, "possibilities", None)
    cause = (error.message if near else error.format_message()).rstrip(".")
    program = error.ctx.command_path if error.ctx else "streamgauge"
    fix = f"did you mean `{near[0]}`?" if near else f"`{program} --help` shows how"
    return cause[:1].lower() + cause[1:], fix


def _bug(error: Exception, session: Session) -> int:
    what = f"{type(error).__name__}: {error}".strip().rstrip(":")
    _say(
        session,
        "error",
        f"unexpected {what}; this is a bug in streamgauge",
        "please report it with the log",
        _traceback_file(error, session.logs),
    )
    return ExitCode.COMPONENT


def _say(
    session: Session,
    label: str,
    cause: str,
    fix: str = "",
    log: Path | None = None,
    *,
    style: str = "bold red",
) -> None:
    session.note((f"{label}:", style), f" {cause}")
    if fix:
        session.note(("fix:", "bold"), f" {fix}")
    if log is not None:
        session.note(("log:", "bold"), f" {log}")


def _traceback_file(error: Exception, logs: Path | None) -> Path | None:
    """With the logs of the run, or among the temporary files where there is no run."""
    text = "".join(traceback.format_exception(error))
    for folder in (logs, Path(tempfile.gettempdir())):
        try:
            if folder is not None and folder.is_dir():
                handle, name = tempfile.mkstemp(".log", "streamgauge-error-", folder)
                with os.fdopen(handle, "w", errors="replace") as file:
                    file.write(text)
                return Path(name)
        except OSError:
            continue
    return None


def _never_fail_on_a_character() -> None:
    """A terminal that knows only ASCII gets `?` for a mark, not an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def _forget_output() -> None:
    """The reader has gone: also what Python flushes at the end must not fail on it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            os.dup2(nowhere, stream.fileno())
        except (OSError, ValueError):
            continue
    os.close(nowhere)
