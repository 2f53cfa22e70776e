"""What the places and times of messages tell."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from streamgauge.events.spec import BROKER_TIME, OFFSET, PARTITION
from streamgauge.measure.log_checks import times_back


def write(folder: Path, number: int, rows: list[tuple[int, int, int]]) -> None:
    """Partition, offset and time of each message."""
    folder.mkdir(exist_ok=True)
    columns = [pa.array(column) for column in zip(*rows, strict=True)]
    table = pa.table(columns, names=[PARTITION, OFFSET, BROKER_TIME])
    pq.write_table(table, folder / f"part-{number:05d}.parquet")


def test_times_of_two_partitions_go_on_by_themselves(tmp_path: Path) -> None:
    write(tmp_path / "log", 0, [(0, 0, 10), (1, 0, 5), (0, 1, 10), (1, 1, 6)])
    write(tmp_path / "log", 1, [(0, 2, 11), (1, 2, 6)])
    assert times_back([tmp_path / "log"]) == 0


def test_a_time_that_goes_back_is_counted(tmp_path: Path) -> None:
    write(tmp_path / "log", 0, [(0, 0, 10), (0, 1, 9), (0, 2, 12)])
    write(tmp_path / "log", 1, [(0, 3, 11), (1, 0, 1)])
    assert times_back([tmp_path / "log", tmp_path / "none"]) == 2


def test_the_order_in_the_topic_counts_not_that_in_the_file(tmp_path: Path) -> None:
    write(tmp_path / "log", 0, [(0, 1, 11), (0, 0, 10)])
    assert times_back([tmp_path / "log"]) == 0


def test_results_without_a_place_have_no_such_times(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    pq.write_table(pa.table({"value": [1]}), tmp_path / "results" / "part-00000.parquet")
    assert times_back([tmp_path / "results"]) == 0
