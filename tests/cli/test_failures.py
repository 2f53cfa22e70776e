from __future__ import annotations

import errno
import re
from pathlib import Path
from typing import NoReturn

import click
import pytest

from streamgauge.cli.failures import exit_code_of
from streamgauge.cli.terminal import Session
from streamgauge.errors import ComponentError, ExperimentError, RunInterrupted, StreamgaugeError


def failing(error: BaseException) -> NoReturn:
    raise error


def code_of(error: BaseException, session: Session | None = None) -> int:
    return exit_code_of(lambda: failing(error), session or Session())


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (StreamgaugeError("x"), 5),
        (ComponentError("x"), 5),
        (ExperimentError("load.rate", "x"), 2),
        (RunInterrupted("x"), 130),
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
        (click.UsageError("x"), 2),
        (click.ClickException("x"), 2),
        (click.exceptions.Exit(7), 7),
        (BrokenPipeError(), 141),
        (ZeroDivisionError("x"), 5),
    ],
)
@pytest.mark.usefixtures("capsys")  # whose streams have no file that could be closed
def test_exit_code(error: BaseException, code: int) -> None:
    assert code_of(error) == code


def test_cause_fix_and_log_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    code_of(ComponentError("spark died", fix="give it memory", log=Path("runs/x/logs/spark.log")))
    printed = capsys.readouterr()
    assert printed.err == "error: spark died\nfix: give it memory\nlog: runs/x/logs/spark.log\n"
    assert printed.out == ""


def test_text_that_looks_like_markup_is_printed_unchanged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code_of(ComponentError("cannot reach local[2] [bold]", fix=":warning: [/]"))
    assert capsys.readouterr().err == "error: cannot reach local[2] [bold]\nfix: :warning: [/]\n"


def test_an_interrupted_run_prints_its_directory(capsys: pytest.CaptureFixture[str]) -> None:
    error = RunInterrupted("interrupted")
    error.run = Path("runs/x")
    code_of(error)
    assert capsys.readouterr().err == "interrupted: what was measured until then is in runs/x\n"


def test_an_interrupted_study_prints_how_to_resume(capsys: pytest.CaptureFixture[str]) -> None:
    error = RunInterrupted("interrupted", fix="go on with `streamgauge run --resume x`")
    error.run = Path("runs/x")
    code_of(error)
    assert capsys.readouterr().err.endswith("\nfix: go on with `streamgauge run --resume x`\n")


def test_a_bug_shows_no_traceback_and_keeps_it_in_a_log(
    capsys: pytest.CaptureFixture[str], temporary: Path
) -> None:
    code_of(ZeroDivisionError("division by zero"))
    printed = capsys.readouterr().err
    assert "error: unexpected ZeroDivisionError: division by zero; this is a bug" in printed
    assert "Traceback" not in printed
    log = re.search("^log: (.*)$", printed, re.MULTILINE)
    assert log is not None
    assert Path(log[1]).parent == temporary
    assert "in failing" in Path(log[1]).read_text()


def test_a_full_disk_is_no_bug_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of(OSError(errno.ENOSPC, "No space left on device", "runs/x/results")) == 5
    printed = capsys.readouterr().err
    assert printed.startswith("error: no space left on device (runs/x/results)\nfix: make room")
    assert "bug" not in printed


def test_a_bug_during_a_run_is_logged_with_the_run(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    code_of(ZeroDivisionError(), Session(logs=logs))
    (log,) = logs.iterdir()
    assert "ZeroDivisionError" in log.read_text()
