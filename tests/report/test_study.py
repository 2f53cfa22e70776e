"""The report of a sweep or a search, in each of the forms of the paper."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.measure.summary import (
    MAXIMUM,
    Case,
    DerivedFigure,
    Limit,
    Published,
    Status,
    StudySummary,
    TrialSummary,
)
from streamgauge.measure.unit import Unit
from streamgauge.report.cases import case_label
from streamgauge.report.published import NOT_COMPARABLE
from streamgauge.report.study import render_study, write_study_report
from streamgauge.report.study_charts import (
    MOST_CHARTS,
)

from . import samples
from .page import Page
from .studies import (
    HOSTILE,
    Varied,
    latency_study,
    page_of,
    search_study,
    searched,
    stored,
    study,
    throughput_study,
    trial,
    two_cases,
    two_times_study,
    with_workers,
)
from .test_report_in_browser import drawn_points, opened
from .test_report_in_browser import pytestmark as needs_a_browser


def test_writes_one_file_that_loads_nothing_from_outside(tmp_path: Path) -> None:
    summary = throughput_study()
    run = stored(summary, tmp_path / "run")

    path = write_study_report(summary, run, run / "report.html")

    assert path == run / "report.html"
    page = Page(path.read_text(encoding="utf-8"))
    links = {one.attributes["href"] for one in page.elements if "href" in one.attributes}
    assert links == {f"searches/0{n}/probe-07/report.html" for n in (1, 2)}
    assert [one for one in page.elements if "src" in one.attributes] == []


def test_the_parts_are_in_the_order_in_which_they_are_read(tmp_path: Path) -> None:
    limits = [Limit(kind="CPU", shown_by="CPU 99 %", advice="add cores", strength=0.9)]
    only = trial("searches/01/probe-07", {}, limits=limits, **searched())
    summary = study("latency", [only], paper="Table 1: latency", **searched())
    page = page_of(summary, stored(summary, tmp_path))

    assert [one.text for one in page.all("h2")] == [
        "Thresholds",
        "Table 1: latency",
        "Cases",
        "Trials",
        "Search",
        "What limited it",
        "How to repeat this run",
        "Environment",
        "Phases",
    ]
    text = page.one("main").text
    order = ["valid", "maximum sustainable throughput", "Thresholds", "Table 1"]
    assert [text.index(word) for word in order] == sorted(text.index(word) for word in order)
    assert page.row("the only case") != []
    assert "add cores" in text


def test_the_answer_of_a_search_is_its_maximum_with_bracket_and_confidence(tmp_path: Path) -> None:
    page = page_of(search_study(), tmp_path)

    answer = page.one("section", aria_label="maximum").text
    assert "2,130,000 events/s" in answer
    assert "highest passed2,130,000 events/s" in answer
    assert "lowest failed2,236,500 events/s" in answer
    assert "confirmed by a trial of 60 s" in answer


def test_a_search_without_a_maximum_shows_none_found(tmp_path: Path) -> None:
    nothing = {**searched(), MAXIMUM: None, "passed": None}
    lost = TrialSummary(name="", run="", sustained=False, reasons=["nothing passed"], **nothing)
    summary = study("throughput", [lost], **nothing)

    page = page_of(summary, tmp_path)

    assert "none found" in page.one("section", aria_label="maximum").text
    assert page.row("Spark (ours)") == ["none found"]


def test_each_search_of_a_sweep_has_its_maximum_and_its_probes(tmp_path: Path) -> None:
    page = page_of(throughput_study(), tmp_path)

    answers = page.one("dl", class_="headline").text
    assert "executors 11,200,000 events/s" in answers
    assert "executors 22,130,000 events/s" in answers
    assert {"probes-1", "probes-2"} == page.charts().keys()
    assert page.charts()["probes-2"]["title"] == "Probes: executors 2"


def test_trials_at_a_share_do_not_repeat_their_search(tmp_path: Path) -> None:
    trials = [
        trial("searches/01/probe-07", {"load.rate": "100 %"}, **searched()),
        trial("trials/01", {"load.rate": "90 %"}, **searched()),
    ]
    page = page_of(study("latency", trials, **searched()), tmp_path)

    assert list(page.charts()) == ["probes-1"]
    assert len(page.all("section", aria_label="maximum")) == 1


def test_the_throughput_form_is_one_row_per_system(tmp_path: Path) -> None:
    page = page_of(throughput_study(), tmp_path)

    assert page.row("") == ["2 nodes", "8 nodes", "executors 1", "executors 2"]
    assert page.row("Storm") == ["408,000", "", "", ""]
    assert page.row("Spark") == ["379,000", "912,000 (network-bound)", "", ""]
    assert page.row("Spark (ours)") == ["", "", "1,200,000", "2,130,000"]
    bars = [one.attributes["style"] for one in page.all("i", class_="fill")]
    assert bars[0].startswith("width:56.34%")
    assert bars[1].startswith("width:100.00%")


def test_the_throughput_form_takes_no_latencies(tmp_path: Path) -> None:
    latency = Published(label="flink, 2 nodes", figure="event_time.mean", value=563)
    summary = throughput_study().model_copy(update={"published": [latency]})

    assert page_of(summary, tmp_path).row("") == ["executors 1", "executors 2"]


def test_the_latency_form_is_exactly_that_of_the_paper(tmp_path: Path) -> None:
    page = page_of(latency_study(), tmp_path)

    assert page.row("") == ["this machine", "2 nodes", "4 nodes"]
    assert page.row("Spark 100 % (ours)") == ["1424, 612, 4211, (1990, 2232, 3120)", "", ""]
    assert page.row("Spark 90 % (ours)") == ["712, 306, 2105, (995, 1116, 1560)", "", ""]
    assert page.row("Spark") == [
        "",
        "3673, 2537, 8596, (4603, 4953, 5990)",
        "3394, 1987, 6994, (4076, 4315, 4955)",
    ]
    assert page.row("Spark at 90 % of its maximum") == [
        "",
        "3416, 2354, 8005, (3936, 4550, 5443)",
        "",
    ]


def growing_trial(varied: Varied) -> TrialSummary:
    data = samples.summary().model_dump()["latency_ms"]
    data["event_time"]["growing"] = True
    return trial("trials/09", varied, latency_ms=data)


def test_the_mean_of_a_growing_latency_is_not_given(tmp_path: Path) -> None:
    trials = [growing_trial({"load.rate": "120 %"})]

    cases = page_of(study("cases", trials), tmp_path)
    latency = page_of(study("latency", trials), tmp_path)
    two_times = page_of(study("two-times", trials), tmp_path)

    where = cases.row("case").index("event time mean")
    assert cases.row("rate 120 %")[where] == "growing"
    assert latency.row("Spark 120 % (ours)") == ["growing, 612, 4211, (1990, 2232, 3120)"]
    assert two_times.row("rate 120 %") == ["growing", "growing", "–"]
    for page in (cases, latency, two_times):
        assert "1.42 s" not in page.one("main").text


def test_repetitions_are_a_mean_with_its_interval(tmp_path: Path) -> None:
    trials = [
        trial(f"trials/0{n}", {"load.rate": 100_000}, slower=slower, repetition=n)
        for n, slower in ((1, 0.9), (2, 1.0), (3, 1.1))
    ]
    page = page_of(study("cases", trials), tmp_path)

    row = dict(zip(page.row("case"), page.row("rate 100,000/s"), strict=True))
    assert row["trials"] == "3"
    # Student's 4.303 with two degrees of freedom, times 142 ms, by the root of three.
    assert row["event time mean"] == "1.42 s ± 354 ms"
    assert row["drained"] == "99,873/s ± 0/s"
    assert page.row("2")[0] == "rate 100,000/s, repetition 2"


def test_a_single_trial_has_no_interval(tmp_path: Path) -> None:
    page = page_of(study("pull", two_cases()), tmp_path)

    assert "±" not in "".join(page.row("skew none"))
    assert "1.42 s" in page.row("skew none")


def test_one_search_is_no_sample_of_searches(tmp_path: Path) -> None:
    trials = [trial(f"trials/0{n}", {}, repetition=n, **searched()) for n in (1, 2, 3)]
    page = page_of(study("cases", trials, **searched()), tmp_path)

    row = dict(zip(page.row("case"), page.row("the only case"), strict=True))
    assert row["maximum sustainable"] == "2,130,000/s"


def test_published_figures_are_beside_ours_and_not_compared(tmp_path: Path) -> None:
    page = page_of(two_times_study(), tmp_path)

    rows = [
        page.row("Spark, 4 nodes"),
        ["event time mean", "3.39 s", "1.42 s", "0.419 ×"],
    ]
    assert rows[0] == ["3.39 s", "1.04 s", "3.3 ×"]
    figure = page.one("section", id="figure").text
    assert "".join(rows[1]) in figure
    assert NOT_COMPARABLE in figure


def test_a_published_figure_without_ours_has_no_ratio(tmp_path: Path) -> None:
    page = page_of(throughput_study(), tmp_path)

    assert page.row("Storm, 2 nodes") == ["maximum sustainable", "408,000/s", "–", "–", ""]
    assert page.row("Spark, 2 nodes") == [
        "maximum sustainable", "379,000/s", "1,200,000/s", "3.17 ×", ""
    ]  # fmt: skip


def test_a_change_above_the_maximum_has_no_ratio_and_no_row_among_latencies(
    tmp_path: Path,
) -> None:
    derived = DerivedFigure(label="drained, change", unit=Unit.PERCENT, definition="A change.")
    published = [
        Published(label="Spark, above", figure="change", value=-5, ours=1.5, derived=derived)
    ]
    summary = two_times_study().model_copy(update={"published": published})
    page = page_of(summary, tmp_path)
    assert page.row("Spark, above") == ["drained, change", "-5.0 %", "1.5 %", "–"]


def test_trials_show_verdict_counts_and_faults(tmp_path: Path) -> None:
    validation = {**samples.summary().validation.model_dump(), "missing": 12, "wrong": 3}
    trials = [
        trial("trials/01", {"load.rate": 1_000}),
        trial(
            "trials/02",
            {"load.rate": 2_000},
            verdict="invalid",
            sustained=False,
            validation=validation,
        ),
        TrialSummary(name="", run="", varied={"load.rate": 3_000}, reasons=["nothing passed"]),
    ]
    summary = study("cases", trials[:2]).model_copy(update={"trials": trials})
    page = page_of(summary, stored(study("cases", trials[:2]), tmp_path))

    assert page.row("1") == [
        "rate 1,000/s", "✓ valid", "✓ yes", "100,000/s", "99,873/s", "1.38 s", "3.12 s",
        "15,000 of 15,000", "report",
    ]  # fmt: skip
    assert page.row("2")[1:3] == ["✗ invalid", "✗ no"]
    assert page.row("2")[7:] == ["15,000 of 15,000 ✗ 12 missing, 3 wrong", "report"]
    assert page.row("3") == ["rate 3,000/s", "? unknown", "? unknown", *"–––––", ""]


def test_a_trial_without_a_report_is_not_linked(tmp_path: Path) -> None:
    summary = study("cases", two_cases())
    stored(summary, tmp_path)
    (tmp_path / "trials/02/report.html").unlink()

    page = page_of(summary, tmp_path)

    assert [one.attributes["href"] for one in page.all("a")] == ["trials/01/report.html"]


def test_probes_are_listed_with_outcome_and_reason(tmp_path: Path) -> None:
    page = page_of(search_study(), tmp_path)

    assert page.row("probe") == ["rate", "outcome", "length", "drained"]
    assert page.row("3") == [
        "2,449,500/s", "✗ failednarrow: the queue grew at every look", "9.00 s", "2,193,900/s"
    ]  # fmt: skip


def test_the_probes_of_many_searches_do_not_fill_the_page(tmp_path: Path) -> None:
    trials = [
        trial(f"searches/{n:02d}/probe-07", {"workload.keys": n}, **searched())
        for n in range(1, MOST_CHARTS + 3)
    ]
    page = page_of(study("throughput", trials), tmp_path)

    assert len(page.charts()) == MOST_CHARTS
    assert "Not shown: the probes of keys 13; keys 14." in page.one("main").text


def test_a_case_is_named_by_what_it_varies() -> None:
    assert case_label({"system.executors": 2, "load.rate": "90 %"}) == "executors 2, rate 90 %"
    assert case_label({"workload.window": "5 s", "system.window": True}) == (
        "workload.window 5 s, system.window true"
    )
    assert case_label({"load.rate": 100_000.0}) == "rate 100,000/s"
    faults = [{"at": "30 s", "pause": "executor", "for": "5 s"}, {"at": "31 s", "kill": "program"}]
    label = "faults pause executor for 5 s at 30 s, kill program at 31 s"
    assert case_label({"faults": faults}) == label
    assert case_label({}) == ""


def test_hundreds_of_reasons_are_cut(tmp_path: Path) -> None:
    summary = study("cases", two_cases(), reasons=[f"reason {n}" for n in range(300)])

    items = [one.text for one in page_of(summary, tmp_path).all("li") if "re" in one.text]

    assert "280 more, see summary.json" in items
    assert "reason 20" not in items


def test_stamps_of_a_run_are_those_of_a_study(tmp_path: Path) -> None:
    summary = study("cases", two_cases(), quick=True, status=Status.INTERRUPTED)

    page = page_of(summary, tmp_path)

    assert any("quick" in one.text for one in page.all("p", class_="stamp"))
    assert page.one(id="outcome").text == "INTERRUPTED"


FORMS = ("throughput", "latency", "latency-over-time", "two-times", "resources", "pull", "cases")


@pytest.mark.parametrize("form", FORMS)
def test_hostile_text_stays_text_wherever_it_comes_from(form: str, tmp_path: Path) -> None:
    found = searched()
    found["tries"] = [one.model_copy(update={"reason": HOSTILE}) for one in found["tries"]]
    found["confidence"] = HOSTILE
    limits = [Limit(kind=HOSTILE, shown_by=HOSTILE, advice=HOSTILE, strength=1)]
    only = trial("trials/01", {HOSTILE: HOSTILE}, limits=limits, reasons=[HOSTILE], **found)
    beside = Published(
        label=HOSTILE, figure=HOSTILE, value=1, ours=2, varied={HOSTILE: 1}, note=HOSTILE
    )
    summary = study(form, [only, *two_cases()], paper=HOSTILE, published=[beside], name=HOSTILE)

    source = render_study(summary, stored(summary, tmp_path, with_workers()))

    assert "<b id" not in source
    assert "<!--" not in source
    assert Page(source).all("b") == []


@pytest.mark.parametrize("form", [*FORMS, "", "no such form"])
def test_a_study_without_anything_can_be_reported(form: str, tmp_path: Path) -> None:
    bare = StudySummary(name="nothing", run="r", figure=form, trials=[])
    lost = bare.model_copy(update={"trials": [TrialSummary(name="", run="")], "cases": [Case()]})

    assert Page(render_study(bare, tmp_path)).one(id="outcome").text == "UNKNOWN"
    assert Page(render_study(lost, tmp_path)).row("1") != []


EXPECTED_CHARTS: dict[str, set[str]] = {
    "search": {"probes-1"},
    "throughput": {"probes-1", "probes-2"},
    "latency": set(),
    "latency-over-time": {"latency-1", "latency-2", "latency-3"},
    "two-times": {"latency-1", "latency-2"},
    "resources": {f"{kind}-{n}" for kind in ("cpu", "network") for n in (1, 2, 3)},
    "pull": {"pull-1", "pull-2", "pull-3"},
    "cases": {"latency-by-case", "rates-by-case"},
}


@needs_a_browser
@pytest.mark.parametrize("form", ["search", *FORMS])
def test_a_browser_draws_every_chart_without_an_error(form: str, tmp_path: Path) -> None:
    known = {
        "search": search_study,
        "throughput": throughput_study,
        "latency": latency_study,
        "two-times": two_times_study,
    }
    numbers = [trial(f"trials/{n}", {"workload.keys": n}, slower=n) for n in (1, 2, 3)]
    summary = known[form]() if form in known else study(form, numbers)
    run = stored(summary, tmp_path / "run")
    source = render_study(summary, run)

    page = opened(source, run)

    root = page.one("html").attributes
    assert "data-error" not in root
    assert root.get("data-ready") == "true"
    described = Page(source).charts()
    assert described.keys() == EXPECTED_CHARTS[form]
    assert drawn_points(page) == {
        name: sum(value is not None for line in chart["series"] for value in line["values"])
        for name, chart in described.items()
    }
    labels = {one.text for one in page.all("div", class_="u-label")}
    assert {line["label"] for chart in described.values() for line in chart["series"]} <= labels
