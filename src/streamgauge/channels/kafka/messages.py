"""Events as Kafka messages: JSON objects, CSV lines or numbered lines, a block at a time.

Times are whole microseconds since 1970. The texts are made by Arrow, so that no event is handled
one by one in Python.
"""

from __future__ import annotations

from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.events.json_text import json_texts
from streamgauge.events.sources import EVENT_TIME, LINE, NUMBER

Format = Literal["json", "csv", "lines"]
"""`lines`: `id;time;line`, for streams with the columns `id` and `line`."""
_SPECIAL = r'[,"\\\r\n]'


def encoded(events: pa.RecordBatch, form: Format) -> pa.BinaryArray:
    """One message for each event."""
    if form == "json":
        texts = json_texts(events.to_struct_array())
    elif form == "lines":
        times = events.column(EVENT_TIME).cast(pa.int64())
        fields = (events.column(NUMBER), times, events.column(LINE))
        texts = pc.binary_join_element_wise(*(one.cast(pa.string()) for one in fields), ";")
    else:
        texts = pc.binary_join_element_wise(*map(_field, events.columns), ",")
    return texts.cast(pa.binary())


def keys_of(events: pa.RecordBatch, column: str) -> pa.BinaryArray:
    """The key of each message: the text of a column."""
    return events.column(column).cast(pa.string()).cast(pa.binary())


def _field(values: pa.Array) -> pa.Array:
    """The values of a column as fields of a CSV line; an object is a field of JSON."""
    kind = values.type
    if pa.types.is_struct(kind):
        return _quoted(json_texts(values))
    if pa.types.is_timestamp(kind):
        values = values.cast(pa.timestamp("us", tz=kind.tz)).cast(pa.int64())
    texts = values.cast(pa.string())
    return (_quoted(texts) if pa.types.is_string(kind) else texts).fill_null("")


def _quoted(texts: pa.Array) -> pa.Array:
    """Quoted where it is needed."""
    special = pc.match_substring_regex(texts, _SPECIAL)
    if not pc.any(special).as_py():
        return texts
    escaped = pc.replace_substring_regex(texts, r'(["\\])', r"\\\1")
    return pc.if_else(special, pc.binary_join_element_wise('"', escaped, '"', ""), texts)
