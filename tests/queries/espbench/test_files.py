"""The files of the benchmark: the same bytes every time, as the manifest says."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.csv
import pytest

from streamgauge.errors import ComponentError
from streamgauge.events.factory.business import Business
from streamgauge.events.factory.csv_text import csv_of
from streamgauge.events.factory.tables import TABLES
from streamgauge.queries.espbench.files import MANIFEST, Sensors, check_space, write_files

from .conftest import NOW_US, SMALL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def write(spark: SparkSession, folder: Path, business: Business, sensors: Sensors) -> None:
    folder.mkdir(exist_ok=True)
    write_files(spark, folder, business, sensors, tell=lambda _: None)


def test_one_seed_gives_the_same_bytes_in_every_file(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(spark, tmp_path / name, SMALL, Sensors(seed=1, rows=500))
    first = files_in(tmp_path / "a")
    assert first == files_in(tmp_path / "b")
    assert set(first) == {
        MANIFEST,
        "production-times.txt",
        "sensors-1.txt",
        "sensors-2.txt",
        *(f"{table.name}.csv" for table in TABLES),
    }
    manifest = json.loads(first[MANIFEST])
    assert {key: manifest[key] for key in ("seed", "scale", "now")} == {
        "seed": 1,
        "scale": 1,
        "now": "2023-11-14T22:13:20+00:00",
    }
    for one in manifest["files"]:
        content = first[one["name"]]
        assert one["sha256"] == hashlib.sha256(content).hexdigest()
        assert one["bytes"] == len(content)
        assert one["rows"] == content.count(b"\n") - one["name"].endswith(".csv")
    for table in TABLES:
        made = csv_of(table.batch(SMALL, 0, table.units(SMALL))).to_pybytes()
        assert first[f"{table.name}.csv"].partition(b"\n")[2] == made
        read = pyarrow.csv.read_csv(tmp_path / "a" / f"{table.name}.csv")
        assert read.column_names == [column.name for column in table.columns]


def test_a_debs_file_becomes_both_sensor_streams(spark: SparkSession, tmp_path: Path) -> None:
    record = "\t".join(["2012-02-22T16:46:28.9670320+00:00", *(str(n) for n in range(55))])
    given = tmp_path / "debs.txt"
    given.write_bytes(f"{record}\r\n".encode() * 3)
    write(spark, tmp_path / "out", SMALL, Sensors(seed=1, file=given, rows=2))
    for workplace in (1, 2):
        found = (tmp_path / "out" / f"sensors-{workplace}.txt").read_text()
        assert found == f"{record}\t{workplace}\n" * 2
    assert json.loads((tmp_path / "out" / MANIFEST).read_text())["sensors"] == "debs.txt"


def test_a_full_disk_is_noticed_before_anything_is_written(tmp_path: Path) -> None:
    check_space(tmp_path, SMALL, Sensors(seed=1))
    too_many = Sensors(seed=1, rows=10**12)
    with pytest.raises(ComponentError, match="has room for"):
        check_space(tmp_path, Business(1, 1, NOW_US), too_many)
