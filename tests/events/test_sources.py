"""Events from files: rows in order across the driver instances, over and over."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

import streamgauge
from streamgauge.errors import ExperimentError
from streamgauge.events.sources import RecordedSource, Source
from streamgauge.events.stream import BLOCK, EventStream
from tests.events.test_stream import EvenClock

TRIPS = pa.table(
    {
        "zone": pa.array(["a", "b", None, "b", "c"]).dictionary_encode(),
        "fare": [1.5, 2.5, None, 4.0, 5.0],
        "left": pa.array([datetime(2020, 1, day) for day in range(1, 6)], pa.timestamp("ns")),
    }
)


@pytest.fixture
def trips(tmp_path: Path) -> RecordedSource:
    pq.write_table(TRIPS, tmp_path / "trips.parquet")
    found: RecordedSource = streamgauge.recorded("trips.parquet").located(tmp_path)
    return found


def events_of(source: Source, part: int = 0, parts: int = 1, disorder_us: int = 0) -> EventStream:
    return EventStream(source, EvenClock(), 7, part, disorder_us, part, parts)


def test_the_instances_of_a_stream_offer_the_rows_in_their_order_over_and_over(
    trips: RecordedSource,
) -> None:
    instances = [events_of(trips, part, 3).batch(0, 4)["fare"].to_pylist() for part in range(3)]
    in_order = [fare for one in zip(*instances, strict=True) for fare in one]
    assert in_order == [1.5, 2.5, None, 4.0, 5.0] * 2 + [1.5, 2.5]


def test_a_recorded_file_keeps_its_columns_and_the_schedule_gives_the_event_time(
    trips: RecordedSource,
) -> None:
    batch = events_of(trips).batch(0, 5, start_us=1_000)
    assert batch.schema.names == ["event_time", "zone", "fare", "left"]
    assert batch["event_time"].cast(pa.int64()).to_pylist() == [1_000, 1_010, 1_020, 1_030, 1_040]
    assert batch["zone"].to_pylist() == ["a", "b", None, "b", "c"]
    # Spark has neither dictionaries nor nanoseconds.
    assert batch.schema.field("zone").type == pa.string()
    assert batch.schema.field("left").type == pa.timestamp("us")


@given(st.integers(0, 3 * BLOCK), st.integers(0, 2_000), st.integers(0, 2_000))
@settings(max_examples=25, deadline=None)
def test_any_range_is_the_same_range_of_a_longer_one(first: int, size: int, more: int) -> None:
    source = streamgauge.text(Path(__file__).name).located(Path(__file__).parent)
    events = events_of(source, 1, 2, disorder_us=50)
    assert (
        events.batch(first, first + size + more)
        .slice(0, size)
        .equals(events.batch(first, first + size))
    )


def test_the_lines_of_a_text_file_are_events_of_one_column(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("first\n\nthird ä\u2028\n", encoding="utf-8")
    source = streamgauge.text("log.txt").located(tmp_path)
    assert events_of(source).batch(0, 5)["line"].to_pylist() == [
        "first", "", "third ä\u2028", "first", ""
    ]  # fmt: skip


def test_a_csv_file_is_read_with_the_columns_that_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "trips.csv").write_text("event_time,zone,fare\n2020,a,1.5\n2021,b,2\n")
    chosen = streamgauge.recorded("trips.csv", columns=["fare"]).located(tmp_path)
    assert events_of(chosen).batch(0, 3)["fare"].to_pylist() == [1.5, 2.0, 1.5]
    with pytest.raises(ExperimentError, match="column event_time"):
        _ = streamgauge.recorded("trips.csv").located(tmp_path).schema


def test_a_file_that_has_changed_since_the_load_was_planned_is_refused(
    trips: RecordedSource, tmp_path: Path
) -> None:
    pq.write_table(TRIPS.slice(1), tmp_path / "trips.parquet")
    with pytest.raises(ExperimentError, match="its content has changed"):
        events_of(trips).batch(0, 1)


@pytest.mark.parametrize(
    ("content", "problem"),
    [(None, "No such file"), (b"", "it has no rows|Empty"), (b"PAR1", "cannot be read")],
)
def test_a_file_that_cannot_be_read_is_refused_by_its_path(
    tmp_path: Path, content: bytes | None, problem: str
) -> None:
    for name in ("events.parquet", "events.csv"):
        if content is not None:
            (tmp_path / name).write_bytes(content)
    name = "events.csv" if content == b"" else "events.parquet"
    with pytest.raises(ExperimentError, match=problem) as caught:
        _ = streamgauge.recorded(name).located(tmp_path).schema
    assert str(tmp_path / name) in caught.value.cause


def test_the_hash_of_the_input_covers_the_content_and_not_the_path(
    trips: RecordedSource, tmp_path: Path
) -> None:
    pq.write_table(TRIPS, tmp_path / "copy.parquet")
    copy = streamgauge.recorded("copy.parquet").located(tmp_path)
    assert copy.meaning == trips.meaning
    pq.write_table(TRIPS.slice(1), tmp_path / "other.parquet")
    assert streamgauge.recorded("other.parquet").located(tmp_path).meaning != trips.meaning


def test_a_source_is_the_same_in_another_process(trips: RecordedSource) -> None:
    again: Source = TypeAdapter(Source).validate_json(trips.model_dump_json())
    assert again == trips
    assert events_of(again).fingerprint(0, 100) == events_of(trips).fingerprint(0, 100)


def letters(*, first: str, count: int) -> pa.Table:
    return pa.table({"line": [chr(ord(first) + number) for number in range(count)]})


def made(**settings: object) -> Source:
    path = f"{__name__}:letters"
    found = {"kind": "made", "function": path, "parameters": {"first": "a", "count": 3}, **settings}
    return TypeAdapter(Source).validate_python(found)


def test_the_rows_of_a_made_table_come_again_and_are_numbered_in_their_stream() -> None:
    source = made(numbered=True)
    assert source.length is None
    batches = [events_of(source, part, 2).batch(0, 3) for part in range(2)]
    assert [batch.column("id").to_pylist() for batch in batches] == [[0, 2, 4], [1, 3, 5]]
    assert [batch.column("line").to_pylist() for batch in batches] == [list("acb"), list("bac")]
    assert made().schema.names == ["event_time", "line"]


def test_a_table_that_does_not_come_again_has_a_length() -> None:
    assert made(ends=True).length == 3


def test_other_parameters_are_other_events() -> None:
    other = made(parameters={"first": "b", "count": 3})
    assert made().meaning != other.meaning
