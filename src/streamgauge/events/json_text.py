"""Objects as JSON text, a whole array at a time. Times are microseconds since 1970."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_CONTROL_SIGNS = [chr(code) for code in range(32)]


def json_texts(objects: pa.StructArray) -> pa.StringArray:
    """The JSON text of each object."""
    parts: list[pa.Array | str] = []
    for place, (field, values) in enumerate(zip(objects.type, objects.flatten(), strict=True)):
        parts += [f"{',' if place else '{'}{json.dumps(field.name)}:", *_parts(values)]
    return pc.binary_join_element_wise(*parts, "}", "")


def _parts(values: pa.Array) -> list[pa.Array | str]:
    """What makes the text of a value, one after the other."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_struct(values.type):
        return [json_texts(values)]
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.timestamp("us", tz=values.type.tz)).cast(pa.int64())
    kind = values.type
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return [values.cast(pa.string()).fill_null("null")]
    quoted = ['"', _escaped(values.cast(pa.string())), '"']
    if not values.null_count:
        return quoted
    return [pc.binary_join_element_wise(*quoted, "").fill_null("null")]


def _escaped(texts: pa.StringArray) -> pa.StringArray:
    signs = np.frombuffer(texts.buffers()[2] or b"", dtype=np.uint8)
    if (signs == ord('"')).any() or (signs == ord("\\")).any():
        texts = pc.replace_substring_regex(texts, r'(["\\])', r"\\\1")
    if (signs < len(_CONTROL_SIGNS)).any():
        for sign in _CONTROL_SIGNS:
            texts = pc.replace_substring(texts, sign, json.dumps(sign)[1:-1])
    return texts
