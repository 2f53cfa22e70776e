"""Completion, as the functions that a shell loads call it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete

from streamgauge.cli.app import COMPLETION, PROGRAM, commands

from . import made_up


def completed(*words: str) -> list[str]:
    """The names that fit the last word."""
    *before, typed = words
    found = BashComplete(commands, {}, PROGRAM, COMPLETION).get_completions(list(before), typed)
    return [item.value for item in found if item.type == "plain"]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["val"], ["validate"]),
        (
            ["list", ""],
            [
                *("experiments", "queries", "channels", "systems"),
                "policies",
                "schedules",
                "services",
                "faults",
                "runs",
            ],
        ),
        (["list", "sch"], ["schedules"]),
        (["list", "queries", "gaming.j"], ["gaming.join"]),
        (["list", "experiments", "quick"], ["quickstart", "quickstart-kafka"]),
        (["list", "nonsense", "x"], []),
        (["run", "max"], ["max-throughput"]),
        (["validate", "max"], ["max-throughput"]),
        (["run", "--re"], ["--resume"]),
    ],
)
def test_names_are_completed(words: list[str], names: list[str]) -> None:
    assert completed(*words) == names


def test_an_experiment_may_be_a_file_too() -> None:
    complete = BashComplete(commands, {}, PROGRAM, COMPLETION)
    # In bash an item of type file removes the names before it.
    assert complete.get_completions(["run"], "x")[0].type == "file"


@pytest.mark.parametrize(
    "words", [["report"], ["compare"], ["compare", "x"], ["run", "--resume"], ["list", "runs"]]
)
def test_runs_are_completed_the_newest_first(words: list[str], runs: Path) -> None:
    for _ in range(2):
        made_up.stored(runs, made_up.summary())
    command, *others = words
    assert completed(command, "--runs-dir", str(runs), *others, "2026") == [
        "2026-01-02-2-quickstart",
        "2026-01-02-1-quickstart",
    ]


def test_the_line_of_the_documentation_loads_it_into_bash() -> None:
    script = f"""
        PATH={Path(sys.executable).parent}:$PATH
        eval "$({COMPLETION}=bash_source streamgauge)"
        COMP_WORDS=(streamgauge run max) COMP_CWORD=2
        _streamgauge_completion streamgauge
        echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "max-throughput", done.stderr
