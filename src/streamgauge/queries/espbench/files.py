"""Writes the data of the benchmark to files: the tables by a Spark job, and the streams."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from streamgauge.errors import ComponentError
from streamgauge.events.factory.business import Business, Table
from streamgauge.events.factory.csv_text import csv_of, heading_of
from streamgauge.events.factory.production import lines_of
from streamgauge.events.factory.sensors import debs_lines, sensor_lines
from streamgauge.events.factory.tables import TABLES
from streamgauge.queries.espbench.parts import Part, in_tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MANIFEST = "manifest.json"
WORKPLACES = (1, 2)
"""The machines whose sensors send."""
SENSOR_ROWS = 100_000
_PARTS = "parts.tmp"
_LINES_AT_ONCE = 1 << 16
_BYTES_PER_SCALE, _BYTES_OF_ITEMS = 85_000_000, 8_000_000
_BYTES_PER_RECORD = 190


@dataclass(frozen=True)
class WrittenFile:
    """A file that was written, as the manifest has it."""

    name: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Sensors:
    """Where the sensor records come from: a seed, or a DEBS 2012 file."""

    seed: int
    file: Path | None = None
    rows: int | None = None
    """Records per machine; None: all of the file, or the usual number."""

    def lines(self, workplace: int) -> pa.Table:
        if self.file is None:
            rows = SENSOR_ROWS if self.rows is None else self.rows
            return sensor_lines(seed=self.seed, rows=rows, workplace=workplace)
        return debs_lines(str(self.file), workplace).slice(0, self.rows)


def check_space(folder: Path, business: Business, sensors: Sensors) -> None:
    """Refuses a folder on a disk without room for the files."""
    records = SENSOR_ROWS if sensors.rows is None else sensors.rows
    wanted = _BYTES_OF_ITEMS + business.scale * _BYTES_PER_SCALE
    wanted += len(WORKPLACES) * records * _BYTES_PER_RECORD
    free = shutil.disk_usage(folder).free
    if free < wanted:
        raise ComponentError(
            f"{folder} has room for {free / 1e6:,.0f} MB, the files need {wanted / 1e6:,.0f} MB",
            fix="make room, choose another folder, or a smaller scale or fewer rows",
        )


def write_files(
    spark: SparkSession,
    folder: Path,
    business: Business,
    sensors: Sensors,
    tell: Callable[[str], None],
) -> list[WrittenFile]:
    """Writes all files, and at the end the manifest, into a folder that exists."""
    (folder / MANIFEST).unlink(missing_ok=True)
    written = []
    for workplace in WORKPLACES:
        tell(f"making the sensor records of workplace {workplace}")
        path = folder / f"sensors-{workplace}.txt"
        written.append(_write_lines(path, sensors.lines(workplace)))
    tell("making the production times")
    written.append(_write_lines(folder / "production-times.txt", lines_of(business)))
    tell("making the business data")
    written = [*_write_tables(spark, folder, business), *written]
    manifest = {
        "benchmark": "espbench",
        "seed": business.seed,
        "scale": business.scale,
        "now": datetime.fromtimestamp(business.now_us / 1e6, timezone.utc).isoformat(),
        "sensors": sensors.file and sensors.file.name,
        "files": [asdict(one) for one in written],
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return written


def _write_tables(spark: SparkSession, folder: Path, business: Business) -> Iterator[WrittenFile]:
    """Every task writes its parts beside the files, and then the parts are put together."""
    parts = folder / _PARTS
    shutil.rmtree(parts, ignore_errors=True)
    parts.mkdir()

    def write(given: Iterator[Part]) -> Iterator[int]:
        for part in given:
            batch = part.make(business)
            _part_file(parts, part.table, part.first).write_bytes(csv_of(batch))
            yield batch.num_rows

    try:
        rows = in_tasks(spark, business, write)
        for table in TABLES:
            path = folder / f"{table.name}.csv"
            yield _written(path, _contents(parts, table, business), rows[table.name])
    finally:
        shutil.rmtree(parts, ignore_errors=True)


def _part_file(parts: Path, table: str, first: int) -> Path:
    return parts / f"{table}-{first}"


def _contents(parts: Path, table: Table, business: Business) -> Iterator[bytes]:
    """Removes every part that has been used, so the data are not twice on the disk."""
    yield heading_of(table.schema)
    for first, _ in table.parts(business):
        part = _part_file(parts, table.name, first)
        yield part.read_bytes()
        part.unlink()


def _write_lines(path: Path, lines: pa.Table) -> WrittenFile:
    def contents() -> Iterator[bytes]:
        for batch in lines.to_batches(max_chunksize=_LINES_AT_ONCE):
            yield "".join(f"{line}\n" for line in batch["line"].to_pylist()).encode()

    return _written(path, contents(), lines.num_rows)


def _written(path: Path, contents: Iterator[bytes], rows: int) -> WrittenFile:
    digest = hashlib.sha256()
    with path.open("wb") as file:
        for block in contents:
            file.write(block)
            digest.update(block)
        size = file.tell()
    return WrittenFile(path.name, rows, size, digest.hexdigest())
