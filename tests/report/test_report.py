from __future__ import annotations

import re
from pathlib import Path

import pytest

from streamgauge.measure.figures import FIGURES
from streamgauge.measure.summary import (
    Latency,
    LatencyStatistics,
    Series,
    ThresholdResult,
    TrialSummary,
    Validation,
    Verdict,
)
from streamgauge.report.html import render_report, write_report

from . import samples
from .page import Page

FAILED = [{"expression": "event_time.p99 < 5 s", "passed": False}]
HOSTILE = "</script><b id='evil'>&\"'<!--"


def page_of(**changes: object) -> Page:
    """The report of the sample run, with some of its summary changed."""
    summary = TrialSummary.model_validate({**samples.summary().model_dump(), **changes})
    return Page(render_report(summary, samples.series()))


def test_writes_one_file_and_returns_its_path(tmp_path: Path) -> None:
    path = write_report(samples.summary(), samples.series(), tmp_path / "report.html")

    assert path == tmp_path / "report.html"
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_name_that_is_no_utf8_does_not_lose_the_report(tmp_path: Path) -> None:
    summary = samples.summary().model_copy(update={"name": "caf\udce9"})

    path = write_report(summary, samples.series(), tmp_path / "report.html")

    assert "caf?" in path.read_text(encoding="utf-8")


def test_loads_nothing_from_outside() -> None:
    source = render_report(samples.summary(), samples.series())
    page = Page(source)

    assert [one for one in page.elements if {"src", "href"} & one.attributes.keys()] == []
    assert page.all("link") == []
    assert "@import" not in source
    assert not re.search(r"url\(", page.one("style").text)
    banner = "/*! https://github.com/leeoniya/uPlot (v1.6.32) */"
    assert not re.search(r"https?://", source.replace(banner, ""))


def test_the_library_brings_its_licence() -> None:
    source = render_report(samples.summary(), samples.series())

    assert "The MIT License (MIT)" in source
    assert "Copyright (c) 2022 Leon Sorokin" in source
    assert source.index("The MIT License") < source.index("var uPlot=")


def test_hostile_text_stays_text_wherever_it_comes_from() -> None:
    data = samples.summary().model_dump()
    series = samples.series().model_dump()
    for name in ("name", "run", "command", "input_hash", "started_at"):
        data[name] = HOSTILE
    data["reasons"] = data["unsustained_because"] = data["validation"]["examples"] = [HOSTILE]
    data["validation"]["oracle"] = HOSTILE
    data["thresholds"] = [{"expression": HOSTILE, "value": 1.0, "passed": False}]
    for name in ("versions", "machine", "parameters"):
        data[name] = {HOSTILE: HOSTILE, "about": HOSTILE}
    data["phases_s"] = {HOSTILE: 1.0}
    data["driver"][0] |= {"stream": HOSTILE, "unsustained_because": HOSTILE}
    data["resources"] = {HOSTILE: data["resources"]["sink"]}
    series["resources"]["roles"] = {HOSTILE: series["resources"]["roles"]["sink"]}

    source = render_report(TrialSummary.model_validate(data), Series.model_validate(series))
    page = Page(source)

    assert "<b id" not in source
    assert "<!--" not in source
    assert page.all("b") == []
    assert page.one("h1").text == HOSTILE
    assert page.charts()["cpu"]["series"][0]["label"] == HOSTILE
    assert len(page.all("script")) == 5


@pytest.mark.parametrize(
    ("changes", "kind", "headline"),
    [
        ({}, "good", "✓ PASSED"),
        ({"sustained": False}, "bad", "✗ NOT SUSTAINED"),
        ({"thresholds": FAILED}, "bad", "✗ THRESHOLD FAILED"),
        ({"verdict": "invalid", "sustained": False}, "bad", "✗ INVALID"),
        ({"verdict": "unknown"}, "open", "? UNKNOWN"),
        ({"verdict": "void", "sustained": False}, "void", "∅ VOID"),
        ({"status": "failed"}, "bad", "✗ BROKEN OFF"),
        ({"status": "interrupted", "verdict": "unknown"}, "open", "? INTERRUPTED"),
    ],
)
def test_one_headline_is_coloured_by_the_outcome(
    changes: dict[str, object], kind: str, headline: str
) -> None:
    page = page_of(**{"thresholds": [], **changes})

    assert page.one("p", class_="word").text == headline
    assert page.all("section", class_=f"is-{kind}")


def test_every_reason_is_shown_once_beside_what_it_explains() -> None:
    driver = [one.model_dump() for one in samples.summary().driver]
    driver[1]["unsustained_because"] = "the queue passed q_b"
    reasons = {
        "reasons": ["12 results are missing, see `validation`"],
        "unsustained_because": ["driver instance 1: the queue passed q_b"],
    }

    page = page_of(verdict="invalid", sustained=False, driver=driver, **reasons)

    answers = [one.text for one in page.one("section", class_="verdict").children]
    assert answers[1:] == [
        "results✗ invalid12 results are missing, see validation",
        "sustained✗ nodriver instance 1: the queue passed q_b",
    ]
    assert page.one("main").text.count("passed q_b") == 1


@pytest.mark.parametrize(
    ("sustained", "text"), [(True, "✓ yes"), (False, "✗ no"), (None, "? unknown")]
)
def test_the_page_shows_whether_the_rate_was_sustained(sustained: bool | None, text: str) -> None:
    assert page_of(sustained=sustained).one(id="sustained").text == text


def test_a_finished_full_run_carries_no_stamp() -> None:
    assert page_of().all("p", class_="stamp", role="note") == []


def test_a_quick_run_is_stamped() -> None:
    stamp = page_of(quick=True).one("p", class_="stamp", role="note").text
    assert stamp == "quick run: the numbers are meaningless for comparison"


def test_the_top_shows_what_runs_and_on_what() -> None:
    page = page_of(parameters={**samples.summary().parameters, "load.rate": 10_000.0})

    assert page.one("h1").text == "aggregation-latency gaming.aggregation on spark at 10,000/s"
    assert page.one("title").text.startswith(
        "aggregation-latency: gaming.aggregation on spark at 10,000/s · "
    )
    lines = [one.text for one in page.all("p", class_="about")]
    assert lines[1] == "system spark 4.3.0, master local[2]"
    assert lines[2].startswith("machine AMD EPYC 7763 64-Core Processor, 2 cores")
    assert "java 21.0.5" in lines[3]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"system.name": "simulated", "load.rate": "search"}, "simulated at its maximum rate"),
        ({"load.rate": "90 %"}, "spark at 90 % of its maximum rate"),
        ({"load.rate": [1_000.0, 2_000.0]}, "spark at 2 rates"),
        ({"system.name": ["simulated", "spark"]}, "simulated and spark"),
    ],
)
def test_the_title_follows_the_settings(changes: dict[str, object], text: str) -> None:
    page = page_of(parameters={**samples.summary().parameters, **changes})
    assert page.one("h1").text.endswith(f" gaming.aggregation on {text}")


def test_the_top_shows_memory_and_cluster() -> None:
    cluster = {"system.memory": "4g", "system.cluster.workers": 2, "system.cluster.cores": 1}
    page = page_of(parameters={**samples.summary().parameters, **cluster})
    lines = [one.text for one in page.all("p", class_="about")]
    assert lines[1] == "system spark 4.3.0, 2 workers, 1 cores each, memory 4g"


def test_a_threshold_shows_its_mark_and_its_value_in_its_unit() -> None:
    results = [
        ThresholdResult(expression="event_time.p99 < 5 s", value=3120.5, passed=True),
        ThresholdResult(expression="drained_per_s > 100_000", value=99_000, passed=False),
        ThresholdResult(expression="validation.missing == 0", value=1200, passed=False),
        ThresholdResult(expression="event_time.p99_9 < 5 s", passed=False, reason="54 results"),
        ThresholdResult(expression="something.new > 1", value=2.5, passed=True),
    ]

    page = page_of(thresholds=[one.model_dump() for one in results])

    items = page.all("li", class_="good") + page.all("li", class_="bad")
    assert sorted(one.text for one in items) == [
        "✓event_time.p99 < 5 s3.12 s",
        "✓something.new > 12.50",
        "✗drained_per_s > 100_00099,000/s",
        "✗event_time.p99_9 < 5 s54 results",
        "✗validation.missing == 01,200",
    ]


def test_figures_have_units() -> None:
    page = page_of()

    headline = page.one("dl", class_="headline").text
    assert "100,000/s" in headline
    assert "99,873/s" in headline
    assert page.row("mean") == ["1.42 s", "702 ms"]
    assert page.row("p99.9") == ["4.01 s", "2.56 s"]
    assert page.row("results") == ["11,000", "11,000"]


def test_a_quantile_of_too_few_results_shows_how_many_it_needs() -> None:
    few = LatencyStatistics(count=54, mean=800.0, p50=790.0)

    page = page_of(latency_ms=Latency(event_time=few).model_dump())

    assert page.row("p99") == ["needs 1,000 results", "–"]
    assert page.row("p50") == ["790 ms", "–"]
    assert "54 results; p99 needs 1,000" in page.one("dl", class_="headline").text
    assert page.all("span", title="no results after the warm-up")[0].text == "–"


def test_a_growing_latency_has_no_mean() -> None:
    growing = LatencyStatistics(count=900, mean=22_000.0, growing=True, growth_per_s=803.26)

    page = page_of(latency_ms=Latency(event_time=growing).model_dump())

    assert page.row("mean")[0] == "growing by 803.3 ms/s: a mean has no meaning"
    assert "22.0 s" not in page.one("main").text


def test_validation_marks_faults_and_keeps_examples_folded() -> None:
    validation = Validation(
        expected=120_000, actual=119_996, missing=4, extra=0, wrong=None, late=3,
        oracle="the same function, run as a batch", input_matches=False,
        examples=["missing: key 17", "missing: key 18"],
    )  # fmt: skip

    page = page_of(validation=validation.model_dump(), verdict=Verdict.INVALID)

    assert page.row("expected") == ["120,000"]
    assert page.row("missing") == ["✗ 4"]
    assert page.row("extra") == ["✓ 0"]
    assert page.row("wrong") == ["–"]
    assert page.row("late") == ["✗ 3"]
    assert page.row("same input") == ["✗ no"]
    assert "the same function, run as a batch" in page.one("main").text
    folded = next(one for one in page.all("details") if one.text.startswith("examples (2)"))
    assert folded.text == "examples (2)missing: key 17missing: key 18"


def test_the_longest_queue_is_shown_against_its_marks() -> None:
    page = page_of()

    assert page.row("0")[3:] == ["91,204", "150,000 · 300,000 · 900,000", "2.3 ms"]
    assert page.all("i", class_="good")[0].attributes["style"] == "width:10.13%"
    assert page.all("i", class_="open")[0].attributes["style"] == "width:20.97%"
    assert page.all("i", class_="tick")[0].attributes["style"] == "left:16.67%"


def test_the_page_shows_how_to_repeat_the_run() -> None:
    page = page_of()

    assert page.one("pre", class_="command").text == samples.summary().command
    assert page.row("seed") == ["7"]
    assert page.row("input hash") == [samples.summary().input_hash]


def test_the_environment_is_folded_and_complete() -> None:
    page = page_of(parameters={"load.rate": 10_000.0})

    folded = " ".join(one.text for one in page.all("details"))
    for name in ("spark4.3.0", "cores2", "load.rate10,000/s", "memory_mb24,103.7"):
        assert name in folded.replace("\n", "")
    assert page.row("start system")[0] == "9.80 s"


def test_every_figure_has_a_definition_as_a_tooltip() -> None:
    page = page_of()

    terms = {one.text: one.attributes["title"] for one in page.all("span", class_="term")}
    labels = {figure.label for figure in FIGURES.values()}
    # Latency growth and the cost of the monitor are shown inside sentences, the verdict is its own
    # label, updates belong to update mode, order, times and ingestion to some queries behind a
    # broker, a mirror to one query, paradigms to one system, and the others are figures of a study.
    elsewhere = {"growth", "monitor CPU", "monitor samples", "verdict", "processed"}
    elsewhere |= {"maximum sustainable", "highest passed", "lowest failed"}
    elsewhere |= {"updates", "wrong updates", "out of order", "broker's time went back"}
    some = ("ingestion.", "paradigms.", "components.", "recovery.", "validation.mirror_")
    elsewhere |= {one.label for name, one in FIGURES.items() if name.startswith(some)}
    for shown in labels - elsewhere:
        assert terms[shown] in {one.definition for one in FIGURES.values() if one.label == shown}


def test_a_run_without_anything_still_has_a_report() -> None:
    page = Page(render_report(TrialSummary(name="nothing", run="r"), Series()))

    assert page.one(id="outcome").text == "UNKNOWN"
    assert page.charts() == {}
    empty = {one.attributes["data-empty"]: one.text for one in page.all("p", class_="empty")}
    assert empty == {
        "latency": "no results arrived",
        "histogram": "no results arrived",
        "pull": "not measured",
        "cpu": "not measured",
        "memory": "not measured",
    }
