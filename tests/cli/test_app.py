from __future__ import annotations

import json
import subprocess
import sys

import pytest

from streamgauge.cli.app import COMMANDS
from streamgauge.version import __version__

from .calling import call


def test_help_lists_the_commands_in_the_order_of_the_work() -> None:
    answer = call("--help")
    assert answer.code == 0
    listed = [line.split()[0] for line in answer.out.splitlines() if line.startswith("  ")]
    assert [word for word in listed if word in COMMANDS] == [
        "doctor",
        "list",
        "new",
        "validate",
        "run",
        "calculate",
        "report",
        "compare",
        "dual",
        "services",
        "data",
        "clean",
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    answer = call(name, "--help")
    assert answer.code == 0
    assert f"Usage: streamgauge {name}" in answer.out


def test_without_arguments_the_help_is_shown() -> None:
    assert call() == call("--help")


def test_version() -> None:
    assert call("--version").out == f"streamgauge {__version__}\n"


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys, json; from streamgauge.cli import main; main(['--help'])\n"
        "print(json.dumps(sorted(m for m in sys.modules if '.' not in m)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    loaded = json.loads(done.stderr)
    assert "click" in loaded
    assert not {"pyspark", "py4j", "pyarrow", "numpy", "pandas", "pydantic"} & set(loaded)


@pytest.mark.parametrize(
    ("arguments", "cause", "fix"),
    [
        (["rnu"], "no command `rnu`", "did you mean `run`?"),
        (["xyzzy"], "no command `xyzzy`", "choose one of `doctor`, `list`"),
        (["run", "quickstart", "--quik"], "--quik", "did you mean `--quick`?"),
        (["--hlep"], "--hlep", "did you mean `--help`?"),
        (["run"], "EXPERIMENT", "`streamgauge run --help` shows how"),
        (["clean", "--keep", "-1"], "--keep", "`streamgauge clean --help` shows how"),
        (["list", "systmes"], "systmes", "did you mean `systems`?"),
        (["list", "xyzzy"], "xyzzy", "choose one of experiments"),
        (["list", "queries", "gaming.jion"], "gaming.jion", "did you mean `gaming.join`?"),
        (["run", "quickstat"], "quickstat", "did you mean `quickstart`?"),
        (["run", "no/such/file.yaml"], "no/such/file.yaml", "streamgauge list experiments"),
        (["run", "quickstart", "--set", "load.rate"], "--set load.rate", "load.rate=200_000"),
        (["report", "no-such-run"], "no-such-run", "`streamgauge list runs`"),
    ],
)
def test_wrong_usage_exits_with_2_and_a_fix(arguments: list[str], cause: str, fix: str) -> None:
    answer = call(*arguments)
    assert answer.code == 2
    assert answer.out == ""
    first, second = answer.err.splitlines()
    assert first.startswith("error: ")
    assert cause in first
    assert second.startswith("fix: ")
    assert fix in second


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m streamgauge.cli list --json | true"
    script = f'{command}; echo "${{PIPESTATUS[0]}}"'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    # It depends on who is first whether the output is still taken.
    assert done.stdout.strip() in ("0", "141")
    assert done.stderr == ""
