from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from . import made_up
from .calling import call


def test_the_latest_run_by_default(runs: Path) -> None:
    made_up.stored(runs, made_up.summary())
    latest = made_up.stored(runs, made_up.summary(name="second"))
    answer = call("report", "--runs-dir", str(runs))
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == f"report: {latest.report}\n"
    assert "second" in latest.report.read_text()


@pytest.mark.parametrize("by_path", [True, False])
def test_a_run_by_name_or_by_path(runs: Path, by_path: bool) -> None:
    run = made_up.stored(runs, made_up.summary())
    made_up.stored(runs, made_up.summary())
    wanted = str(run.path) if by_path else run.path.name
    assert call("report", wanted, "--runs-dir", str(runs)).code == 0
    assert run.report.exists()


def test_a_quick_run_is_stamped(runs: Path) -> None:
    made_up.stored(runs, made_up.summary(quick=True))
    answer = call("report", "--runs-dir", str(runs))
    assert "quick run: the numbers are meaningless" in answer.err


def test_it_can_be_opened_in_the_browser(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: bool(opened.append(address)))
    run = made_up.stored(runs, made_up.summary())
    answer = call("report", "--open", "--runs-dir", str(runs))
    assert opened == [run.report.as_uri()]
    assert "no web browser was found" in answer.err


@pytest.mark.parametrize("content", ["{", "{}", '{"name": 5}', "\udcff"])
def test_a_damaged_summary_is_reported(runs: Path, content: str) -> None:
    run = made_up.stored(runs, made_up.summary())
    run.summary.write_bytes(content.encode(errors="surrogateescape"))
    answer = call("report", "--runs-dir", str(runs))
    assert answer.code == 2
    assert "cannot be read" in answer.err


def test_a_run_without_series_still_has_a_report(runs: Path) -> None:
    run = made_up.stored(runs, made_up.summary())
    run.series.unlink()
    assert call("report", "--runs-dir", str(runs)).code == 0


def test_a_run_that_was_killed_has_no_report(runs: Path) -> None:
    made_up.stored(runs, None)
    answer = call("report", "--runs-dir", str(runs))
    assert answer.code == 2
    assert "has no summary" in answer.err


def test_no_run_at_all(runs: Path) -> None:
    answer = call("report", "--runs-dir", str(runs))
    assert answer.code == 2
    assert "no run" in answer.err


def test_a_report_that_cannot_be_written_is_reported(runs: Path) -> None:
    run = made_up.stored(runs, made_up.summary())
    run.report.mkdir()
    answer = call("report", "--runs-dir", str(runs))
    assert answer.code == 5
    assert str(run.report) in answer.err
    shutil.rmtree(run.report)
