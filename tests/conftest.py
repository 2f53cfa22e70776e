"""What tests share: one Spark session and one Kafka broker per worker, and small loads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from streamgauge.processes.guard import Guard
from streamgauge.processes.launcher import Launcher
from streamgauge.services import jars
from tests.class_archive import java_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


os.environ.setdefault("JAVA_TOOL_OPTIONS", java_options())
# Tests use the jars of the user, but not the services that the user has standing.
os.environ.setdefault(jars.FOLDER, str(jars.jars_folder()))


@pytest.fixture(scope="session", autouse=True)
def no_standing_services(tmp_path_factory: pytest.TempPathFactory) -> None:
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def spark(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkSession]:
    """A real session; it ends with the worker."""
    if hasattr(request.config, "workerinput"):
        assert any("@" in item.nodeid for item in request.session.items)

    from streamgauge.compute.java import find_java
    from streamgauge.compute.session import open_session

    scratch = tmp_path_factory.mktemp("spark")
    os.environ.update(find_java().env(scratch))
    # A fourth attempt per task, so that retries can be tested.
    conf = {"spark.sql.shuffle.partitions": "2"}
    session = open_session("tests", "local[2,4]", scratch, conf, short=True)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real Kafka broker; it ends with the worker."""
    from streamgauge.services.kafka import KafkaBroker

    logs = tmp_path_factory.mktemp("broker")
    with Guard() as guard:
        launcher = Launcher(guard.env)
        folder = guard.scratch / "broker"
        with KafkaBroker(folder=folder, logs=logs, launcher=launcher) as started:
            yield started.address


# Before the plugin that deals tests out looks at the groups, which it does in this hook too.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share the session, or a study, run on one worker; whole runs, the long ones,
    begin first."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        shared = next((one for one in ("misbehaving", "broker", "spark") if one in fixtures), None)
        if shared is not None and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(shared))
    items.sort(key=lambda item: not {"conformance", "experiments"} & {*item.path.parts})


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


@pytest.fixture
def guard() -> Iterator[Guard]:
    with Guard() as guard:
        yield guard
