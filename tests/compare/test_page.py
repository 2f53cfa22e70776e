from __future__ import annotations

import re
from pathlib import Path

from streamgauge.compare.comparison import Comparison, compare
from streamgauge.compare.fail_if import check, parse_fail_if
from streamgauge.compare.measured import run_subject
from streamgauge.compare.page import render_comparison, write_comparison
from streamgauge.compare.published import published_subject
from streamgauge.measure.summary import Summary
from tests.report import samples
from tests.report.page import Page

from . import made_up

HOSTILE = "</script><b id='evil'>&\"'<!--"


def compared(base: Summary, *others: Summary) -> Comparison:
    return compare(run_subject(base), [run_subject(other) for other in others])


def page_of(base: Summary, *others: Summary) -> Page:
    return Page(render_comparison(compared(base, *others)))


def test_writes_one_file_that_loads_nothing_from_outside(tmp_path: Path) -> None:
    comparison = compared(made_up.single(), made_up.single(700))
    path = write_comparison(comparison, {}, [], tmp_path / "page.html")
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]
    source = path.read_text(encoding="utf-8")
    page = Page(source)
    assert [one for one in page.elements if {"src", "href"} & one.attributes.keys()] == []
    banner = "/*! https://github.com/leeoniya/uPlot (v1.6.32) */"
    assert not re.search(r"https?://", source.replace(banner, ""))
    assert "$" not in page.one("title").text
    # The look of the report, and what a comparison needs besides.
    styles = "".join(one.text for one in page.all("style"))
    assert ".verdict {" in styles
    assert ".swing {" in styles


def test_every_change_is_a_row_with_words_besides_the_colour() -> None:
    page = page_of(made_up.repeated([800, 810, 805]), made_up.repeated([700, 705, 712]))
    assert page.row("p99") == [
        "1.53 s",
        "1.34 s",
        "−189 ms",
        "−12.3 %",
        "",
        "± 24 ms (1.6 %)",
        "▲ better",
    ]
    rows = [one for one in page.all("tr") if "data-figure" in one.attributes]
    assert len(rows) == 35
    assert {one.text for one in page.all(class_="good")} == {"", "▲ better", "✓ PASSED"}


def test_the_bar_shows_the_change_against_the_margin() -> None:
    source = render_comparison(
        compared(made_up.repeated([800, 810, 805]), made_up.repeated([700, 705, 712]))
    )
    assert 'class="doubt" style="left:' in source
    # The largest change fills its half.
    assert 'class="size good" style="left:0.00%;width:50.00%"' in source


def test_the_noise_of_single_runs_is_shown_as_unknown() -> None:
    page = page_of(made_up.single(800), made_up.single(900))
    assert page.one("p", class_="noise").text == "one run each: the noise is unknown"
    assert "? noise unknown" in page.row("p99")
    assert not any("significant" in one.text for one in page.all("td"))


def test_verdicts_that_differ_come_before_everything_else() -> None:
    other = made_up.single(700, verdict="invalid", reasons=["12 results are missing"])
    page = page_of(made_up.single(), other)
    alarm = page.one("ul", class_="alarm")
    assert "the verdicts differ: base is ✓ VALID, other is ✗ INVALID" in alarm.text
    assert page.elements.index(alarm) < page.elements.index(page.all("section")[0])


def test_without_an_alarm_there_is_none() -> None:
    assert page_of(made_up.single(), made_up.single(700)).all("ul", class_="alarm") == []


def test_differences_and_lone_cases_are_listed() -> None:
    base = made_up.sweep({1: [800, 801], 2: [800, 801]}, "workload.keys")
    other = made_up.sweep(
        {2: [800, 802], 3: [800, 801]}, "workload.keys", versions={"spark": "4.2.0"}
    )
    listed = [one.text for one in page_of(base, other).all("li")]
    assert "version of spark differs: 4.3.0 → 4.2.0" in listed
    assert "only in the base: keys 1" in listed
    assert f"only in {other.run}: keys 3" in listed


def test_many_cases_are_folded() -> None:
    runs = [
        made_up.sweep({n: [800 + n, 801] for n in range(cases)}, "workload.keys")
        for cases in (3, 4)
    ]
    assert page_of(runs[0], runs[0]).all("details") == []
    assert len(page_of(runs[1], runs[1]).all("details")) == 4


def test_several_others_have_a_part_each() -> None:
    page = page_of(*(made_up.single(mean, run=f"r{mean}") for mean in (800, 700, 900)))
    assert [one.text for one in page.all("h2", class_="against")] == [
        "Against r700",
        "Against r900",
    ]


def test_the_outcome_of_fail_if_is_shown() -> None:
    comparison = compared(made_up.single(800), made_up.single(900, run="other"))
    checks = check([parse_fail_if(text) for text in ("p99:+5%", "throughput:-1%")], comparison)
    items = Page(render_comparison(comparison, checks=checks)).all("li")
    assert [(one.text[0], one.attributes["class"]) for one in items] == [
        ("✗", "bad"),
        ("✓", "good"),
    ]


def test_a_published_base_is_shown_with_its_source() -> None:
    base = published_subject("published:table-2/spark/2-nodes")
    comparison = compare(base, [run_subject(made_up.search(400_000, failed=420_000))])
    page = Page(render_comparison(comparison))
    assert page.one("h1").text == "Spark 2.0.1, 2 nodes (Karimov et al. 2018) against quickstart"
    assert any("Benchmarking Distributed Stream" in one.text for one in page.all("li"))
    assert page.row("maximum sustainable")[:2] == ["379,000/s", "400,000/s"]


def test_latency_over_time_is_drawn_for_runs_with_series() -> None:
    comparison = compared(made_up.single(run="a"), made_up.single(700, run="b"))
    series = samples.series()
    page = Page(render_comparison(comparison, {"a": series, "b": series}))
    charts = page.charts()
    assert list(charts) == ["latency-p50", "latency-p99"]
    chart = charts["latency-p99"]
    assert [(one["label"], one["colour"]) for one in chart["series"]] == [("a", 1), ("b", 2)]
    assert len(chart["x"]["values"]) == sum(
        value is not None for value in series.latency.event_time_p99
    )
    assert chart["bands"] == [{"start": 0.0, "end": 15.0, "label": "warm-up", "colour": 0}]


def test_sweeps_are_drawn_over_what_they_vary() -> None:
    base = made_up.sweep({"2 s": [900, 901], "500 ms": [800, 801]}, "system.trigger", run="a")
    other = made_up.sweep({"500 ms": [700, 701], "2 s": [950, 951]}, "system.trigger", run="b")
    charts = page_of(base, other).charts()
    assert list(charts) == ["over-drained_per_s", "over-event_time.p99"]
    chart = charts["over-event_time.p99"]
    assert (chart["x"]["unit"], chart["x"]["values"]) == ("s", [0.5, 2])
    assert [(one["label"], one["colour"]) for one in chart["series"]] == [("a", 1), ("b", 2)]
    first, last = chart["series"][1]["values"]
    assert first < last


def test_a_sweep_beside_runs_that_vary_nothing_is_not_drawn() -> None:
    sweep = made_up.sweep({1: [900, 901], 2: [800, 801]}, "workload.keys")
    single = made_up.single(parameters={"workload.keys": 1})
    assert page_of(single, sweep, single).charts() == {}


def test_sweeps_of_different_parameters_have_no_common_axis() -> None:
    single = made_up.single(parameters={"workload.keys": 1, "load.rate": 1})
    keys, rates = (
        made_up.sweep({1: [900, 901], 2: [800, 801]}, key, run=key)
        for key in ("workload.keys", "load.rate")
    )
    assert page_of(single, keys, rates).charts() == {}


def test_names_are_no_axis() -> None:
    base = made_up.sweep({"zipf": [900, 901], "normal": [800, 801]}, "workload.distribution")
    assert page_of(base, base).charts() == {}


def test_hostile_text_stays_text() -> None:
    base = made_up.single(run=HOSTILE, name=HOSTILE, parameters={HOSTILE: HOSTILE})
    other = made_up.sweep({HOSTILE: [1], "b": [2]}, HOSTILE, run=HOSTILE, reasons=[HOSTILE])
    comparison = compared(base, other, made_up.single(verdict="invalid", reasons=[HOSTILE]))
    source = render_comparison(comparison, {HOSTILE: samples.series()})
    page = Page(source)
    assert page.all(id="evil") == []
    assert page.one("h1").text.startswith(HOSTILE)
