"""streamgauge as its users call it: a command in a folder of theirs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "streamgauge.cli", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def options(settings: Mapping[str, object]) -> list[str]:
    """Settings as options of a command."""
    words: list[str] = []
    for key, value in settings.items():
        words += ["--set", f"{key}={value if isinstance(value, str) else json.dumps(value)}"]
    return words
