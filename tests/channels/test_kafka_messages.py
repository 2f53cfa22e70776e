"""Events as messages: every value comes back from the text as it was."""

from __future__ import annotations

import csv
import io
import json

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.channels.kafka.messages import encoded

TIME = pa.timestamp("us", tz="UTC")
rows = st.lists(
    st.tuples(
        st.integers(0, 2**52),
        st.integers(-(2**31), 2**31 - 1),
        st.floats(-1e6, 1e6).map(lambda value: round(value, 3)),
        st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=12),
        st.booleans(),
    ),
    min_size=1,
    max_size=20,
)


def batch_of(found: list[tuple[int, int, float, str, bool]]) -> pa.RecordBatch:
    times, wholes, reals, texts, flags = (list(column) for column in zip(*found, strict=True))
    arrays = [
        pa.array(times, pa.int64()).cast(TIME),
        pa.array(wholes, pa.int32()),
        pa.array(reals, pa.float64()),
        pa.array(texts, pa.string()),
        pa.array(flags, pa.bool_()),
    ]
    return pa.record_batch(arrays, names=["event_time", "key", "price", "text", "flag"])


@settings(max_examples=60, deadline=None)
@given(rows)
def test_json_holds_every_value(found: list[tuple[int, int, float, str, bool]]) -> None:
    read = [json.loads(message) for message in encoded(batch_of(found), "json").to_pylist()]
    assert [tuple(one.values()) for one in read] == found
    assert list(read[0]) == ["event_time", "key", "price", "text", "flag"]


@settings(max_examples=60, deadline=None)
@given(rows)
def test_csv_holds_every_value(found: list[tuple[int, int, float, str, bool]]) -> None:
    lines = [message.decode() for message in encoded(batch_of(found), "csv").to_pylist()]
    read = [
        next(csv.reader(io.StringIO(line), escapechar="\\", doublequote=False)) for line in lines
    ]
    assert [(int(t), int(k), float(p), text, f == "true") for t, k, p, text, f in read] == found


def test_a_numbered_line_is_written_after_its_number_and_its_time() -> None:
    events = pa.record_batch(
        {"event_time": pa.array([5, 6], TIME), "id": [7, 8], "line": ["a;b\tc", ""]}
    )
    assert encoded(events, "lines").to_pylist() == [b"7;5;a;b\tc", b"8;6;"]
