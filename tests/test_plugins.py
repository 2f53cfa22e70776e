"""Parts found by name; a file of the user's that cannot be loaded is named with its error."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge import plugins
from streamgauge.errors import ExperimentError


@pytest.mark.parametrize("group", ["queries", "channels", "systems", "policies", "schedules"])
@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("import sys; sys.exit(0)", "SystemExit: 0"),
        ("raise SystemExit", "SystemExit"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_file_that_ends_the_interpreter_is_refused(
    tmp_path: Path, group: str, line: str, error: str
) -> None:
    """`validate` and `run` would otherwise print nothing and exit with 0."""
    (tmp_path / "mine.py").write_text(f"{line}\n\ndef part(): ...\n")
    with pytest.raises(ExperimentError, match=r"mine\.py` fails when it is loaded") as caught:
        plugins.load(group, "mine.py:part", key="system.name", base=tmp_path)
    assert error in caught.value.cause
