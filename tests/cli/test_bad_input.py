"""Whatever is given: a documented exit code, a short message with a fix, no traceback, no hang."""

from __future__ import annotations

import os
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy

from streamgauge.cli import failures, spark_check
from streamgauge.errors import UsageError
from streamgauge.experiments.planning import study
from streamgauge.experiments.running import runner
from streamgauge.experiments.running.run_directory import RunDirectory

from . import bad_input, made_up
from .bad_input import FILES, answered, command_lines, files

LINES_GENERATED = 300
FILES_GENERATED = 250


class Started(BaseException):
    """Something was started; a command line that nothing is wrong with may do so."""


def start(*_: object, **__: object) -> None:
    raise Started


@pytest.fixture(autouse=True)
def _nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "execute", start)
    monkeypatch.setattr(runner.Begun, "proceed", start)
    monkeypatch.setattr(spark_check, "starts", start)
    monkeypatch.setattr(webbrowser, "open", lambda *_: True)


@contextmanager
def empty_folder() -> Iterator[Path]:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)


def answers(strategy: SearchStrategy[Any], examples: int, give: Callable[[Any], int]) -> list[int]:
    """The exit codes of generated input; those that started something are left out."""
    codes: list[int] = []

    @given(strategy)
    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    def each(given: Any) -> None:
        with empty_folder():
            try:
                codes.append(give(given))
            except Started:
                return

    each()
    return codes


def validated(content: bytes) -> int:
    Path("bad.yaml").write_bytes(content)
    return answered("validate", "bad.yaml").code


def test_500_bad_files_and_command_lines_are_generated_or_listed() -> None:
    assert LINES_GENERATED + FILES_GENERATED + len(FILES) + len(DAMAGES) + len(PLACES) > 500


def test_generated_command_lines_are_answered() -> None:
    codes = answers(command_lines(), LINES_GENERATED, lambda line: answered(*line).code)
    assert codes.count(2) > LINES_GENERATED / 2


def test_generated_files_are_answered() -> None:
    codes = answers(files(), FILES_GENERATED, validated)
    assert set(codes) <= {0, 2}
    assert codes.count(2) > FILES_GENERATED / 2


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_would_cost_much_is_refused(name: str) -> None:
    content = FILES[name]
    with empty_folder():
        code = validated(content.encode() if isinstance(content, str) else content)
    assert code == 2


PLACES = {
    "a NUL": "a\0b",
    "a name of 300 letters": "x" * 300,
    "a path of 10,000 letters": "x/" * 5_000,
    "below a file": "/dev/null/x",
    "below /proc": "/proc/x",
    "a link to itself": "loop",
    "a link to nowhere": "nowhere",
    "a file": "file",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "command",
    [
        ("list", "runs"),
        ("report",),
        ("report", "x"),
        ("run", "--resume", "x"),
        ("clean", "--dry-run"),
        ("doctor", "--no-spark"),
        ("compare", "published:table-2/spark/2-nodes", "published:table-2/spark/4-nodes"),
    ],
    ids=" ".join,
)
def test_a_folder_of_runs_that_cannot_be_is_refused(place: str, command: tuple[str, ...]) -> None:
    with empty_folder():
        Path("loop").symlink_to("loop")
        Path("nowhere").symlink_to("missing")
        Path("file").touch()
        answered(*command, "--runs-dir", PLACES[place])


@pytest.mark.parametrize("place", PLACES)
def test_a_run_is_not_begun_in_a_folder_that_cannot_be(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    with empty_folder():
        Path("loop").symlink_to("loop")
        Path("nowhere").symlink_to("missing")
        Path("file").touch()
        monkeypatch.setattr(runner.Begun, "proceed", start)
        assert answered("run", "quickstart", "--runs-dir", PLACES[place]).code in (2, 5)


DAMAGES: dict[str, bytes] = {
    "empty": b"",
    "cut off": b'{"name": "quick',
    "no JSON": b"name: x",
    "a list": b"[1, 2]",
    "a number": b"5",
    "null": b"null",
    "another file": b'{"a": 1}',
    "not UTF-8": b"\xff\xfe\x00",
    "a NUL": b'{"base": "a\\u0000b", "command": "x", "quick": false}',
    "nested without end": b"[" * 200_000,
    "many digits": b'{"format_version": ' + b"9" * 5_000 + b"}",
    "another version": b'{"format_version": 99}',
    "a version of another type": b'{"format_version": {"a": [1]}}',
    "a megabyte": b'{"name": "' + b"x" * 1_000_000 + b'"}',
}
STUDY = "workload: {query: gaming.aggregation}\nload: {rate: 1000}\nvary: {load.seed: [1, 2]}\n"


def stored(runs: Path) -> RunDirectory:
    """A study that was interrupted."""
    directory = made_up.stored(runs, made_up.summary(status="interrupted"))
    directory.experiment.write_text(STUDY)
    directory.write(
        directory.origin, runner.Origin(command="streamgauge run x", quick=False, base=runs)
    )
    return directory


def test_an_undamaged_study_would_be_resumed(runs: Path) -> None:
    with pytest.raises(Started):
        answered("run", "--resume", str(stored(runs).path))


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["summary.json", "origin.json", "experiment.yaml"])
def test_a_damaged_file_is_named_when_its_run_is_resumed(
    runs: Path, name: str, damage: str
) -> None:
    directory = stored(runs)
    (directory.path / name).write_bytes(DAMAGES[damage])
    try:
        answer = answered("run", "--resume", str(directory.path))
    except Started:
        # A base that is no folder any more is replaced by that of the run.
        assert (name, damage) == ("origin.json", "a NUL")
        return
    assert answer.code == 2
    assert name in answer.err or name == "experiment.yaml"


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["summary.json", "series.json"])
def test_a_damaged_run_is_refused_by_the_other_commands(runs: Path, name: str, damage: str) -> None:
    directory = stored(runs)
    (directory.path / name).write_bytes(DAMAGES[damage])
    assert answered("report", str(directory.path)).code == 2
    assert answered("compare", str(directory.path), str(directory.path)).code == 2
    assert answered("list", "runs", "--runs-dir", str(runs)).code == 0
    assert answered("clean", "--dry-run", "--runs-dir", str(runs)).code == 0


def test_a_damaged_trial_does_not_pass_for_one_that_is_not_finished(runs: Path) -> None:
    directory = stored(runs)
    assert not directory.finished
    directory.summary.write_text("{")
    with pytest.raises(UsageError, match=r"summary\.json cannot be read"):
        _ = directory.finished


def test_a_crash_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> None:
        raise KeyError("load")

    monkeypatch.setattr(study, "make_study", crash)
    with pytest.raises(AssertionError, match="this is a bug"):
        answered("validate", "quickstart")


def test_a_hang_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr(study, "make_study", hang)
    monkeypatch.setattr(bad_input, "MOST_CPU_S", 0.2)
    with pytest.raises(pytest.fail.Exception, match="no answer"):
        answered("validate", "quickstart")


def test_a_long_message_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "shortened", lambda text, *_: text)
    with pytest.raises(AssertionError, match="characters"):
        answered("list", "--" + "x" * 5_000)
