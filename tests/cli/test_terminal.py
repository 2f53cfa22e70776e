"""Tables on terminals of different widths."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from streamgauge.cli import terminal
from streamgauge.cli.results import show
from streamgauge.cli.terminal import Session

from . import made_up
from .calling import call
from .test_results import REPORT

SENTENCE = "Maximum sustainable throughput of the windowed aggregation"


def drawn(width: int, rows: list[tuple[str, ...]], *headings: str) -> list[str]:
    file = io.StringIO()
    Session(out=Console(file=file, width=width)).say_table(rows, *headings)
    return file.getvalue().splitlines()


def test_a_table_that_fits_is_one() -> None:
    lines = drawn(80, [("  master", "local[2]", "of Spark")], "  name", "default", "meaning")
    assert lines == ["  name     default    meaning", "  master   local[2]   of Spark"]


def test_the_last_column_is_wrapped_between_words_and_no_other() -> None:
    lines = drawn(48, [("  aggregation-over-time", SENTENCE)])
    assert lines == [
        "  aggregation-over-time   Maximum sustainable",
        "                          throughput of the",
        "                          windowed aggregation",
    ]


def test_headings_are_wrapped_and_figures_are_not() -> None:
    lines = drawn(25, [("x", "348 MB", "0.2 MB")], "role", "memory, max", "disk written")
    assert lines == [
        "       memory,   disk",
        "role   max       written",
        "x      348 MB    0.2 MB",
    ]


def test_a_table_that_is_too_wide_is_a_block_of_lines_for_each_row() -> None:
    rows = [("  2026-01-02-1-quickstart", "finished", "100,000/s", ""), ("  x", "", "", SENTENCE)]
    assert drawn(48, rows, "run", "status", "p99 (event time) of all", "about") == [
        "run",
        "  2026-01-02-1-quickstart",
        "    status                  finished",
        "    p99 (event time) of all 100,000/s",
        "  x",
        "    about Maximum sustainable throughput of the",
        "          windowed aggregation",
    ]


@pytest.mark.parametrize("kind", ["", "systems", "schedules", "runs"])
def test_no_table_of_a_list_is_wider_than_48_columns(
    kind: str, monkeypatch: pytest.MonkeyPatch, runs: Path
) -> None:
    made_up.stored(runs, made_up.summary())
    monkeypatch.setattr(terminal, "_WIDTH_WITHOUT_TERMINAL", 48)
    # Sentences are left to the terminal to wrap.
    monkeypatch.setattr(Session, "say", lambda *_: None)
    answer = call("list", *filter(None, [kind]), "--runs-dir", str(runs))
    assert answer.out
    assert max(map(len, answer.out.splitlines())) <= 48


def test_no_table_of_a_result_is_wider_than_48_columns() -> None:
    use = {"cpu_percent_mean": 143.0, "memory_mb_max": 3_840.0, "disk_mb_written": 50.0}
    file = io.StringIO()
    summary = made_up.summary(resources={"driver": use, "system": {**use, "network_mb": 97.0}})
    show(Session(out=Console(file=file, width=48)), summary, REPORT)
    _, *lines = file.getvalue().splitlines()
    tables = [line for line in lines if "   " in line.strip()]
    assert max(map(len, tables)) <= 48
    assert "3.84 GB   50 MB" in file.getvalue()
