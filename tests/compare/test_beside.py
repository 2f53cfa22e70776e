"""Published figures side by side with our cases, as the data of the publication define it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from streamgauge.compare.beside import published_beside
from streamgauge.compare.published import DerivedRule
from streamgauge.measure.spread import spread_of
from streamgauge.measure.summary import MAXIMUM, Case, Published

SOURCE = Path(published_beside.__code__.co_filename).parents[1]
AT_90 = {"load.rate": "90 %"}


def case(varied: dict[str, object], **figures: float) -> Case:
    names = {"mean": "event_time.mean", "maximum": MAXIMUM, "processed": "processed_per_s"}
    return Case(
        varied=varied, figures={names[key]: spread_of([value]) for key, value in figures.items()}
    )


def means(found: list[Published]) -> dict[str, float | None]:
    return {one.label: one.ours for one in found if one.figure == "event_time.mean"}


@pytest.mark.parametrize("rate", [{}, {"load.rate": "search"}, {"load.rate": "100 %"}])
def test_a_figure_at_the_maximum_is_beside_our_case_at_the_maximum(
    rate: dict[str, object],
) -> None:
    cases = [case(AT_90, mean=90), case(rate, mean=100)]
    found = means(published_beside("table-1", cases, "spark", ["2-nodes"]))
    assert found == {
        "Spark 2.0.1, 2 nodes": 100,
        "Spark 2.0.1 at 90 % of its maximum, 2 nodes": 90,
    }


def test_without_a_case_that_fits_there_is_nothing_of_ours() -> None:
    found = published_beside("table-1", [case({"load.rate": 5_000.0}, mean=1)], "spark")
    assert {(one.ours, str(one.varied)) for one in found} == {(None, "{}")}


def test_a_figure_that_must_fit_exactly_stands_alone_otherwise() -> None:
    low = case({"system.name": "dual", "load.rate": "5 %"})
    found = {
        (one.label, one.figure): one.case for one in published_beside("dual-components", [low])
    }
    assert found["DO, 4k", "components.wait_ms"] == 0
    assert found["DO, 40k", "components.wait_ms"] is None
    assert found["Trident, 4k", "components.wait_ms"] is None


def test_a_published_setting_is_beside_our_case_with_that_setting() -> None:
    cases = [case({"system.cluster.workers": n}, maximum=1_000.0 / n) for n in (1, 2)]
    found = {one.label: one.ours for one in published_beside("table-2", cases, "spark")}
    # Where none of our cases has the setting, a maximum stands beside our greatest.
    assert found == {
        "Spark 2.0.1, 2 nodes": 500,
        "Spark 2.0.1, 4 nodes": 1_000,
        "Spark 2.0.1, 8 nodes": 1_000,
    }


def test_a_setting_and_a_share_are_looked_for_together() -> None:
    cases = [
        case({"system.cluster.workers": n, "load.rate": rate}, mean=n + share)
        for n in (1, 2)
        for rate, share in (("100 %", 0.5), ("90 %", 0.25))
    ]
    found = means(published_beside("table-1", cases, "flink", ["2-nodes"]))
    assert list(found.values()) == [2.5, 2.25]


def test_systems_and_settings_are_chosen() -> None:
    everybody = published_beside("table-2", [])
    assert len({one.label.split(",")[0] for one in everybody}) == 3
    chosen = published_beside("table-2", [], "storm", ["8-nodes"])
    assert [one.label for one in chosen] == ["Storm 1.0.2, 8 nodes"]


def test_a_change_and_a_ratio_are_calculated_between_the_cases_of_the_rule() -> None:
    rates = [
        case({"load.rate": "120 %"}, processed=930),
        case({"load.rate": "100 %"}, processed=1_000),
    ]
    (change,) = published_beside("text", rates, "spark", ["20-percent-above"])
    assert change.ours == pytest.approx(-7)
    assert change.derived is not None
    assert change.derived.label == "drained, change"
    windows = [
        case({"workload.window": window}, maximum=maximum, mean=mean)
        for window, maximum, mean in (("8 s", 200.0, 10.0), ("60000 ms", 50.0, 30.0))
    ]
    found = {
        one.figure: one.ours for one in published_beside("text", windows, "spark", ["window-60-s"])
    }
    assert found == {"maximum_sustainable_ratio": 0.25, "event_time.mean_ratio": 3.0}


@pytest.mark.parametrize("cases", [[], [case({"load.rate": "100 %"}, processed=0)]])
def test_a_change_without_both_cases_is_unknown(cases: list[Case]) -> None:
    (change,) = published_beside("text", cases, "spark", ["20-percent-above"])
    assert change.ours is None


def test_a_rule_has_one_formula() -> None:
    formula = {"figure": MAXIMUM, "from": {}, "to": {}}
    words = {"label": "l", "unit": "ratio", "definition": "d"}
    DerivedRule.model_validate({**words, "ratio": formula})
    for formulas in ({}, {"ratio": formula, "change_percent": formula}):
        with pytest.raises(ValidationError, match="either"):
            DerivedRule.model_validate({**words, **formulas})


@pytest.mark.parametrize(
    "word", ["karimov", "-90", "90 %", "120 %", '"60 s"', '_ratio"', "drained_change"]
)
def test_no_source_names_what_only_one_publication_needs(word: str) -> None:
    """It is data: `compare/published/*.yaml`."""
    folders = ("report", "compare", "experiments/summarising")
    sources = [path for folder in folders for path in (SOURCE / folder).rglob("*.py")]
    assert sources
    assert [str(path) for path in sources if word in path.read_text().lower()] == []


@pytest.mark.parametrize("varies_its_rate", [True, False])
def test_a_query_at_a_rate_is_beside_our_case_of_that_query_and_rate(varies_its_rate: bool) -> None:
    rate: dict[str, object] = {"load.rate": 10_000.0}
    queries: list[dict[str, object]] = [{"workload.query": f"espbench.q{n}"} for n in (3, 4)]
    if varies_its_rate:
        cases = [case({**one, **rate}, mean=10) for one in queries]
        found = published_beside("espbench", cases, "jet")
    else:
        cases = [case(one, mean=10) for one in queries]
        found = published_beside("espbench", cases, "jet", fixed=rate)
    means = {one.label: (one.case, one.ours) for one in found if one.figure == "event_time.mean"}
    assert means["Jet 3.0 (Beam), q3 10000"] == (0, 10)
    assert means["Jet 3.0 (Beam), q4 10000"] == (1, 10)
    assert means["Jet 3.0 (Beam), q3 1000"] == (None, None)
