"""Pipelines, their cuts, and what is refused before anything starts."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamgauge import dual
from streamgauge.dual.spark.building import divided
from streamgauge.dual.spark.folder import Folder, Standing
from streamgauge.dual.spark.following import Steps
from streamgauge.dual.spark.segment import check_segments
from streamgauge.errors import StreamgaugeError


def _pipeline(*names: str) -> dual.Pipeline:
    return dual.Pipeline("p", [dual.Operation(name, lambda rows: rows) for name in names])


@pytest.mark.parametrize(
    ("cuts", "expected"),
    [
        ("none", [["a", "b", "c"]]),
        ("every", [["a"], ["b"], ["c"]]),
        (["b"], [["a", "b"], ["c"]]),
        (["c"], [["a", "b", "c"]]),
        (["a", "b"], [["a"], ["b"], ["c"]]),
    ],
)
def test_cuts_divide_the_operations(cuts: Any, expected: list[list[str]]) -> None:
    found = divided(_pipeline("a", "b", "c"), cuts)
    assert [[one.name for one in segment] for segment in found] == expected


def test_mistakes_in_a_pipeline_are_named() -> None:
    with pytest.raises(StreamgaugeError, match="two operations `a`"):
        _pipeline("a", "a")
    with pytest.raises(StreamgaugeError, match="cannot be a name"):
        _pipeline("A b")
    with pytest.raises(StreamgaugeError, match="no operation `z` to cut behind"):
        divided(_pipeline("a"), ["z"])
    with pytest.raises(StreamgaugeError, match="has no operation"):
        divided(_pipeline(), "none")


def _segment(*steps: str, returns: str = "value", deterministic: bool = True) -> Any:
    found = Steps(steps, deterministic)
    columns = SimpleNamespace(names=returns.split())
    return SimpleNamespace(
        names=("a",), name="a", steps=found, stateful=found.stateful > 0, returns=columns
    )


@pytest.mark.parametrize(
    ("segments", "problem"),
    [
        ([_segment("Repartition")], "cannot be followed through `a`"),
        ([_segment("Project", deterministic=False)], "another result when a record is processed"),
        ([_segment("Aggregate"), _segment("Aggregate")], "2 operations with state"),
        ([_segment("Project", returns="word")], "no column `value`"),
        ([_segment("Aggregate", returns="value")], "without a column `key`"),
    ],
)
def test_what_could_not_be_exact_is_refused(segments: list[Any], problem: str) -> None:
    with pytest.raises(StreamgaugeError, match=problem):
        check_segments(segments)


def test_what_is_exact_is_not_refused() -> None:
    check_segments([_segment("Project"), _segment("Aggregate", returns="key value")])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = 1", "defines 0 pipelines"),
        ("1 / 0", "ZeroDivisionError"),
        ("from streamgauge import dual\na, b = dual.Pipeline('a'), dual.Pipeline('b')", "2 pipel"),
    ],
)
def test_a_file_without_one_pipeline_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "p.py"
    file.write_text(text)
    with pytest.raises(StreamgaugeError, match=problem):
        dual.load_pipeline(file)


def test_a_folder_remembers_and_forgets(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "dual")
    assert folder.read() is None
    standing = Standing(operations=(("a",),), topics=("in", "out"), begins=({0: 3}, {0: 0}), pid=1)
    folder.write(standing)
    assert Folder(tmp_path / "dual").read() == standing
    state = folder.checkpoint(0, stateful=True)
    (state / "state").mkdir(parents=True)
    # Nothing was committed: Spark would refuse what is there.
    assert folder.checkpoint(0, stateful=True) == state
    assert not state.exists()
    (state / "commits").mkdir(parents=True)
    (state / "commits" / "0").write_text("v1")
    assert folder.checkpoint(0, stateful=True).exists()
    # Without state every run has a checkpoint of its own.
    assert folder.checkpoint(1, stateful=False) != folder.checkpoint(1, stateful=False)
