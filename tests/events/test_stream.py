from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge import Choice, Keys, Real, Whole, event_spec
from streamgauge.events.gaming import GamingDataSet
from streamgauge.events.spec import DataSet
from streamgauge.events.stream import BLOCK, EventStream


class EvenClock:
    """An event every ten microseconds."""

    def times_us(self, first: int, last: int) -> np.ndarray:
        return np.arange(first, last, dtype=np.int64) * 10


def stream_of(
    data_set: DataSet | None = None, *, seed: int = 7, instance: int = 0, disorder_us: int = 0
) -> EventStream:
    chosen = data_set or GamingDataSet.of()
    source = next(iter(chosen.streams.values()))
    return EventStream(source, EvenClock(), seed, instance, disorder_us)


places = st.integers(0, 3 * BLOCK)


@given(places, places, places)
@settings(max_examples=25, deadline=None)
def test_any_range_equals_the_same_range_cut_from_a_longer_one(a: int, b: int, c: int) -> None:
    first, middle, last = sorted((a, b, c))
    stream = stream_of()
    whole = pa.Table.from_batches([stream.batch(first, last)])
    parts = pa.Table.from_batches([stream.batch(first, middle), stream.batch(middle, last)])
    assert whole.equals(parts.combine_chunks()) or whole.to_pydict() == parts.to_pydict()


NAMES = tuple(stream_of().source.columns)


@given(st.sets(st.sampled_from(NAMES)), places, st.sampled_from([0, 500]))
@settings(max_examples=25, deadline=None)
def test_a_column_is_the_same_whichever_others_are_read(
    reads: set[str], first: int, disorder_us: int
) -> None:
    whole = stream_of(disorder_us=disorder_us)
    part = replace(whole, source=whole.source.reading(tuple(reads)))
    read = part.batch(first, first + 1_000)
    assert read.schema.names == ["event_time", *(name for name in NAMES if name in reads)]
    assert read.equals(whole.batch(first, first + 1_000).select(read.schema.names))
    same = part.fingerprint(first, first + 1_000) == whole.fingerprint(first, first + 1_000)
    assert same is (len(reads) == len(NAMES))


def test_a_query_cannot_read_what_the_stream_does_not_have() -> None:
    with pytest.raises(ValueError, match="reads 'prize', the stream has user, gem_pack"):
        stream_of().source.reading(("prize",))


def test_the_same_seed_gives_the_same_bytes_on_any_machine() -> None:
    """Golden values: after a change of the generator, new results do not compare with old ones."""
    gaming = stream_of()
    assert f"{gaming.fingerprint(0, 100_000):016x}" == GOLDEN_GAMING
    own = stream_of(
        event_spec(
            sensor=Keys(size=1_000_000, distribution="zipf", zipf_s=1.2),
            level=Whole(low=-5, high=5),
            temperature=Real(low=-10, high=40, decimals=1, distribution="normal"),
            state=Choice(values=("ok", "warm", "hot"), distribution="zipf"),
        ),
        disorder_us=500,
    )
    assert f"{own.fingerprint(0, 100_000):016x}" == GOLDEN_OWN


GOLDEN_GAMING = "86d723f47a1870e3"
GOLDEN_OWN = "0c0ea7a1b7ec876e"


@pytest.mark.parametrize("change", [{"seed": 8}, {"instance": 1}])
def test_seed_and_instance_change_the_events(change: dict[str, int]) -> None:
    assert stream_of().fingerprint(0, 1_000) != stream_of(**change).fingerprint(0, 1_000)


def test_fingerprints_of_blocks_add_up_to_that_of_the_whole() -> None:
    stream = stream_of()
    parts = sum(stream.fingerprint(b * BLOCK, (b + 1) * BLOCK) for b in range(3))
    assert stream.fingerprint(0, 3 * BLOCK) == parts % 2**64


def test_a_fingerprint_notices_one_changed_event_time() -> None:
    class OneLate(EvenClock):
        def times_us(self, first: int, last: int) -> np.ndarray:
            times = super().times_us(first, last)
            times[len(times) // 2] += 1
            return times

    stream = stream_of()
    changed = replace(stream, clock=OneLate())
    assert stream.fingerprint(0, 1_000) != changed.fingerprint(0, 1_000)


def test_a_batch_with_its_fingerprint_is_the_batch_and_its_fingerprint() -> None:
    stream = stream_of()
    batch, fingerprint = stream.batch_and_fingerprint(10, 5_000, 123)
    assert batch.equals(stream.batch(10, 5_000, 123))
    assert fingerprint == stream.fingerprint(10, 5_000)
    with pytest.raises(ValueError, match="one block"):
        stream.batch_and_fingerprint(0, BLOCK + 1, 0)


def test_disorder_makes_events_older_but_never_more_than_the_bound() -> None:
    batch = stream_of(disorder_us=3_000).batch(0, 50_000)
    due = EvenClock().times_us(0, 50_000)
    behind = due - batch.column("event_time").cast(pa.int64()).to_numpy()
    assert behind.min() == 0
    assert behind.max() == 3_000
    assert abs(behind.mean() - 1_500) < 30


def test_event_time_is_the_scheduled_time() -> None:
    times = stream_of().batch(5, 8, start_us=1_000_000).column("event_time").cast(pa.int64())
    assert times.to_pylist() == [1_000_050, 1_000_060, 1_000_070]


def test_an_empty_range_is_an_empty_batch() -> None:
    assert stream_of().batch(5, 5).num_rows == 0
