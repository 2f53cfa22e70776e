"""Objects as JSON text: every value comes back as it was."""

from __future__ import annotations

import json

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.events.json_text import json_texts

texts = st.text(st.characters(codec="utf-8"), max_size=12)
rows = st.lists(
    st.fixed_dictionaries(
        {
            "n": st.integers(-(2**31), 2**31 - 1),
            "x": st.floats(allow_nan=False, allow_infinity=False),
            "a text": texts,
            "b": st.booleans(),
            'in"ner': st.fixed_dictionaries({"deep": texts, "at": st.integers(0, 2**52)}),
        }
    ),
    min_size=1,
    max_size=20,
)
OBJECT = pa.struct(
    [
        ("n", pa.int32()),
        ("x", pa.float64()),
        ("a text", pa.string()),
        ("b", pa.bool_()),
        ('in"ner', pa.struct([("deep", pa.string()), ("at", pa.timestamp("us", tz="UTC"))])),
    ]
)


@given(rows, st.integers(0, 5))
@settings(max_examples=100, deadline=None)
def test_every_value_comes_back(found: list[dict[str, object]], skipped: int) -> None:
    objects = pa.array(found, OBJECT).slice(skipped)
    assert [json.loads(text) for text in json_texts(objects).to_pylist()] == found[skipped:]
