"""The examples of a new channel and a new system: one folder and one entry point each."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conformance.suite import check_pair, opened

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Makes an example importable, with its entry points, here and in every child process."""
    site = tmp_path / "site"
    site.mkdir()

    def installed(example: str) -> None:
        project = tomllib.loads((EXAMPLES / example / "pyproject.toml").read_text())["project"]
        (package,) = (p for p in (EXAMPLES / example).iterdir() if (p / "__init__.py").exists())
        (site / package.name).symlink_to(package)
        info = site / f"{package.name}-{project['version']}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
        lines = []
        for group, points in project["entry-points"].items():
            lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
        (info / "entry_points.txt").write_text("\n".join(lines))

    monkeypatch.syspath_prepend(str(site))
    path = os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))
    monkeypatch.setenv("PYTHONPATH", path)
    yield installed
    for name in [one for one in sys.modules if one.startswith(("parquet_channel", "toy_system"))]:
        del sys.modules[name]


@pytest.mark.parametrize(("example", "most"), [("channel", 150), ("system", 61)])
def test_an_example_is_small(example: str, most: int) -> None:
    lines = [
        line
        for path in (EXAMPLES / example).rglob("*.py")
        for line in path.read_text().splitlines()
    ]
    assert 0 < len(lines) < most


def test_a_new_channel_conforms_with_spark(
    install: Callable[[str], None], tmp_path: Path, spark: SparkSession
) -> None:
    install("channel")
    with opened("spark", "parquet", tmp_path / "run", spark) as pair:
        check_pair(pair)


def test_a_new_system_conforms(
    install: Callable[[str], None], tmp_path: Path, spark: SparkSession
) -> None:
    install("system")
    with opened("toy", "direct", tmp_path / "run", spark) as pair:
        check_pair(pair)
