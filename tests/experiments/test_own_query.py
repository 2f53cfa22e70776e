"""A user's own query that is wrong; a right one is run with the others on Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.experiments.planning.files import read_experiment
from streamgauge.measure.latency import QUANTILES
from tests.commands import command, options


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import nothing_of_that_name\n", "nothing_of_that_name"),
        ("def other(): ...\n", "has no `my_query`"),
        ("my_query = 5\n", "is not a query"),
    ],
)
def test_a_query_file_that_is_wrong_is_explained(
    tmp_path: Path, source: str, expected: str
) -> None:
    command(tmp_path, "new", "my_query")
    (tmp_path / "my_query.py").write_text(source)
    done = command(tmp_path, "validate", "my_query.yaml")
    assert done.returncode == 2
    assert expected in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


def test_a_mistake_in_the_function_ends_the_run_before_the_load(tmp_path: Path) -> None:
    command(tmp_path, "new", "my_query")
    file = tmp_path / "my_query.py"
    file.write_text(file.read_text().replace('"temperature")', '"temprature")'))
    lines = file.read_text().splitlines()
    (at_fault,) = [number for number, line in enumerate(lines, 1) if ".agg(" in line]
    small = {"load.rate": 1_000, "duration": "600 s"}
    done = command(tmp_path, "run", "my_query.yaml", *options(small))
    assert done.returncode == 2, done.stderr
    assert f"error: workload.query: my_query.py:{at_fault} AnalysisException: " in done.stderr
    assert "fix: use a column that is there" in done.stderr
    assert "died" not in done.stderr
    assert done.stdout == ""


def test_the_thresholds_of_a_new_query_need_few_results(tmp_path: Path) -> None:
    """Six keys in windows of 5 s give 54 results in a minute; a p99 needs 1,000."""
    command(tmp_path, "new", "my_query")
    experiment, _ = read_experiment(str(tmp_path / "my_query.yaml"))
    figures = {threshold.figure.rpartition(".")[2] for threshold in experiment.thresholds}
    assert figures
    assert not figures & QUANTILES.keys()
