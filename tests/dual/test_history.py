"""The history of the paradigms, from reports."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.dual.explaining import explain, in_words
from streamgauge.dual.history import History, read_reports
from streamgauge.dual.model.latency import Paradigm
from streamgauge.dual.reports import Report, Seen, Switched
from streamgauge.errors import StreamgaugeError
from tests.dual.cases import few
from tests.dual.reported import OPERATIONS, decided, line, placed, seen, switched

DATA, OPERATION = Paradigm.DATA, Paradigm.OPERATION
SECOND = 1_000_000

times = st.integers(0, 100)
paradigms = st.sampled_from(Paradigm)
switches = st.builds(
    lambda at, after, names: switched(at, after, operations=tuple(names)),
    times,
    paradigms,
    st.lists(st.sampled_from(OPERATIONS), min_size=1, unique=True),
)
reports = st.lists(
    st.one_of(
        switches,
        st.builds(placed, times, paradigms),
        st.builds(seen, times, paradigms),
        st.builds(decided, times),
    )
)


@few
@given(reports, times, times)
def test_the_bands_of_an_operation_cover_the_load_without_hole_or_overlap(
    found: list[Report], one: int, other: int
) -> None:
    first, last = sorted((one * SECOND, other * SECOND))
    history = History(found)
    for operation in history.operations:
        bands = history.bands(operation, first, last)
        assert bool(bands) == (first < last)
        if not bands:
            continue
        assert (bands[0].from_us, bands[-1].to_us) == (first, last)
        for band, after in pairwise(bands):
            assert band.to_us == after.from_us
            assert band.paradigm is not after.paradigm
        assert all(band.from_us < band.to_us for band in bands)


def test_a_switch_counts_from_its_first_result() -> None:
    history = History([placed(0, DATA), switched(5, OPERATION, asked=4), switched(9, DATA)])
    bands = history.bands("filter", 2 * SECOND, 12 * SECOND)
    found = [(band.from_us // SECOND, band.to_us // SECOND, band.paradigm) for band in bands]
    assert found == [(2, 5, DATA), (5, 9, OPERATION), (9, 12, DATA)]


def test_a_beginning_that_was_not_reported_is_told_from_what_was_seen_or_switched() -> None:
    only_seen = History([seen(3, OPERATION)])
    assert [band.paradigm for band in only_seen.bands("count", 0, 9 * SECOND)] == [OPERATION]
    only_switched = History([switched(5, OPERATION)])
    bands = only_switched.bands("filter", 0, 9 * SECOND)
    assert [band.paradigm for band in bands] == [DATA, OPERATION]


def test_what_the_monitor_sees_in_the_middle_of_a_switch_changes_nothing() -> None:
    found = [placed(0, DATA), seen(4, OPERATION), switched(5, OPERATION), seen(5, DATA)]
    bands = History(found).bands("filter", 0, 8 * SECOND)
    assert [band.from_us for band in bands] == [0, 5 * SECOND]


@pytest.mark.parametrize("wrapped", [True, False])
def test_reports_are_read_from_both_files(tmp_path: Path, wrapped: bool) -> None:
    wanted: list[Report] = [placed(0, DATA), seen(1, DATA), decided(2), switched(3, OPERATION)]
    lines = [line(one) for one in wanted]
    if wrapped:
        said = ({"time_us": 1, "event": "system", "said": json.loads(one)} for one in lines)
        lines = ['{"event": "load", "start_us": 0}', *map(json.dumps, said)]
    path = tmp_path / "reports.ndjson"
    path.write_text("\n".join([*lines, "not JSON", '{"event": "dual-pla']))
    assert read_reports(path) == wanted


def test_a_report_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "reports.ndjson"
    path.write_text('{"event": "dual-seen", "at_us": 1, "segments": [{"operations": 5}]}\n')
    with pytest.raises(StreamgaugeError, match=r"`dual-seen` that cannot be understood"):
        read_reports(path)


def test_the_explanation_names_place_reason_and_switches() -> None:
    found: list[Report] = [placed(10, DATA), seen(11, DATA), decided(14), switched(15, OPERATION)]
    words = "\n".join(in_words(explain(History(found), 10 * SECOND)))
    assert "filter: operation stream since 5.0 s" in words
    assert "count: data stream since 0.0 s" in words
    assert "why: queue 900 > upper limit 500 (decided at 4.0 s: switch)" in words
    assert "arrival_per_s 1,000" in words
    assert "1 switch within 5.0 s" in words
    assert "filter: data stream → operation stream, gap 800 ms (stop 300 ms" in words


def test_a_switch_without_a_result_has_no_gap() -> None:
    silent = switched(15, OPERATION).model_copy(update={"first_output_us": None})
    words = "\n".join(in_words(explain(History([placed(10, DATA), silent]))))
    assert "no result within a minute" in words
    assert isinstance(silent, Switched)
    assert silent.gap_ms is None


def test_without_reports_there_is_no_history() -> None:
    assert not History([])
    assert not History([decided(1)])
    assert History([Seen(at_us=1, segments=seen(1, DATA).segments)])
