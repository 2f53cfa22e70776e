from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .calling import call


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    # Another test of this worker may have loaded files of the same names.
    for name in ("my_query", "my_own_query", "my_program"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return empty


def test_the_new_files_are_a_valid_experiment(folder: Path) -> None:
    answer = call("new", "my_own_query")
    assert (answer.code, answer.err) == (0, "")
    assert {path.name for path in folder.iterdir()} == {"my_own_query.py", "my_own_query.yaml"}
    # In a fresh process, as a user has it.
    done = subprocess.run(
        [sys.executable, "-m", "streamgauge.cli", "validate", "my_own_query.yaml"],
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    assert done.stdout.startswith("ok: my_own_query")


def test_the_new_program_is_a_valid_experiment_and_knows_nothing_of_streamgauge(
    folder: Path,
) -> None:
    answer = call("new", "--program", "my_program")
    assert (answer.code, answer.err) == (0, "")
    made = {"my_program_job.py", "my_program.py", "my_program.yaml"}
    assert {path.name for path in folder.iterdir()} == made
    assert all(name in answer.out for name in made)
    done = subprocess.run(
        [sys.executable, "-m", "streamgauge.cli", "validate", "my_program.yaml"],
        capture_output=True,
        text=True,
    )
    assert (done.stderr, done.stdout[:14]) == ("", "ok: my_program")
    tree = ast.parse((folder / "my_program_job.py").read_text())
    imported = {one.names[0].name for one in ast.walk(tree) if isinstance(one, ast.Import)}
    imported |= {str(one.module) for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)}
    assert imported == {"argparse", "json", "signal", "confluent_kafka"}


def test_the_next_steps_are_printed() -> None:
    answer = call("new", "my_own_query")
    for step in ("validate my_own_query.yaml", "run my_own_query.yaml --quick"):
        assert f"streamgauge {step}" in answer.out


def test_the_oracle_in_the_comment_is_right_python(folder: Path) -> None:
    call("new", "my_own_query")
    text = (folder / "my_own_query.py").read_text()
    oracle = text[text.index("# @my_own_query.oracle") :]
    tree = ast.parse(re.sub("(?m)^# ?", "", oracle))
    assert isinstance(tree.body[0], ast.FunctionDef)
    assert [one.arg for one in tree.body[0].args.kwonlyargs] == ["window"]


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("my-query", "`my_query`"),
        ("my query.py", "`my_query`"),
        ("my_query.yaml", "`my_query`"),
        ("../evil", "`evil`"),
        ("class", "such as `my_query`"),
        ("2nd", "such as `my_query`"),
        ("_hidden", "`hidden`"),
        ("größe", "such as `my_query`"),
        ("", "such as `my_query`"),
        ("x" * 65, "such as `my_query`"),
        ("json", "`my_json`"),
        ("streamgauge", "`my_streamgauge`"),
    ],
)
def test_a_name_that_cannot_work_is_refused(name: str, fix: str, folder: Path) -> None:
    answer = call("new", name)
    assert answer.code == 2
    assert f"error: `{name}`" in answer.err
    assert fix in answer.err.splitlines()[1]
    assert not list(folder.iterdir())


def test_existing_files_are_kept_unless_forced(folder: Path) -> None:
    kept = folder / "my_own_query.yaml"
    kept.write_text("precious")
    answer = call("new", "my_own_query")
    assert answer.code == 2
    assert "my_own_query.yaml exists already" in answer.err
    assert "--force" in answer.err
    assert kept.read_text() == "precious"
    assert not (folder / "my_own_query.py").exists()
    assert call("new", "my_own_query", "--force").code == 0
    assert kept.read_text() != "precious"
    assert call("new", "my_own_query", "--force").code == 0
