"""`streamgauge data`: what is refused, before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from .calling import call


def refused(*arguments: str, code: int = 2) -> str:
    answer = call("data", "espbench", *arguments)
    assert answer.code == code, answer.err
    assert "fix: " in answer.err
    assert "starting Spark" not in answer.err
    return answer.err


def test_a_folder_with_files_is_not_touched_without_force(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    assert "is not empty" in refused("--output", str(folder))
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]


def test_something_must_be_done_with_the_data() -> None:
    assert "--output" in refused()


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--scale", "0", "scale"),
        ("--scale", "many", "scale"),
        ("--rows", "0", "rows"),
        ("--seed", "-1", "seed"),
        ("--now", "soon", "`soon` is not a time"),
        ("--sensors", "nothing.txt", "nothing.txt"),
        ("--database", "mysql://here", "`mysql`"),
    ],
)
def test_a_wrong_value_is_refused(tmp_path: Path, option: str, value: str, said: str) -> None:
    assert said in refused("--output", str(tmp_path / "out"), option, value)


def test_a_sensor_file_of_another_form_is_refused_by_line(tmp_path: Path) -> None:
    (tmp_path / "debs.txt").write_text("a\tb\n")
    given = ("--output", str(tmp_path / "out"), "--sensors", str(tmp_path / "debs.txt"))
    assert "line 1 has 2 values" in refused(*given)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "cannot write" in refused("--output", str(tmp_path / "file" / "out"), code=5)


def test_a_database_that_does_not_answer_is_noticed_at_once() -> None:
    refused("--database", "postgresql://nobody@127.0.0.1:1/none", code=5)
