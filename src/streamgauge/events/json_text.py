"""Objects as JSON text, a whole array at a time. Times are microseconds since 1970."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_CONTROL_SIGNS = [chr(code) for code in range(32)]


def json_texts(objects: pa.StructArray) -> pa.StringArray:
    """The JSON text of each object."""
    parts: list[pa.Array | str] = []
    for part in _object(objects):
        # Joining takes as long as there are parts, so neighbouring literals become one.
        if parts and isinstance(part, str) and isinstance(parts[-1], str):
            parts[-1] += part
        else:
            parts.append(part)
    return pc.binary_join_element_wise(*parts, "")


def _object(objects: pa.StructArray) -> Iterator[pa.Array | str]:
    """What makes the text of an object, one after the other."""
    opening = "{"
    for field, values in zip(objects.type, objects.flatten(), strict=True):
        yield f"{opening}{json.dumps(field.name)}:"
        yield from _value(values)
        opening = ","
    yield "}"


def _value(values: pa.Array) -> Iterator[pa.Array | str]:
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.timestamp("us", tz=values.type.tz)).cast(pa.int64())
    kind = values.type
    if pa.types.is_struct(kind):
        yield from _object(values)
    elif pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        yield values.cast(pa.string()).fill_null("null")
    else:
        texts = _escaped(values.cast(pa.string()))
        if values.null_count:
            yield pc.binary_join_element_wise('"', texts, '"', "").fill_null("null")
        else:
            yield from ('"', texts, '"')


def _escaped(texts: pa.StringArray) -> pa.StringArray:
    signs = np.frombuffer(texts.buffers()[2] or b"", dtype=np.uint8)
    if (signs == ord('"')).any() or (signs == ord("\\")).any():
        texts = pc.replace_substring_regex(texts, r'(["\\])', r"\\\1")
    if (signs < len(_CONTROL_SIGNS)).any():
        for sign in _CONTROL_SIGNS:
            texts = pc.replace_substring(texts, sign, json.dumps(sign)[1:-1])
    return texts
