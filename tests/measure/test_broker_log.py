"""The log of a broker against what was sent: every planted fault is counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamgauge.channels.kafka.messages import encoded
from streamgauge.events.spec import BROKER_TIME, MESSAGE, OFFSET, PARTITION
from streamgauge.measure.broker_log import log_findings
from streamgauge.measure.record import RunRecord
from streamgauge.queries.espbench.ingestion import IngestionQuery
from tests.loads import replay_of
from tests.measure.test_validation import record_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERY = IngestionQuery(rows=300)
SECONDS, RATE = 3, 500
DELAY_US = 2_000
Rows = list[tuple[str, int]]


def written(folder: Path, change: Callable[[Rows], Rows] = lambda rows: rows) -> RunRecord:
    """Two senders; each message was appended 2 ms after it was due."""
    replay = replay_of(QUERY, rate_per_s=RATE, seconds=SECONDS, instances=2)
    rows: Rows = []
    for part in replay.slices("sensors"):
        batch = replay.batch(part)
        due = batch.column("event_time").cast(pa.int64()).to_pylist()
        messages = [one.decode() for one in encoded(batch, "lines").to_pylist()]
        rows += [(text, time + DELAY_US) for text, time in zip(messages, due, strict=True)]
    rows = change(sorted(rows, key=lambda row: row[1]))
    (folder / "sensors").mkdir(parents=True)
    for number, piece in enumerate((rows[:700], rows[700:])):
        table = pa.table(
            {
                MESSAGE: [text for text, _ in piece],
                BROKER_TIME: pa.array([time for _, time in piece], pa.int64()),
                PARTITION: pa.array([0] * len(piece), pa.int32()),
                OFFSET: pa.array(range(700 * number, 700 * number + len(piece)), pa.int64()),
            }
        )
        pq.write_table(table, folder / "sensors" / f"part-{number:05d}.parquet")
    return record_of(replay).model_copy(
        update={
            "log": folder,
            "end_us": SECONDS * 1_000_000,
            "results_are_the_log": True,
        }
    )


def test_a_whole_log_is_valid_and_its_rate_is_that_of_the_load(
    spark: SparkSession, tmp_path: Path
) -> None:
    found = log_findings(spark, written(tmp_path), QUERY)
    counts = found["validation"].model_dump()
    total = SECONDS * RATE
    assert (counts["expected"], counts["actual"]) == (total, total)
    assert {counts[name] for name in ("missing", "extra", "duplicate", "wrong")} == {0}
    assert (counts["times_back"], counts["input_matches"]) == (0, True)
    latency = found["latency"].event_time
    assert (latency.min, latency.p50, latency.max) == (2.0, 2.0, 2.0)
    assert sum(found["histogram"].event_time) == latency.count == total
    assert found["ingestion"].achieved_per_s == pytest.approx(RATE, abs=1)
    assert len(found["append_times_ms"]) == 500
    assert found["append_times_ms"][0] == 0


def _changed(rows: Rows) -> Rows:
    """Three lost, two doubled, four changed, one foreign, and one that was never sent."""
    kept = rows[3:]
    for place in range(100, 104):
        text, time = kept[place]
        kept[place] = (text[:-1] + "9", time)
    foreign = [("hello", kept[-1][1]), ("999999;1700000000000000;x", kept[-1][1])]
    return [*kept, kept[-1], kept[-1], *foreign]


def test_every_planted_fault_is_counted(spark: SparkSession, tmp_path: Path) -> None:
    counts: dict[str, Any] = log_findings(spark, written(tmp_path, _changed), QUERY)[
        "validation"
    ].model_dump()
    expected = {"missing": 3, "duplicate": 2, "wrong": 4, "extra": 2}
    assert {name: counts[name] for name in expected} == expected
    assert counts["actual"] == SECONDS * RATE - 3 + 2 + 2
    assert counts["input_matches"] is True
