"""A user's own query that is wrong; a right one is run with the others on Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import command


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import nothing_of_that_name\n", "nothing_of_that_name"),
        ("def other(): ...\n", "has no `my_query`"),
        ("my_query = 5\n", "is not a query"),
    ],
)
def test_a_query_file_that_is_wrong_is_explained(
    tmp_path: Path, source: str, expected: str
) -> None:
    command(tmp_path, "new", "my_query")
    (tmp_path / "my_query.py").write_text(source)
    done = command(tmp_path, "validate", "my_query.yaml")
    assert done.returncode == 2
    assert expected in done.stderr
    assert "Traceback" not in done.stderr + done.stdout
