"""The command line of a user's program, with placeholders."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from streamgauge.errors import ExperimentError
from streamgauge.hints import did_you_mean

KEY = "system.command"
PYTHON = {"python": sys.executable}
"""The Python that runs streamgauge."""
# `${NAME}` is for a shell.
_PLACEHOLDER = re.compile(r"(?<!\$)\{([A-Za-z_][\w.-]*)\}")


def arguments(command: str, words: Mapping[str, str]) -> list[str]:
    """The words of the command, each placeholder filled in."""
    known = {**PYTHON, **words}
    return [_PLACEHOLDER.sub(lambda found: known[found[1]], word) for word in _split(command)]


def check_command(command: str, names: Sequence[str], folder: Path) -> None:
    """Refuses a command with an unknown placeholder, or one that cannot be run."""
    known = [*names, *PYTHON]
    for name in _PLACEHOLDER.findall(command):
        if name not in known:
            listed = ", ".join(f"{{{one}}}" for one in known)
            fix = did_you_mean(name, known, f"known here: {listed}")
            raise ExperimentError(KEY, f"there is no placeholder {{{name}}}", fix=fix)
    program = arguments(command, dict.fromkeys(names, ""))[0]
    if shutil.which(str(folder / program) if "/" in program else program) is None:
        raise ExperimentError(
            KEY,
            f"there is no program `{program}`" + f" in {folder}" * ("/" in program),
            fix="install it, or give its path; `{python}` is the Python that runs streamgauge",
        )


def _split(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ExperimentError(KEY, f"cannot be read: {error}", fix="close the quotes") from None
    if not words:
        raise ExperimentError(KEY, "is empty", fix="give a command, or null if it runs already")
    return words
