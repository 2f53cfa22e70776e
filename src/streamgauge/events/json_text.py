"""Objects as JSON text, a whole array at a time. Times are microseconds since 1970."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_CONTROL_SIGNS = [chr(code) for code in range(32)]


def json_texts(objects: pa.StructArray) -> pa.StringArray:
    """The JSON text of each object; it has no null values."""
    parts: list[pa.Array | str] = []
    begin = "{"
    for field, values in zip(objects.type, objects.flatten(), strict=True):
        is_text = pa.types.is_string(field.type)
        parts += [f"{begin}{json.dumps(field.name)}:" + '"' * is_text, _text(values)]
        begin = '"' * is_text + ","
    return pc.binary_join_element_wise(*parts, begin[:-1] + "}", "")


def _text(values: pa.Array) -> pa.Array:
    if pa.types.is_struct(values.type):
        return json_texts(values)
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.timestamp("us", tz=values.type.tz)).cast(pa.int64())
    return _escaped(values) if pa.types.is_string(values.type) else values.cast(pa.string())


def _escaped(texts: pa.StringArray) -> pa.StringArray:
    signs = np.frombuffer(texts.buffers()[2] or b"", dtype=np.uint8)
    if (signs == ord('"')).any() or (signs == ord("\\")).any():
        texts = pc.replace_substring_regex(texts, r'(["\\])', r"\\\1")
    if (signs < len(_CONTROL_SIGNS)).any():
        for sign in _CONTROL_SIGNS:
            texts = pc.replace_substring(texts, sign, json.dumps(sign)[1:-1])
    return texts
