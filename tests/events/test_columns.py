"""Every kind of column: pure, distributed as asked, and refused with cause and fix when wrong."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from streamgauge import Choice, Flag, Keys, Object, StreamSpec, Time, Uuid, Words
from streamgauge.errors import ExperimentError
from streamgauge.events.columns import Column
from streamgauge.events.columns.objects import KINDS, MAX_DEPTH
from streamgauge.events.sources import Source
from streamgauge.events.stream import BLOCK, EventStream
from streamgauge.experiments.planning.validation import validated
from tests.events.every_kind import EVERY_KIND
from tests.events.test_stream import EvenClock

STREAM = EventStream(EVERY_KIND, EvenClock(), seed=7, instance=0)
MANY = 200_000
places = st.integers(0, 2 * BLOCK)


def values(column: Column, count: int = MANY) -> pa.Array:
    source = StreamSpec(columns={"it": column})
    return EventStream(source, EvenClock(), seed=7, instance=0).batch(0, count)["it"]


def shares(found: pa.Array) -> dict[Any, float]:
    return {one["values"]: one["counts"] / len(found) for one in pc.value_counts(found).to_pylist()}


def test_the_sample_has_every_kind() -> None:
    assert {column.kind for column in EVERY_KIND.columns.values()} == set(KINDS)


@given(places, st.integers(0, 3_000), st.integers(0, 3_000), st.sampled_from([0, 500]))
@settings(max_examples=25, deadline=None)
def test_slices_are_equal_to_the_whole(first: int, size: int, more: int, disorder_us: int) -> None:
    stream = replace(STREAM, disorder_us=disorder_us)
    middle, last = first + size, first + size + more
    whole = stream.batch(first, last)
    assert stream.batch(first, middle).to_pylist() == whole.slice(0, size).to_pylist()
    assert stream.batch(middle, last).to_pylist() == whole.slice(size).to_pylist()


@given(st.sets(st.sampled_from(list(EVERY_KIND.columns))), places)
@settings(max_examples=25, deadline=None)
def test_a_column_is_the_same_whichever_others_are_read(reads: set[str], first: int) -> None:
    stream = replace(STREAM, disorder_us=500)
    part = replace(stream, source=EVERY_KIND.reading(tuple(reads)))
    read = part.batch(first, first + 500)
    whole = stream.batch(first, first + 500)
    assert read.schema.names == [
        name for name in whole.schema.names if name in {"event_time", *reads}
    ]
    assert read.to_pylist() == whole.select(read.schema.names).to_pylist()


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
@settings(max_examples=25, deadline=None)
def test_another_seed_or_instance_gives_other_values_in_every_column(one: int, other: int) -> None:
    first = replace(STREAM, seed=one)
    others = [replace(first, instance=1)]
    if one != other:
        others.append(replace(first, seed=other))
    for second in others:
        same = zip(first.batch(0, 200).columns[1:], second.batch(0, 200).columns[1:], strict=True)
        assert not any(mine.equals(theirs) for mine, theirs in same)


def test_columns_of_the_same_kind_have_values_of_their_own() -> None:
    twins = StreamSpec(columns={"one": Words(), "two": Words(), "three": Uuid(), "four": Uuid()})
    made = replace(STREAM, source=twins).batch(0, 1_000)
    assert not made["one"].equals(made["two"])
    assert len(set(made["three"].to_pylist() + made["four"].to_pylist())) == 2_000


def test_the_same_seed_gives_the_same_bytes_on_any_machine() -> None:
    """Golden values: after a change of the generator, new results do not compare with old ones."""
    assert f"{STREAM.fingerprint(0, 100_000):016x}" == GOLDEN
    made = STREAM.batch(70_000, 70_001).to_pylist()[0]
    assert (made["remark"], made["reading"], made["owner"]) == GOLDEN_TEXTS


GOLDEN = "de8b171f7e5e0f4e"
GOLDEN_TEXTS = (
    "jo",
    "7be232af-6218-461e-8bb4-305de9ff7532",
    "afcd1d7b-39a8-40e2-b465-b9a16a9e786e",
)


def test_a_source_is_the_same_in_another_process() -> None:
    again: Source = TypeAdapter(Source).validate_json(EVERY_KIND.model_dump_json())
    assert again == EVERY_KIND
    assert replace(STREAM, source=again).batch(0, 100).equals(STREAM.batch(0, 100))
    assert json.loads(json.dumps(EVERY_KIND.meaning)) == EVERY_KIND.meaning


def test_no_value_is_missing_and_every_buffer_is_sound() -> None:
    for first, last in ((0, 1_000), (BLOCK - 3, BLOCK + 3), (5, 5)):
        batch = STREAM.batch(first, last)
        batch.validate(full=True)
        assert batch.num_rows == last - first
        assert sum(column.null_count for column in batch.columns) == 0


def test_weights_are_the_shares_of_the_values() -> None:
    weights = {"ok": 0.899, "warm": 0.1, "hot": 0.001, "never": 0.0}
    found = shares(values(Choice(values=tuple(weights), weights=tuple(weights.values()))))
    assert "never" not in found
    for value, weight in weights.items():
        assert abs(found.get(value, 0.0) - weight) <= 5 * (weight / MANY) ** 0.5


@given(st.lists(st.integers(0, 1_000), min_size=1, max_size=20).filter(any))
@settings(max_examples=25, deadline=None)
def test_any_weights_hold_exactly_over_all_random_numbers(parts: list[int]) -> None:
    weights = [part / sum(parts) for part in parts]
    column = Choice(values=tuple(map(str, parts)), weights=weights)
    grid = np.arange(0, 2**32, 2**12, dtype=np.uint64).astype(np.uint32)
    found = np.bincount(column.draw(grid), minlength=len(parts)) / len(grid)
    assert np.abs(found - weights).max() < 2 / len(grid)


@pytest.mark.parametrize("share", [0.0, 0.03, 0.5, 1.0])
def test_a_share_of_the_flags_is_true(share: float) -> None:
    found = shares(values(Flag(share=share))).get(True, 0.0)
    assert abs(found - share) <= 5 * (share * (1 - share) / MANY) ** 0.5


def test_times_lie_on_steps_between_their_ends() -> None:
    hours = Time(low="2024-02-28T22:00:00", high="2024-03-01T01:30:00Z", step="1 h")
    found = shares(values(hours))
    utc = timezone.utc
    assert min(found) == datetime(2024, 2, 28, 22, tzinfo=utc)
    assert max(found) == datetime(2024, 3, 1, 1, tzinfo=utc)
    assert len(found) == 28
    assert max(found.values()) < 1.1 / 28


@pytest.mark.parametrize("size", [1, 2, 10, 997, 1_000])
def test_keys_that_move_have_the_same_shape_around_another_key(size: int) -> None:
    moving = Keys(size=size, distribution="zipf", outside=0.25, moves_every=20_000)
    found = values(moving, 60_000).to_numpy()
    still = values(moving.model_copy(update={"moves_every": 0}), 60_000).to_numpy()
    parts = [slice(0, 20_000), slice(20_000, 40_000), slice(40_000, 60_000)]
    shifts = [(found[part] - still[part])[still[part] < size] % size for part in parts]
    assert [len(np.unique(shift)) for shift in shifts] == [1, 1, 1]
    assert len({int(shift[0]) for shift in shifts}) == min(size, 3)
    assert np.array_equal(found[still >= size], still[still >= size])


@pytest.mark.parametrize("s", [1.0, 1.5])
def test_words_follow_the_law_of_zipf(s: float) -> None:
    vocabulary = tuple(f"w{rank}" for rank in range(1, 201))
    texts = values(Words(vocabulary=vocabulary, low=2, high=8, zipf_s=s), 50_000).to_pylist()
    words = Counter(word for text in texts for word in text.split(" "))
    law = np.arange(1, 201, dtype=float) ** -s
    found = np.array([words[word] for word in vocabulary]) / words.total()
    assert np.abs(found - law / law.sum()).max() < 0.003


def test_texts_have_as_many_words_as_asked_each_length_as_often() -> None:
    column = Words(vocabulary=1_000, low=3, high=7)
    texts = values(column)
    lengths = shares(pc.list_value_length(pc.split_pattern(texts, " ")))
    assert set(lengths) == {3, 4, 5, 6, 7}
    assert max(abs(share - 0.2) for share in lengths.values()) < 0.01
    # Where a word stands says nothing about which it is.
    ends = [{text.split(" ")[place] for text in texts.to_pylist()} for place in (0, -1)]
    assert all(len(words) > 950 for words in ends)


@pytest.mark.parametrize("size", [1, 95, 96, 9_120, 9_121, 30_000])
def test_made_up_words_are_all_different_and_the_frequent_ones_are_short(size: int) -> None:
    column = Words(vocabulary=size, low=1, high=1)
    drawn = np.arange(size, dtype=np.int32).reshape(-1, 1)
    words = column.decode(drawn).to_pylist()
    assert len(set(words)) == size
    assert [len(word) for word in words] == sorted(len(word) for word in words)
    assert all(word.isalpha() and word.isascii() for word in words)


def test_ids_are_uuids_of_version_4_and_do_not_repeat() -> None:
    found = values(Uuid()).to_pylist()
    assert len(set(found)) == MANY
    assert all(str(UUID(one)) == one and UUID(one).version == 4 for one in found[:1_000])
    bits = np.array([list(UUID(one).bytes) for one in found[:20_000]], dtype=np.uint8)
    ones = np.unpackbits(bits, axis=1).mean(axis=0)
    fixed = {48: 0, 49: 1, 50: 0, 51: 0, 64: 1, 65: 0}
    expected = [fixed.get(bit, 0.5) for bit in range(128)]
    assert np.abs(ones - expected).max() < 0.02


def test_ids_of_a_size_repeat_and_are_the_same_for_every_seed() -> None:
    column = Uuid(size=50, distribution="zipf")
    found = shares(values(column))
    assert len(found) == 50
    assert all(str(UUID(one)) == one and UUID(one).version == 4 for one in found)
    law = np.arange(1, 51, dtype=float) ** -1.0
    assert np.abs(sorted(found.values(), reverse=True) - law / law.sum()).max() < 0.005
    other = EventStream(StreamSpec(columns={"it": column}), EvenClock(), seed=8, instance=1)
    assert set(other.batch(0, MANY)["it"].to_pylist()) == set(found)
    every = Uuid(size=1_000_000).decode(np.arange(1_000_000, dtype=np.int32))
    assert pc.count_distinct(every).as_py() == 1_000_000


def test_an_object_has_columns_and_objects_of_its_own() -> None:
    batch = STREAM.batch(0, 5_000)
    where = batch["place"]
    assert pa.types.is_struct(where.type)
    assert set(where.field("room").to_pylist()) == {"hall", 'the "attic"'}
    x, y = (where.field("at").field(name).to_numpy() for name in ("x", "y"))
    assert abs(np.corrcoef(x, y)[0, 1]) < 0.05


def test_json_is_the_text_of_such_an_object() -> None:
    for text in STREAM.batch(0, 2_000)["message"].to_pylist():
        found = json.loads(text)
        assert list(found) == ["id", "text", "seen", "inner"]
        assert UUID(found["id"]).version == 4
        assert set(found["text"].split(" ")) <= {'"a"', "b\\", "ä", "\x01"}
        assert 0 <= found["seen"] - 1_704_067_200_000_000 <= 86_400_000_000
        assert found["inner"]["level"] in range(10)
        assert isinstance(found["inner"]["urgent"], bool)


def nested(depth: int) -> dict[str, Any]:
    column: dict[str, Any] = {"kind": "flag"}
    for _ in range(depth):
        column = {"kind": "object", "columns": {"in": column}}
    return column


@pytest.mark.parametrize(
    ("column", "key", "problem"),
    [
        ({"kind": "wrods"}, "", "no kind of column `wrods`; did you mean `words`?"),
        ({"kind": "x"}, "", "choose one of: keys, whole, real, flag, time, choice, words, uuid"),
        ({"size": 5}, "", "no kind of column ``; choose one of: keys"),
        ({"kind": "keys", "sise": 5}, "", "`keys` has no `sise`; did you mean `size`?"),
        ({"kind": "keys", "size": 0}, ".size", "must be at least 1"),
        ({"kind": "flag", "share": "120 %"}, ".share", "between 0 % and 100 %"),
        ({"kind": "choice", "values": []}, ".values", ""),
        ({"kind": "choice", "values": ["a", "b"], "weights": [0.5, 0.4]}, "", "add up to 0.9; "),
        ({"kind": "choice", "values": ["a"], "weights": [-1]}, ".weights", "between 0 %"),
        ({"kind": "choice", "values": ["a", "b"], "weights": [1]}, "", "2 values and 1 weights; "),
        (
            {"kind": "choice", "values": ["a"], "weights": [1], "distribution": "zipf"},
            "",
            "leave `distribution` out",
        ),
        ({"kind": "words", "vocabulary": []}, "", "has 0 words; give 1 to 1,000,000"),
        ({"kind": "words", "vocabulary": 0}, "", "has 0 words; give 1 to 1,000,000"),
        ({"kind": "words", "vocabulary": ["a b"]}, "", "'a b' is not a word; "),
        ({"kind": "words", "vocabulary": ["a", ""]}, "", "'' is not a word; "),
        ({"kind": "words", "low": 9, "high": 8}, "", "low must not exceed high (9 > 8)"),
        ({"kind": "words", "high": 2_000}, "", "may exceed 4,000 bytes; lower `high`"),
        ({"kind": "words", "vocabulary": ["ä" * 400], "high": 5}, "", "up to 800 bytes"),
        ({"kind": "uuid", "distribution": "zipf"}, "", "give a `size`"),
        ({"kind": "time", "low": "2024-01-02", "high": "2024-01-01"}, "", "must not be after"),
        (
            {"kind": "time", "low": "2024-01-01", "high": "2025-01-01", "step": "1 us"},
            "",
            "at most 2^30 steps",
        ),
        ({"kind": "object", "columns": {}}, ".columns", "at least one column"),
        (
            {"kind": "object", "columns": {"a": {"kind": "object", "columns": {"b": {}}}}},
            ".columns.a.columns.b",
            "no kind of column",
        ),
        (nested(MAX_DEPTH + 1), ".columns", f"nested more than {MAX_DEPTH} deep; take"),
        ("keys", "", "must be a section with keys of its own"),
    ],
)
def test_a_wrong_column_is_refused_by_its_key_with_cause_and_fix(
    column: Any, key: str, problem: str
) -> None:
    with pytest.raises(ExperimentError) as caught:
        validated(StreamSpec, {"columns": {"it": column}}, "workload.events")
    assert caught.value.key == f"workload.events.columns.it{key}"
    assert problem in caught.value.problem


def test_what_is_just_right_is_accepted() -> None:
    for column in (
        nested(MAX_DEPTH),
        {"kind": "words", "vocabulary": ["ä" * 399], "high": 5},
        {"kind": "choice", "values": ["a", "b", "c"], "weights": [1 / 3, "33.33333 %", 1 / 3]},
    ):
        assert validated(StreamSpec, {"columns": {"it": column}}).columns["it"]


def test_columns_can_be_read_from_a_file() -> None:
    text = """
        sensor: {kind: keys, size: 5}
        place:
          kind: object
          columns:
            since: {kind: time, low: 2024-01-01, high: 2024-02-01 12:00:00, step: 1 h}
            dark: {kind: flag, share: 20 %}
    """
    since = Time(low="2024-01-01", high="2024-02-01T12:00:00Z", step="1 h")
    inner = {"since": since, "dark": Flag(share=0.2)}
    assert StreamSpec(columns=yaml.safe_load(text)) == StreamSpec(
        columns={"sensor": Keys(size=5), "place": Object(columns=inner)}
    )
