"""A real PostgreSQL server with the business data of a small factory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from streamgauge.events.factory.business import Business
from streamgauge.events.factory.tables import TABLES
from streamgauge.processes.guard import Guard
from streamgauge.processes.launcher import Launcher
from streamgauge.queries.espbench.database import BusinessDatabase, open_database
from streamgauge.services.postgresql import PostgreSQL

NOW_US = 1_700_000_000_000_000
SMALL = Business(
    seed=1, scale=1, now_us=NOW_US, items=200, districts=2, per_district=40, undelivered=12
)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its address, which refers to the password."""
    logs = tmp_path_factory.mktemp("database")
    with Guard() as guard:
        folder = guard.scratch / "database"
        with PostgreSQL(folder=folder, logs=logs, launcher=Launcher(guard.env)) as started:
            yield started.address


@pytest.fixture
def database(server: str) -> Iterator[BusinessDatabase]:
    """Filled anew for every test."""
    with open_database(server) as opened:
        opened.create(TABLES)
        for table in TABLES:
            opened.copy(table, [table.batch(SMALL, 0, table.units(SMALL))])
        yield opened
