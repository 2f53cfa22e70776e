"""A user's own query, from `streamgauge new` to a verdict."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.loads import WIDE_MARKS


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "streamgauge.cli", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_new_makes_runs_and_is_valid(tmp_path: Path) -> None:
    assert command(tmp_path, "new", "my_query").returncode == 0
    shared = ["load.max_lag=2 s", f"load.marks={WIDE_MARKS}"]
    settings = ["duration=8 s", "load.rate=3000", "system.rehearsal=2", *shared]
    changes = [word for setting in settings for word in ("--set", setting)]
    done = command(tmp_path, "run", "my_query.yaml", *changes, "--set", "thresholds=[]", "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["verdict"] == "valid"
    assert "same function" in summary["validation"]["oracle"]
    assert summary["validation"]["expected"] > 0
    assert (tmp_path / "runs" / "latest" / "report.html").is_file()


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import nothing_of_that_name\n", "nothing_of_that_name"),
        ("def other(): ...\n", "has no `my_query`"),
        ("my_query = 5\n", "is not a query"),
    ],
)
def test_a_query_file_that_is_wrong_is_explained(tmp_path: Path, source: str, told: str) -> None:
    command(tmp_path, "new", "my_query")
    (tmp_path / "my_query.py").write_text(source)
    done = command(tmp_path, "validate", "my_query.yaml")
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr + done.stdout
