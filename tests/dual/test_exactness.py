"""A pipeline that is killed and one that switches, for real; `tests.dual.exactness` has more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.dual.exactness import DROPPED, Case, Found

ROOT = Path(__file__).parents[2]
KILLED, WITH_STATE = 3, 4
"""Seeds: a runtime that is killed, without state; switches of five segments, one with state."""


@pytest.mark.parametrize(("kind", "seed"), [("--kills", KILLED), ("--runs", WITH_STATE)])
def test_results_are_exact_across_kills_and_switches(broker: str, kind: str, seed: int) -> None:
    others = {"--kills": "0", "--runs": "0", kind: "1", "--first-seed": str(seed)}
    given = [word for option in others.items() for word in option]
    argv = [sys.executable, "-m", "tests.dual.exactness", "--brokers", broker, *given]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=400, check=False)
    assert "1 of 1 exact" in done.stdout, done.stdout + done.stderr[-3_000:]


class _Case(Case):
    """Without a broker: its lines and results are given."""

    def __init__(self, lines: list[str], rows: list[dict[str, object]], stateful: bool) -> None:
        self.sender = type("Lines", (), {"lines": lines})()  # type: ignore[assignment]
        self.stateful, self._rows = stateful, rows

    def _results(self) -> list[dict[str, object]]:
        return self._rows


def test_the_check_finds_what_is_lost_doubled_or_wrong() -> None:
    lines = ["a b", f"a {DROPPED}"]
    words: list[dict[str, object]] = [
        {"id": 0, "word": "a"},
        {"id": 0, "word": "b"},
        {"id": 1, "word": "a"},
    ]
    assert _Case(lines, words, stateful=False).compare(Found(0)).exact
    assert _Case(lines, words[1:], stateful=False).compare(Found(0)).missing == 1
    assert _Case(lines, [*words, words[0]], stateful=False).compare(Found(0)).extra == 1
    counts: list[dict[str, object]] = [{"word": "a", "count": 2}, {"word": "b", "count": 1}]
    assert _Case(lines, counts, stateful=True).compare(Found(0)).exact
    assert _Case(lines, counts[1:], stateful=True).compare(Found(0)).missing == 1
    doubled: list[dict[str, object]] = [*counts, {"word": "a", "count": 3}]
    assert _Case(lines, doubled, stateful=True).compare(Found(0)).wrong == 1
