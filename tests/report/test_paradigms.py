"""What a report shows of the dual-paradigm runtime."""

from __future__ import annotations

from streamgauge.dual.history import History
from streamgauge.dual.model.latency import Paradigm
from streamgauge.dual.reports import Report
from streamgauge.measure.paradigms import Paradigms, paradigms_of
from streamgauge.report.html import excerpt, render_report
from streamgauge.report.paradigms import operation_stream_bands
from tests.dual.reported import OPERATIONS, SECOND_US, placed, seen, switched

from . import samples
from .page import Page

DATA, OPERATION = Paradigm.DATA, Paradigm.OPERATION
REPORTS: list[Report] = [
    placed(95, DATA),
    seen(110, DATA),
    switched(120, OPERATION, gap_ms=1_200),
    switched(121, OPERATION, operations=("join",)),
    switched(145, DATA),
    switched(146, DATA, operations=("join",)),
    switched(150, OPERATION, operations=OPERATIONS),
]


def found() -> Paradigms:
    paradigms = paradigms_of(History(REPORTS), 100 * SECOND_US, 160 * SECOND_US)
    assert paradigms is not None
    return paradigms


def page(paradigms: Paradigms | None) -> Page:
    update = {"paradigms": paradigms}
    summary = samples.summary().model_copy(update=update)
    return Page(render_report(summary, samples.series().model_copy(update=update)))


def test_every_chart_over_time_is_shaded_while_an_operation_is_an_operation_stream() -> None:
    bands = operation_stream_bands(found())
    assert [(band.start, band.end, band.label) for band in bands] == [
        (20, 46, "operation stream: filter, join"),
        (50, 60, "operation stream: all"),
    ]
    charts = page(found()).charts()
    for name in ("latency", "pull", "cpu", "memory"):
        labels = [band["label"] for band in charts[name]["bands"]]
        assert labels == ["warm-up", *(band.label for band in bands)]
    assert charts["histogram"]["bands"] == []


def test_an_operation_has_a_lane_with_its_paradigms_and_gaps() -> None:
    chart = page(found()).charts()["paradigms"]
    assert [lane["label"] for lane in chart["lanes"]] == list(OPERATIONS)
    pieces = [(p["start"], p["end"], p["label"]) for p in chart["lanes"][0]["pieces"]]
    assert pieces[:3] == [
        (0, 20, "data stream"),
        (20, 45, "operation stream"),
        (45, 50, "data stream"),
    ]
    assert (18.8, 20, "gap") in pieces
    # The cursor finds a value everywhere: data stream, operation stream, gap.
    for series in chart["series"]:
        assert set(series["values"]) <= {0, 1, 2}
    assert set(chart["series"][0]["values"]) == {0, 1, 2}


def test_operations_and_switches_are_tables() -> None:
    report = page(found())
    assert report.row("filter")[:3] == ["58.3 %", "100 ms", "1,000/s"]
    assert report.row("filter")[5] == "0.33"
    assert report.row("20.0 s")[:3] == ["filter", "data stream → operation stream", "1.20 s"]
    assert report.row("20.0 s")[3:] == ["300 ms", "100 ms", "350 ms", "250 ms", "1.00 s", "500 ms"]
    assert "Switches (5)" in report.one("section", id="paradigms").text


def test_a_run_without_a_switch_says_so() -> None:
    calm = paradigms_of(History(REPORTS[:2]), 100 * SECOND_US, 160 * SECOND_US)
    assert "No operation was switched" in page(calm).one("section", id="paradigms").text
    assert operation_stream_bands(calm) == []


def test_other_systems_have_nothing_of_it() -> None:
    report = page(None)
    assert "paradigms" not in report.charts()
    assert not report.all("section", id="paradigms")


def test_an_excerpt_has_the_lanes_too() -> None:
    series = samples.series().model_copy(update={"paradigms": found()})
    assert "paradigms" in Page(excerpt(samples.summary(), series)).charts()
