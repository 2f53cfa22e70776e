from __future__ import annotations

import pytest

from streamgauge.dual.history import History
from streamgauge.dual.model.latency import Paradigm
from streamgauge.dual.reports import Seen, SegmentSeen
from streamgauge.measure.components import (
    OwnParts,
    components,
    of_micro_batches,
    of_segments,
    outside_wait_ms,
)

SECOND_US = 1_000_000


def test_the_parts_of_micro_batches_by_hand() -> None:
    # Batches of 500 ms one after the other, 400 ms of them computing 500 records.
    parts = of_micro_batches([500, 500, 900], [400, 400, 400], 0.0, rate_per_s=1_000)
    assert parts.process_ms == 0.8
    assert parts.wait_ms == pytest.approx(250 + 400 - 0.8)
    assert parts.schedule_ms == 100


def test_a_trigger_that_is_longer_than_the_batches_is_the_interval() -> None:
    parts = of_micro_batches([500], [400], 2_000.0, rate_per_s=1_000)
    assert parts.wait_ms == pytest.approx(1_000 + 400 - 0.2)
    assert parts.schedule_ms == 100


def test_without_batches_nothing_is_known() -> None:
    assert of_micro_batches([], [], 0.0, 1_000.0) == OwnParts()


def segment(paradigm: Paradigm, **changes: float) -> SegmentSeen:
    values: dict[str, object] = {
        "operations": ("filter",),
        "paradigm": paradigm,
        "queue": 1,
        "arrival_per_s": 1_000.0,
        "data_speed_per_s": 2_000.0,
        "operation_speed_per_s": 10_000.0,
        **changes,
    }
    return SegmentSeen.model_validate(values)


def parts_seen(*segments: SegmentSeen) -> OwnParts:
    reports = [Seen(at_us=at * SECOND_US, segments=segments) for at in (5, 6)]
    return of_segments(History(reports), 0, 10 * SECOND_US)


def test_a_data_stream_neither_waits_nor_schedules() -> None:
    parts = parts_seen(segment(Paradigm.DATA), segment(Paradigm.DATA))
    assert (parts.wait_ms, parts.schedule_ms, parts.process_ms) == (0, 0, 1.0)


def test_an_operation_stream_waits_for_half_an_interval_and_for_its_batch() -> None:
    held = segment(Paradigm.OPERATION, interval_ms=500.0, schedule_ms=30.0)
    parts = parts_seen(held, segment(Paradigm.DATA))
    assert parts.wait_ms == pytest.approx(250 + 0.1 * 500)
    assert parts.schedule_ms == 30
    assert parts.process_ms == pytest.approx(0.1 + 0.5)


def test_what_is_not_reported_is_not_known() -> None:
    parts = parts_seen(segment(Paradigm.OPERATION))
    assert (parts.wait_ms, parts.schedule_ms) == (None, None)
    assert of_segments(History([]), 0, 1) == OwnParts()


def test_a_backlog_that_only_goes_up_and_down_with_the_batches_is_no_wait() -> None:
    times = [n / 10 for n in range(600)]
    queued = [1_000.0 * (1 + at % 1) for at in times]
    assert outside_wait_ms(times, queued, 1_000.0, 15.0) == pytest.approx(0, abs=1)


def test_a_backlog_that_grows_is_a_wait() -> None:
    times = [n / 10 for n in range(600)]
    queued = [100.0 * at for at in times]
    found = outside_wait_ms(times, queued, 1_000.0, 10.0)
    # From 10 s on it grows by 5,000 events; half of it on average, in stretches of 5 s.
    assert found == pytest.approx(2_000, rel=0.15)
    assert outside_wait_ms(times, queued, 0.0, 10.0) is None
    assert outside_wait_ms([], [], 1_000.0, 10.0) is None


def test_the_network_is_the_rest_and_never_negative() -> None:
    parts = OwnParts(process_ms=1.0, wait_ms=200.0, schedule_ms=50.0)
    assert components(parts, 300.0, 9.0, growing=False).network_ms == 40
    assert components(parts, 100.0, 0.0, growing=False).network_ms == 0
    grown = components(parts, 300.0, 9_000.0, growing=True)
    assert (grown.network_ms, grown.outside_wait_ms, grown.growing) == (None, 9_000, True)
