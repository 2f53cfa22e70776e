"""Studies that set systems side by side."""

from __future__ import annotations

from pathlib import Path

from streamgauge.dual.model.latency import Paradigm
from streamgauge.measure.components import OwnParts, components
from streamgauge.measure.paradigms import OperationParadigms, Paradigms
from streamgauge.measure.spread import spread_of
from streamgauge.measure.summary import (
    Case,
    Published,
    Series,
    StudySummary,
    TrialSummary,
    Verdict,
    VisibilitySeries,
)
from streamgauge.report.study import render_study
from tests.report.page import Page

SYSTEMS = ("one", "both")
RATES = ("5 %", "53 %")


def _paradigms(held: bool) -> Paradigms:
    operations = [
        OperationParadigms(
            operation=name,
            operation_stream_percent=100.0 if held and name == "filter" else 0.0,
            latency_ms=latency,
        )
        for name, latency in (("filter", 200.0), ("count", 20.0))
    ]
    return Paradigms(operation_stream_percent=50.0 if held else 0.0, operations=operations)


def _study(form: str, folder: Path) -> StudySummary:
    trials, cases = [], []
    for place, (system, rate) in enumerate((s, r) for s in SYSTEMS for r in RATES):
        grows = system == "one" and rate == "53 %"
        parts = OwnParts(process_ms=0.4, wait_ms=250.0, schedule_ms=30.0)
        trial = TrialSummary(
            name="dual",
            run=f"trials/{place}",
            verdict=Verdict.VALID,
            sustained=not grows,
            varied={"system.name": system, "load.rate": rate},
            components=components(parts, 300.0, 0.0, growing=grows),
            paradigms=_paradigms(rate == "53 %") if system == "both" else None,
        )
        trials.append(trial)
        assert trial.components is not None
        values = {
            "offered_per_s": 5_000.0,
            "visibility.p50": 200.0,
            "visibility.p99": 300.0,
            "components.wait_ms": 250.0,
            "components.network_ms": trial.components.network_ms,
        }
        figures = {name: spread_of([one]) for name, one in values.items() if one is not None}
        cases.append(Case(varied=trial.varied, trials=[place], figures=figures))
        seconds = [float(second) for second in range(10 + place)]
        series = Series(
            load_s=len(seconds),
            warm_up_s=2,
            visibility=VisibilitySeries(
                time_s=seconds, p50=[200.0 for _ in seconds], p99=[300.0 for _ in seconds]
            ),
        )
        (folder / trial.run).mkdir(parents=True)
        (folder / trial.run / "series.json").write_text(series.model_dump_json())
    published = Published(
        label="DO, 4k events/s", figure="components.wait_ms", value=285.0, case=2, ours=250.0
    )
    return StudySummary(
        name="dual", run="r", trials=trials, cases=cases, figure=form, published=[published]
    )


def _page(form: str, folder: Path) -> Page:
    return Page(render_study(_study(form, folder), folder))


def test_systems_share_a_chart_for_each_rate(tmp_path: Path) -> None:
    page = _page("systems", tmp_path)
    charts = {name: chart for name, chart in page.charts().items() if name.startswith("systems")}
    assert [chart["title"] for chart in charts.values()] == [
        "Visibility latency, rate 5 %",
        "Visibility latency, rate 53 %",
    ]
    chart = charts["systems-1"]
    labels = [line["label"] for line in chart["series"]]
    assert labels == ["one p50", "one p99", "both p50", "both p99"]
    # The longest run sets the axis; a shorter one has no values behind its end.
    assert len(chart["x"]["values"]) == 12
    assert chart["series"][0]["values"][-1] is None
    assert page.row("system one, rate 53 %")[1] == "✗ no"


def test_components_are_a_table_for_each_rate_with_the_published_beside(tmp_path: Path) -> None:
    page = _page("components", tmp_path)
    headings = [one.text for one in page.all("h3")]
    assert "5 % (5,000/s)" in headings
    # The first table is that of the low rate.
    assert page.row("wait") == ["250 ms", "250 ms", "285 ms"]
    assert page.row("network")[:2] == ["20 ms", "20 ms"]
    text = page.one("section", id="figure").text
    assert "grows" in text
    assert "network is the rest" in text


def test_operations_have_their_latency_and_share_in_each_case(tmp_path: Path) -> None:
    page = _page("operations", tmp_path)
    low, high = page.row("filter")
    assert low == "200 msoperation stream 0.0 %"
    assert high == "200 msoperation stream 100 %"


def test_a_study_without_reports_of_the_runtime_says_so(tmp_path: Path) -> None:
    study = _study("operations", tmp_path)
    trials = [trial.model_copy(update={"paradigms": None}) for trial in study.trials]
    page = Page(render_study(study.model_copy(update={"trials": trials}), tmp_path))
    assert "No trial has reports" in page.one("section", id="figure").text
    assert Paradigm.DATA.value not in page.one("section", id="figure").text
