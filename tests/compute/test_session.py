"""Settings of our Spark sessions that depend on where they run."""

from __future__ import annotations

import socket
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamgauge.compute.session import python_sockets


@pytest.fixture
def short() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="streamgauge-") as folder:
        yield Path(folder)


@pytest.mark.parametrize("name_length", range(10, 120, 3))
def test_python_sockets_are_only_used_where_one_can_be_bound(short: Path, name_length: int) -> None:
    folder = short / ("d" * name_length)
    folder.mkdir()
    if not python_sockets(folder):
        return
    # As Spark names them.
    path = folder / f".{uuid.uuid4()}.sock"
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))


def test_the_folder_of_a_run_has_room_for_sockets(short: Path) -> None:
    found = python_sockets(short / "calculation-100")
    assert found["spark.python.unix.domain.socket.enabled"] == "true"
    assert found["spark.python.unix.domain.socket.dir"].startswith(str(short))


def test_a_folder_that_is_too_deep_has_none() -> None:
    assert python_sockets(Path("/" + "d" * 80)) == {}
