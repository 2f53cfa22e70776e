"""The report of a sweep or a search, in each of the forms of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from streamgauge.measure.spread import spread_of
from streamgauge.measure.summary import (
    Case,
    Latency,
    Limit,
    Published,
    Resources,
    ResourceSeries,
    Series,
    Status,
    Summary,
    Try,
)
from streamgauge.report.chart import Chart
from streamgauge.report.study import render_study, write_study_report
from streamgauge.report.study_charts import (
    MOST_CHARTS,
    against_varied,
    case_charts,
    probe_chart,
)
from streamgauge.report.study_tables import NOT_COMPARABLE, case_label

from . import samples
from .page import Page
from .test_report_in_browser import drawn_points, opened
from .test_report_in_browser import pytestmark as needs_a_browser

MAXIMUM = "maximum_sustainable_per_s"
STATISTICS = ("mean", "min", "max", "p50", "p90", "p95", "p99", "p99_9")
HOSTILE = "</script><b id='evil'>&\"'<!--"
Varied = dict[str, object]


def tries(maximum: float = 2_130_000) -> list[Try]:
    """A search that saturates, narrows and confirms."""
    steps = (
        (8.0, "saturate", "failed", 8, "the queue passed q_b"),
        (0.9, "narrow", "passed", 20, ""),
        (1.15, "narrow", "failed", 9, "the queue grew at every look"),
        (1.05, "narrow", "doubtful", 20, "the queue grew by 0.4 % of the rate"),
        (1.05, "narrow", "failed", 20, "the queue grew at every look"),
        (1.0, "narrow", "passed", 20, ""),
        (1.0, "confirm", "passed", 60, ""),
    )
    return [
        Try(
            rate_per_s=share * maximum,
            kind=kind,
            verdict=verdict,
            length_s=length_s,
            drained_per_s=min(share, 1.03) * maximum,
            reason=reason,
        )
        for share, kind, verdict, length_s, reason in steps
    ]


def searched(maximum: float = 2_130_000) -> dict[str, Any]:
    return {
        MAXIMUM: maximum,
        "passed": maximum,
        "failed": 1.05 * maximum,
        "tries": tries(maximum),
        "confidence": "confirmed by a trial of 60 s; the maximum lies within 5 % above it",
    }


def trial(place: str, varied: Varied, *, slower: float = 1.0, **changes: Any) -> Summary:
    """The sample run as a trial, its latencies times `slower`."""
    data = samples.summary().model_dump()
    for kind in ("event_time", "processing_time"):
        statistics = data["latency_ms"][kind]
        statistics |= {name: slower * statistics[name] for name in STATISTICS}
    return Summary.model_validate({**data, "run": place, "varied": varied, **changes})


def together(trials: Sequence[Summary]) -> list[Case]:
    """The trials of equal varied values as cases."""
    places: dict[str, list[int]] = {}
    for place, one in enumerate(trials):
        places.setdefault(repr(one.varied), []).append(place)
    return [_case([trials[place] for place in group], group) for group in places.values()]


def _case(trials: Sequence[Summary], places: list[int]) -> Case:
    growing = any(one.latency_ms.event_time.growing for one in trials)
    names = ["offered_per_s", "drained_per_s", MAXIMUM]
    names += [f"{kind}.{name}" for kind in ("event_time", "processing_time") for name in STATISTICS]
    figures = {}
    for name in names:
        values = [value for one in trials if (value := _value(one, name)) is not None]
        if values and not (growing and name.endswith(".mean")):
            figures[name] = spread_of(values)
    return Case(varied=trials[0].varied, trials=places, figures=figures, growing=growing)


def _value(one: Summary, name: str) -> float | None:
    kind, _, statistic = name.rpartition(".")
    found: float | None = getattr(getattr(one.latency_ms, kind) if kind else one, statistic)
    return found


def study(form: str, trials: Sequence[Summary], **changes: Any) -> Summary:
    """A study of these trials."""
    base = samples.summary()
    summary = base.model_copy(
        update={
            "name": f"{form}-study",
            "run": f"2026-07-14-4-{form}",
            "latency_ms": Latency(),
            "driver": [],
            "resources": {},
            "phases_s": {"study": 731.0},
            "thresholds": base.thresholds[:1],
            "command": f"streamgauge run {form}",
            "trials": list(trials),
            "cases": together(trials),
            "figure": form,
        }
    )
    return summary.model_copy(update=changes)


def two_cases(**changes: Any) -> list[Summary]:
    return [
        trial("trials/01", {"workload.skew": "none"}, **changes),
        trial("trials/02", {"workload.skew": "single key"}, slower=2, **changes),
    ]


def stored(summary: Summary, run: Path, series: Series | None = None) -> Path:
    """The directory of a study whose trials all have a series and a report."""
    for one in summary.trials:
        folder = run / one.run
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "series.json").write_text((series or samples.series()).model_dump_json())
        (folder / "report.html").write_text("<!DOCTYPE html>")
    return run


def with_workers() -> Series:
    """A cluster: the nodes are roles besides driver, system and sink."""
    series = samples.series()
    roles = series.resources.roles
    nodes = {
        f"worker {number}": ResourceSeries(
            cpu_percent=[number * value / 2 for value in roles["system"].cpu_percent],
            network_mb_per_s=[number * value for value in roles["system"].network_mb_per_s],
        )
        for number in (1, 2, 3, 4)
    }
    resources = Resources(time_s=series.resources.time_s, roles={**nodes, **roles})
    return series.model_copy(update={"resources": resources})


def published_latency() -> list[Published]:
    cells = {
        "spark, 2 nodes": (3673, 2537, 8596, 4603, 4953, 5990),
        "spark, 4 nodes": (3394, 1987, 6994, 4076, 4315, 4955),
        "spark-90, 2 nodes": (3416, 2354, 8005, 3936, 4550, 5443),
    }
    return [
        Published(label=label, figure=f"event_time.{name}", value=value, ours=1_500.0)
        for label, values in cells.items()
        for name, value in zip(("mean", "min", "max", "p90", "p95", "p99"), values, strict=True)
    ]


def page_of(summary: Summary, run: Path) -> Page:
    return Page(render_study(summary, run))


def search_study(**changes: Any) -> Summary:
    only = trial("searches/01/probe-07", {}, offered_per_s=2_130_000.0, **searched())
    return study("cases", [only], **{**searched(), **changes})


def throughput_study() -> Summary:
    trials = [
        trial(f"searches/{n:02d}/probe-07", {"system.executors": n}, **searched(maximum))
        for n, maximum in ((1, 1_200_000.0), (2, 2_130_000.0))
    ]
    beside = [
        Published(label="storm, 2 nodes", figure=MAXIMUM, value=408_000),
        Published(label="spark, 2 nodes", figure=MAXIMUM, value=379_000, ours=1_200_000.0),
        Published(label="spark, 8 nodes", figure=MAXIMUM, value=912_000, note="network-bound"),
    ]
    return study(
        "throughput",
        trials,
        paper="Table 2: maximum sustainable throughput, windowed aggregation",
        published=beside,
    )


def latency_study() -> Summary:
    trials = [
        trial("trials/01", {"load.rate": "100 %"}),
        trial("trials/02", {"load.rate": "90 %"}, slower=0.5),
    ]
    return study(
        "latency",
        trials,
        paper="Table 1: latency at the sustainable rate and at 90 % of it",
        published=published_latency(),
    )


def two_times_study() -> Summary:
    beside = [
        Published(label="spark, 4 nodes", figure="event_time.mean", value=3_394, ours=1_423.7),
        Published(label="spark, 4 nodes", figure="processing_time.mean", value=1_040, ours=702.1),
    ]
    return study(
        "two-times",
        two_cases(),
        paper="Fig. 6: event time against system time",
        published=beside,
    )


def test_writes_one_file_that_loads_nothing_from_outside(tmp_path: Path) -> None:
    summary = throughput_study()
    run = stored(summary, tmp_path / "run")

    path = write_study_report(summary, run, run / "report.html")

    assert path == run / "report.html"
    page = Page(path.read_text(encoding="utf-8"))
    links = {one.attributes["href"] for one in page.elements if "href" in one.attributes}
    assert links == {f"searches/0{n}/probe-07/report.html" for n in (1, 2)}
    assert [one for one in page.elements if "src" in one.attributes] == []


def test_the_parts_stand_in_the_order_in_which_they_are_read(tmp_path: Path) -> None:
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
        "Surroundings",
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


def test_a_search_that_found_nothing_says_so(tmp_path: Path) -> None:
    nothing = {**searched(), MAXIMUM: None, "passed": None}
    lost = Summary(name="", run="", sustained=False, reasons=["nothing passed"], **nothing)
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
    assert page.row("Spark 90 %") == ["", "3416, 2354, 8005, (3936, 4550, 5443)", ""]


def growing_trial(varied: Varied) -> Summary:
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

    row = dict(zip(page.row("case"), page.row("rate 100,000"), strict=True))
    assert row["trials"] == "3"
    # Student's 4.303 with two degrees of freedom, times 142 ms, by the root of three.
    assert row["event time mean"] == "1.42 s ± 354 ms"
    assert row["drained"] == "99,873/s ± 0/s"
    assert page.row("2")[0] == "rate 100,000, repetition 2"


def test_a_single_trial_has_no_interval(tmp_path: Path) -> None:
    page = page_of(study("pull", two_cases()), tmp_path)

    assert "±" not in "".join(page.row("skew none"))
    assert "1.42 s" in page.row("skew none")


def test_one_search_is_no_sample_of_searches(tmp_path: Path) -> None:
    trials = [trial(f"trials/0{n}", {}, repetition=n, **searched()) for n in (1, 2, 3)]
    page = page_of(study("cases", trials, **searched()), tmp_path)

    row = dict(zip(page.row("case"), page.row("the only case"), strict=True))
    assert row["maximum sustainable"] == "2,130,000/s"


def test_published_figures_stand_beside_ours_and_are_not_compared(tmp_path: Path) -> None:
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
        Summary(name="", run="", varied={"load.rate": 3_000}, reasons=["nothing passed"]),
    ]
    summary = study("cases", trials[:2]).model_copy(update={"trials": trials})
    page = page_of(summary, stored(study("cases", trials[:2]), tmp_path))

    assert page.row("1") == [
        "rate 1,000", "✓ valid", "✓ yes", "100,000/s", "99,873/s", "1.38 s", "3.12 s",
        "15,000 of 15,000", "report",
    ]  # fmt: skip
    assert page.row("2")[1:3] == ["✗ invalid", "✗ no"]
    assert page.row("2")[7:] == ["15,000 of 15,000 ✗ 12 missing, 3 wrong", "report"]
    assert page.row("3") == ["rate 3,000", "? unknown", "? unknown", *"–––––", ""]


def test_a_trial_without_a_report_is_not_linked(tmp_path: Path) -> None:
    summary = study("cases", two_cases())
    stored(summary, tmp_path)
    (tmp_path / "trials/02/report.html").unlink()

    page = page_of(summary, tmp_path)

    assert [one.attributes["href"] for one in page.all("a")] == ["trials/01/report.html"]


@pytest.mark.parametrize(
    ("form", "ids", "labels"),
    [
        ("latency-over-time", ["latency-1", "latency-2"], ["p50", "p99", "max"]),
        ("two-times", ["latency-1", "latency-2"], ["event time p50", "processing time p50"]),
        ("pull", ["pull-1", "pull-2"], ["queued", "drained", "offered"]),
    ],
)
def test_forms_over_time_have_a_chart_per_case(
    form: str, ids: list[str], labels: list[str], tmp_path: Path
) -> None:
    summary = study(form, two_cases())
    drawn = case_charts(summary, stored(summary, tmp_path))

    assert [chart.id for chart in drawn.charts] == ids
    for chart, case in zip(drawn.charts, ("none", "single key"), strict=True):
        assert chart.title.endswith(f": skew {case}")
        assert [line.label for line in chart.series] == [
            label if form != "latency-over-time" else f"event time {label}" for label in labels
        ]
        assert chart.has_points
        if form != "pull":
            assert [band.label for band in chart.bands] == ["warm-up"]


def test_resources_have_a_pair_of_charts_with_a_line_per_node(tmp_path: Path) -> None:
    summary = study("resources", two_cases())
    series = with_workers()
    cpu, network, *others = case_charts(summary, stored(summary, tmp_path, series)).charts

    assert [one.id for one in (cpu, network, *others)] == [
        "cpu-1", "network-1", "cpu-2", "network-2"
    ]  # fmt: skip
    for chart in (cpu, network):
        assert [line.label for line in chart.series] == list(series.resources.roles)
        looks = [(line.colour, line.dashed) for line in chart.series]
        assert len(set(looks)) == len(looks)
    sent = series.resources.roles["worker 2"].network_mb_per_s
    assert network.series[1].values == pytest.approx(sent, rel=1e-4)


@pytest.mark.parametrize("content", [None, "", "{}garbage", '{"load_s": "long"}'])
def test_a_series_that_cannot_be_read_is_said_and_raises_nothing(
    content: str | None, tmp_path: Path
) -> None:
    summary = study("latency-over-time", two_cases())
    stored(summary, tmp_path)
    broken = tmp_path / "trials/01/series.json"
    if content is None:
        broken.unlink()
    else:
        broken.write_text(content)

    page = page_of(summary, tmp_path)

    assert "cannot be read" in page.one("p", data_empty="latency-1").text
    assert list(page.charts()) == ["latency-2"]


def test_another_repetition_is_drawn_when_the_first_has_no_series(tmp_path: Path) -> None:
    trials = [trial(f"trials/0{n}", {"a.b": 1}, repetition=n) for n in (1, 2)]
    summary = study("pull", trials)
    stored(summary, tmp_path)
    (tmp_path / "trials/01/series.json").unlink()

    assert case_charts(summary, tmp_path).charts[0].has_points


def test_too_many_cases_are_left_out_and_named(tmp_path: Path) -> None:
    trials = [trial(f"trials/{n:02d}", {"workload.keys": n}) for n in range(1, 31)]
    summary = study("latency-over-time", trials)

    page = page_of(summary, stored(summary, tmp_path))

    assert len(page.charts()) == MOST_CHARTS
    note = page.one("section", id="figure").text
    assert f"{30 - MOST_CHARTS} more cases (keys 13; keys 14;" in note
    assert page.row("keys 30") != []


def test_pairs_of_charts_are_not_torn_apart(tmp_path: Path) -> None:
    trials = [trial(f"trials/{n:02d}", {"workload.keys": n}) for n in range(1, 31)]
    drawn = case_charts(study("resources", trials), tmp_path)

    assert len(drawn.charts) == MOST_CHARTS
    assert len(drawn.left_out) == 30 - MOST_CHARTS // 2


def by_case(chart: Chart) -> dict[str, list[float | None]]:
    return {line.label: line.values for line in chart.series}


@pytest.mark.parametrize(
    ("values", "unit", "places"),
    [
        ([300_000, 100_000, 200_000], "per_s", [100_000, 200_000, 300_000]),
        (["120 %", "90 %", "100 %"], "percent", [90, 100, 120]),
    ],
)
def test_figures_are_drawn_against_what_is_varied(
    values: list[object], unit: str, places: list[float]
) -> None:
    trials = [
        trial(f"trials/{n}", {"load.rate": value}, slower=n)
        for n, value in zip((3, 1, 2), values, strict=True)
    ]
    latency, rates = against_varied(study("cases", trials))

    assert latency.x.values == places
    assert (latency.x.unit, latency.x.label) == (unit, "load.rate")
    assert by_case(latency)["event time p50"] == [1_384, 2_768, 4_152]
    assert list(by_case(rates)) == ["drained", "offered"]


def test_other_settings_make_lines_of_their_own() -> None:
    trials = [
        trial(f"trials/{n}", {"workload.window": window, "workload.skew": skew}, slower=n)
        for n, (window, skew) in enumerate(
            [("5 s", "none"), ("10 s", "none"), ("1 min", "none"), ("5 s", "one key")], 1
        )
    ]
    latency, _ = against_varied(study("cases", trials))

    assert latency.x.values == [5, 10, 60]
    assert by_case(latency)["event time p50, skew none"] == [1_384, 2_768, 4_152]
    assert by_case(latency)["event time p50, skew one key"] == [5_536, None, None]


def test_a_searched_sweep_draws_its_maxima() -> None:
    summary = throughput_study().model_copy(update={"figure": "cases"})
    (chart,) = against_varied(summary)

    assert by_case(chart) == {"maximum sustainable": [1_200_000, 2_130_000]}
    assert chart.x.values == [1, 2]


def test_settings_that_are_no_numbers_are_bars(tmp_path: Path) -> None:
    summary = study("cases", two_cases())
    assert against_varied(summary) == []

    page = page_of(summary, tmp_path)

    assert page.row("skew none")[:1] == ["3.12 s"]
    assert page.all("i", class_="fill")[0].attributes["style"].startswith("width:50.00%")


def test_probes_are_columns_and_the_bracket_closes() -> None:
    chart = probe_chart(tries(1_000_000), 1, "")
    at = {number: chart.x.values.index(number) for number in range(1, 8)}
    lines = by_case(chart)

    def found(label: str) -> dict[int, float]:
        values = lines[label]
        return {n: value for n in at if (value := values[at[n]]) is not None}

    assert found("✓ passed") == {2: 900_000, 6: 1_000_000, 7: 1_000_000}
    assert found("✗ failed") == {3: 1_150_000, 5: 1_050_000}
    assert found("? doubtful") == {4: 1_050_000}
    assert found("drained when saturated") == {1: 1_030_000}
    assert [found("highest passed").get(n) for n in (1, 2, 5, 6)] == [None, 9e5, 9e5, 1e6]
    assert [found("lowest failed").get(n) for n in (2, 3, 4, 5)] == [None, 1.15e6, 1.15e6, 1.05e6]
    assert [band.label for band in chart.bands] == list("✗✓✗?✗✓✓")


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
    assert case_label({"load.rate": 100_000.0}) == "rate 100,000"
    assert case_label({}) == ""


def test_hundreds_of_reasons_are_cut(tmp_path: Path) -> None:
    summary = study("cases", two_cases(), reasons=[f"reason {n}" for n in range(300)])

    items = [one.text for one in page_of(summary, tmp_path).all("li") if "re" in one.text]

    assert "280 more, see the trials" in items
    assert "reason 20" not in items


def test_stamps_of_a_run_are_those_of_a_study(tmp_path: Path) -> None:
    summary = study("cases", two_cases(), quick=True, status=Status.INTERRUPTED)

    stamps = [one.text for one in page_of(summary, tmp_path).all("p", class_="stamp")]

    assert any("quick" in text for text in stamps)
    assert any("interrupted" in text for text in stamps)


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
    bare = Summary(name="nothing", run="r", figure=form)
    lost = bare.model_copy(update={"trials": [Summary(name="", run="")], "cases": [Case()]})

    assert Page(render_study(bare, tmp_path)).one(id="verdict").text == "unknown"
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
