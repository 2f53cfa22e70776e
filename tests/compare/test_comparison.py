from __future__ import annotations

from typing import Any

import pytest

from streamgauge.compare.comparison import Change, Finding, Pair, compare
from streamgauge.compare.measured import run_subject
from streamgauge.measure.spread import spread_of
from streamgauge.measure.summary import Summary, TrialSummary

from . import made_up

P99 = "event_time.p99"
MAXIMUM = "maximum_sustainable_per_s"


def pair_of(base: Summary, other: Summary) -> Pair:
    (pair,) = compare(run_subject(base), [run_subject(other)]).pairs
    return pair


def change_of(base: Summary, other: Summary, figure: str = P99) -> Change:
    (case,) = pair_of(base, other).cases
    change = case.change(figure)
    assert change is not None
    return change


def test_a_lower_latency_is_better_when_it_is_more_than_noise() -> None:
    change = change_of(made_up.repeated([800, 810, 805]), made_up.repeated([700, 705, 712]))
    assert change.finding is Finding.BETTER
    assert change.delta == pytest.approx(1.9 * (705.667 - 805), abs=0.1)
    assert change.percent == pytest.approx(-12.34, abs=0.01)
    # Deviations 9.50 and 11.45: standard error 8.591, 3.87 degrees of freedom, t = 2.814.
    assert change.margin == pytest.approx(24.18, abs=0.05)
    assert change.base is not None
    assert change.base.count == 3
    assert change.base.low is not None
    assert change.base.low < change.base.mean


def test_a_higher_latency_is_worse() -> None:
    change = change_of(made_up.repeated([700, 705, 712]), made_up.repeated([800, 810, 805]))
    assert change.finding is Finding.WORSE


def test_a_higher_throughput_is_better() -> None:
    base, other = (
        made_up.study([made_up.single(drained=rate + 10 * n) for n in range(3)])
        for rate in (90_000, 95_000)
    )
    assert change_of(base, other, "drained_per_s").finding is Finding.BETTER
    assert change_of(other, base, "drained_per_s").finding is Finding.WORSE


def test_a_change_inside_the_noise_is_not_significant() -> None:
    change = change_of(made_up.repeated([700, 800, 900]), made_up.repeated([720, 830, 900]))
    assert change.finding is Finding.NOT_SIGNIFICANT


def test_a_figure_without_a_good_direction_only_changes() -> None:
    base, other = (
        made_up.study([made_up.single(offered_per_s=rate + n) for n in range(3)])
        for rate in (90_000, 95_000)
    )
    assert change_of(base, other, "offered_per_s").finding is Finding.CHANGED


@pytest.mark.parametrize("means", [(800, 80), (80, 800)])
def test_single_runs_are_never_significant(means: tuple[float, float]) -> None:
    base, other = (made_up.single(mean) for mean in means)
    pair = pair_of(base, other)
    findings = {change.finding for case in pair.cases for change in case.changes}
    assert findings == {Finding.NOISE_UNKNOWN, Finding.EQUAL}
    change = change_of(base, other)
    assert change.margin is None
    assert change.noise == "one run each: the noise is unknown"


def test_one_repeated_side_is_not_enough() -> None:
    change = change_of(made_up.repeated([700, 705, 712]), made_up.single(900))
    assert change.finding is Finding.NOISE_UNKNOWN
    assert "one run of the other" in change.noise


def test_from_zero_there_is_no_percentage() -> None:
    lost = made_up.single().validation.model_copy(update={"missing": 7})
    change = change_of(made_up.single(), made_up.single(validation=lost), "validation.missing")
    assert (change.delta, change.percent) == (7, None)


def test_a_growing_latency_has_no_mean_but_quantiles() -> None:
    growing: dict[str, Any] = {
        "event_time": made_up.statistics(800, growing=True, growth_per_s=40.0),
        "processing_time": made_up.statistics(400),
    }
    other = made_up.study([made_up.single(latency_ms=growing) for _ in range(3)])
    base = made_up.repeated([800, 810, 805])
    change = change_of(base, other, "event_time.mean")
    assert (change.finding, change.growing) == (Finding.GROWING, ["other"])
    assert change.delta is change.percent is change.margin is None
    assert change_of(base, other, P99).delta is not None
    assert change_of(base, other, "processing_time.mean").delta is not None
    assert any("grew steadily in the other" in text for text in pair_of(base, other).warnings)


def test_a_growing_case_without_its_trials_is_growing_too() -> None:
    base = made_up.repeated([800, 810, 805])
    (case,) = base.cases
    only = {"event_time.p99": case.figures["event_time.mean"]}
    grown = base.model_copy(
        update={
            "trials": [],
            "cases": [case.model_copy(update={"growing": True, "trials": [], "figures": only})],
        }
    )
    assert change_of(base, grown, "event_time.mean").finding is Finding.GROWING


def test_a_figure_of_one_side_is_named_not_compared() -> None:
    few = {"event_time": made_up.statistics(800, p99=None), "processing_time": {}}
    change = change_of(made_up.single(), made_up.single(latency_ms=few))
    assert (change.finding, change.other) == (Finding.NOT_MEASURED, None)


def test_a_repetition_without_the_figure_hides_it() -> None:
    few = {"event_time": made_up.statistics(800, p99=None), "processing_time": {}}
    other = made_up.study([made_up.single(700), made_up.single(latency_ms=few)])
    assert change_of(made_up.single(), other).finding is Finding.NOT_MEASURED
    # Also where the study has a spread of the others.
    (case,) = other.cases
    luckier = {**case.figures, "event_time.p99": spread_of([900.0])}
    changed = case.model_copy(update={"figures": luckier})
    other = other.model_copy(update={"cases": [changed]})
    assert change_of(made_up.single(), other).finding is Finding.NOT_MEASURED


@pytest.mark.parametrize(
    ("maximum", "finding"),
    [
        (415_000, Finding.NOT_SIGNIFICANT),
        (420_000, Finding.NOT_SIGNIFICANT),
        (421_000, Finding.BETTER),
        (385_000, Finding.NOT_SIGNIFICANT),
        (370_000, Finding.WORSE),
    ],
)
def test_the_noise_of_a_maximum_is_its_precision(maximum: float, finding: Finding) -> None:
    base = made_up.search(400_000, failed=420_000)
    other = made_up.search(maximum, failed=maximum + 15_000)
    change = change_of(base, other, MAXIMUM)
    assert (change.margin, change.finding) == (20_000, finding)
    assert change.base is not None
    assert (change.base.low, change.base.high) == (400_000, 420_000)


def test_repetitions_that_share_one_search_do_not_make_it_precise() -> None:
    base = made_up.search(400_000, failed=420_000, repeat=3)
    other = made_up.search(405_000, failed=425_000, repeat=3)
    assert base.cases[0].figures[MAXIMUM].count == 3
    assert change_of(base, other, MAXIMUM).finding is Finding.NOT_SIGNIFICANT


def test_a_maximum_that_nothing_exceeded_has_unknown_noise() -> None:
    base, other = made_up.search(400_000, failed=None), made_up.search(500_000, failed=520_000)
    assert change_of(base, other, MAXIMUM).finding is Finding.NOISE_UNKNOWN


def test_a_search_without_cases_or_trials_is_read_from_the_top() -> None:
    base, other = (
        made_up.single(maximum_sustainable_per_s=rate, passed=rate, failed=rate + 10_000)
        for rate in (400_000.0, 450_000.0)
    )
    assert change_of(base, other, MAXIMUM).finding is Finding.BETTER


def test_the_trials_of_a_search_without_cases_are_its_probes() -> None:
    probes = [made_up.single(drained=rate) for rate in (300_000, 500_000)]
    base, other = (
        made_up.search(rate, failed=rate + 10_000).model_copy(
            update={"trials": probes, "cases": []}
        )
        for rate in (400_000, 450_000)
    )
    assert change_of(base, other, MAXIMUM).finding is Finding.BETTER
    assert pair_of(base, other).cases[0].change("drained_per_s") is None


def test_several_searches_of_a_case_are_as_precise_as_the_widest() -> None:
    def searched(*brackets: tuple[float, float | None]) -> Summary:
        return made_up.study(
            [
                made_up.single(maximum_sustainable_per_s=passed, passed=passed, failed=failed)
                for passed, failed in brackets
            ]
        )

    base = searched((400_000, 420_000), (410_000, 430_000))
    other = searched((500_000, 510_000), (500_000, 510_000))
    assert change_of(base, other, MAXIMUM).margin == 30_000
    open_ended = searched((500_000, 510_000), (500_000, None))
    assert change_of(base, open_ended, MAXIMUM).margin is None


def test_each_other_is_compared_with_the_base() -> None:
    subjects = [run_subject(made_up.single(mean, run=f"r{mean}")) for mean in (800, 700, 900)]
    comparison = compare(subjects[0], subjects[1:])
    assert comparison.base.label == "r800"
    assert [pair.other.label for pair in comparison.pairs] == ["r700", "r900"]
    changes = [pair.cases[0].change(P99) for pair in comparison.pairs]
    assert [one.percent for one in changes if one] == [pytest.approx(-12.5), pytest.approx(12.5)]


def test_a_comparison_survives_json() -> None:
    comparison = compare(
        run_subject(made_up.repeated([1, 2, 3])), [run_subject(made_up.search(4, failed=5))]
    )
    assert type(comparison).model_validate_json(comparison.model_dump_json()) == comparison


def test_runs_without_anything_have_nothing_to_compare() -> None:
    pair = pair_of(TrialSummary(name="a", run="a"), TrialSummary(name="b", run="b"))
    assert pair.cases[0].changes == []
