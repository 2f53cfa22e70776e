from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.dual.history import History
from streamgauge.dual.model.latency import Paradigm
from streamgauge.dual.reports import Report
from streamgauge.measure.paradigms import Paradigms, paradigms_of, parts_of
from tests.dual.cases import few
from tests.dual.reported import OPERATIONS, SECOND_US, placed, seen, switched

DATA, OPERATION = Paradigm.DATA, Paradigm.OPERATION
START, END = 100 * SECOND_US, 160 * SECOND_US
REPORTS: list[Report] = [
    placed(95, DATA),
    seen(110, DATA, queue=50),
    switched(120, OPERATION, gap_ms=900),
    seen(130, OPERATION, queue=150),
    switched(150, DATA, gap_ms=400),
    seen(155, DATA, queue=100),
    switched(170, OPERATION, gap_ms=5_000),
]


def found() -> Paradigms:
    paradigms = paradigms_of(History(REPORTS), START, END)
    assert paradigms is not None
    return paradigms


def test_bands_are_in_seconds_of_the_load_and_end_with_it() -> None:
    first, second, _ = found().operations
    assert [(b.from_s, b.to_s, b.paradigm) for b in first.bands] == [
        (0, 20, DATA),
        (20, 50, OPERATION),
        (50, 60, DATA),
    ]
    assert [(b.from_s, b.to_s) for b in second.bands] == [(0, 60)]
    assert first.operation_stream_percent == 50
    assert second.operation_stream_percent == 0
    assert found().operation_stream_percent == pytest.approx(100 / 6, abs=0.01)


def test_only_switches_during_the_load_count() -> None:
    assert found().switch_count == 2
    assert found().longest_gap_ms == 900
    one = found().switches[0]
    assert (one.at_s, one.asked_s, one.before, one.after) == (20, 19, DATA, OPERATION)
    assert one.gap_s == (19.1, 20)
    assert parts_of(found().switches) == ["stop", "settle", "start", "first result"]


def test_the_last_figures_and_the_latency_of_an_operation() -> None:
    one = found().operations[0]
    assert (one.queue, one.arrival_per_s, one.magnification) == (100, 1_000, 0.33)
    assert (one.upper_limit, one.lower_limit) == (500, 300)
    # A mean queue of 100 records, of which 1,000 per second arrive.
    assert one.latency_ms == 100
    after = paradigms_of(History(REPORTS), START, END, warm_up_us=20 * SECOND_US)
    assert after is not None
    assert after.operations[0].latency_ms == 125


def test_a_system_without_reports_has_no_paradigms() -> None:
    assert paradigms_of(History([]), START, END) is None
    assert paradigms_of(History(REPORTS), START, START) is None


def test_they_are_written_and_read_as_words() -> None:
    text = found().model_dump_json()
    assert '"paradigm":"data stream"' in text
    assert Paradigms.model_validate_json(text) == found()


@few
@given(
    st.lists(st.tuples(st.integers(0, 200), st.sampled_from(Paradigm)), max_size=8),
    st.integers(0, 200),
    st.integers(1, 100),
)
def test_the_bands_of_an_operation_cover_the_load(
    switches: list[tuple[int, Paradigm]], start: int, length: int
) -> None:
    reports: list[Report] = [placed(0, DATA), *(switched(at, after) for at, after in switches)]
    start_us = start * SECOND_US
    paradigms = paradigms_of(History(reports), start_us, start_us + length * SECOND_US)
    assert paradigms is not None
    assert [one.operation for one in paradigms.operations] == list(OPERATIONS)
    for one in paradigms.operations:
        assert (one.bands[0].from_s, one.bands[-1].to_s) == (0, length)
        assert all(band.to_s == after.from_s for band, after in pairwise(one.bands))
        share = 100 * sum(b.to_s - b.from_s for b in one.bands if b.paradigm is OPERATION) / length
        assert one.operation_stream_percent == pytest.approx(share, abs=0.01)
