"""Parts found by name; a file of the user's that cannot be loaded is named with its error."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge import plugins
from streamgauge.errors import ExperimentError


@pytest.mark.parametrize("group", ["queries", "channels", "systems", "policies", "schedules"])
@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("import sys; sys.exit(0)", "SystemExit: 0"),
        ("raise SystemExit", "SystemExit"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_file_that_ends_the_interpreter_is_refused(
    tmp_path: Path, group: str, line: str, error: str
) -> None:
    """`validate` and `run` would otherwise print nothing and exit with 0."""
    (tmp_path / "mine.py").write_text(f"{line}\n\ndef part(): ...\n")
    with pytest.raises(ExperimentError, match=r"mine\.py:1 ") as caught:
        plugins.load(group, "mine.py:part", key="system.name", base=tmp_path)
    assert error in caught.value.cause


@pytest.mark.parametrize(
    ("source", "cause", "fix"),
    [
        ("import os\nimport nothing_of_that_name", "mine.py:2 ModuleNotFoundError: No", "install"),
        ("import os\ndef part(:", "mine.py:2 SyntaxError: ", "correct the Python"),
        ("import os\n\npart = F.lit(1)", "mine.py:3 NameError: name 'F' is not", "import that"),
        (
            "from streamgauge import Keys\nKeys(size=0)",
            "mine.py:2 Keys: size: Input should be greater than or equal to 1",
            "correct that line",
        ),
    ],
)
def test_the_line_at_fault_is_named_with_advice(
    tmp_path: Path, source: str, cause: str, fix: str
) -> None:
    (tmp_path / "mine.py").write_text(source)
    with pytest.raises(ExperimentError) as caught:
        plugins.load("queries", "mine.py:part", key="workload.query", base=tmp_path)
    assert cause in caught.value.cause
    assert fix in caught.value.fix


def test_a_file_that_is_not_there_is_no_fault_of_a_line(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match=r"cannot load `mine.py`: no file") as caught:
        plugins.load("queries", "mine.py:part", key="workload.query", base=tmp_path)
    assert "relative to the experiment file" in caught.value.fix


def test_a_wrong_column_in_a_file_is_named_with_its_cause(tmp_path: Path) -> None:
    """And not with the page of pydantic about it."""
    column = 'Choice(values=("a", "b"), weights=(0.5, 0.4))'
    (tmp_path / "mine.py").write_text(f"from streamgauge import Choice\n\nCHOICE = {column}\n")
    with pytest.raises(ExperimentError) as caught:
        plugins.load("queries", "mine.py:part", key="workload.query", base=tmp_path)
    cause = "mine.py:3 Choice: the weights add up to 0.9; they are shares and must add up to 1"
    assert caught.value.problem.endswith(cause)
