"""`streamgauge data espbench` as its users call it."""

from __future__ import annotations

import json
from pathlib import Path

from streamgauge.events.factory.tables import TABLES
from streamgauge.queries.espbench.database import open_database
from tests.commands import command


def test_the_command_writes_files_and_fills_a_database(tmp_path: Path, server: str) -> None:
    given = ("--scale", "1", "--rows", "100", "--output", "out", "--database", server)
    done = command(tmp_path, "data", "espbench", *given)
    assert done.returncode == 0, done.stderr
    assert "making the business data" in done.stderr
    assert "WARN" not in done.stderr
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    rows = {one["name"]: one["rows"] for one in manifest["files"]}
    assert rows["sensors-2.txt"] == 100
    assert f"sensors-2.txt: {100} rows" in done.stdout
    with open_database(server) as database:
        for table in TABLES:
            assert database.count(table) == rows[f"{table.name}.csv"]
        assert database.persisted_count() == 0
