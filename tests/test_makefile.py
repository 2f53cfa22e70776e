from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parents[1] / "Makefile"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose tools are installed; its formatter finds a file that is not formatted."""
    binaries = tmp_path / ".venv" / "bin"
    binaries.mkdir(parents=True)
    for name in ("pyproject.toml", "constraints.txt", ".venv/.installed", ".venv/.installed-dev"):
        (tmp_path / name).touch()
    for tool, code in (("ruff", 1), ("mypy", 0)):
        script = binaries / tool
        script.write_text(f'#!/bin/sh\necho "{tool} $*"\nexit {code}\n')
        script.chmod(0o755)
    return tmp_path


def make(project: Path, target: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "--file", str(MAKEFILE), target, "PYTHON=python3"]
    # `make test` would tell this make that it is one of its own.
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(command, cwd=project, env=env, capture_output=True, text=True)


def test_check_says_how_to_format(project: Path) -> None:
    done = make(project, "check")
    assert done.returncode != 0
    assert done.stdout.splitlines() == ["ruff format --check .", "fix: make format"]


def test_format_formats(project: Path) -> None:
    ruff = project / ".venv" / "bin" / "ruff"
    ruff.write_text(ruff.read_text().replace("exit 1", "exit 0"))
    assert make(project, "format").stdout.splitlines()[-1] == "ruff format ."
