"""Trials put together: the worst verdict, the spread of repetitions, published figures."""

from __future__ import annotations

from typing import Any

import pytest

from streamgauge.experiments.planning.files import read_experiment
from streamgauge.experiments.planning.study import Study, make_study
from streamgauge.experiments.running.environment import Environment
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.experiments.summarising.study import FinishedTrial, scale_of, summarise_study
from streamgauge.experiments.summarising.trial import RunState
from streamgauge.measure.search import SearchResult
from streamgauge.measure.summary import StudySummary, TrialSummary, Verdict
from streamgauge.report.published import scale_text
from streamgauge.report.study import render_study
from tests.cli import made_up

FOUND = SearchResult(
    maximum_sustainable_per_s=38_000.0, passed=38_000.0, failed=40_000.0, in_words="confirmed"
)


def state() -> RunState:
    return RunState(
        command="streamgauge run x", quick=False, environment=Environment(versions={}, machine={})
    )


def study(*settings: str) -> Study:
    return make_study(*read_experiment("quickstart", list(settings)))


def put_together(tmp_path: Any, found: Study, trials: list[TrialSummary]) -> StudySummary:
    cases = [case for case in found.cases for _ in range(found.experiment.repeat)]
    finished = [
        FinishedTrial(case, 1 + i % found.experiment.repeat, trial, None, f"trials/{i:02d}")
        for i, (case, trial) in enumerate(zip(cases, trials, strict=True))
    ]
    return summarise_study(found, RunDirectory(tmp_path), finished, state())


def latency(p99: float, *, growing: bool = False) -> dict[str, Any]:
    return {"event_time": {"count": 10, "mean": p99 / 2, "p99": p99, "growing": growing}}


def test_the_worst_verdict_is_that_of_the_study(tmp_path: Any) -> None:
    found = study("vary={workload.window: [1 s, 2 s]}")
    good, bad = made_up.summary(), made_up.summary(verdict="invalid", reasons=["3 are wrong"])
    assert put_together(tmp_path, found, [good, good]).verdict is Verdict.VALID
    whole = put_together(tmp_path, found, [good, bad])
    assert whole.verdict is Verdict.INVALID
    assert whole.reasons == ["window 2 s: 3 are wrong"]
    assert [trial.run for trial in whole.trials] == ["trials/00", "trials/01"]


def test_a_void_trial_counts_more_than_an_invalid_one(tmp_path: Any) -> None:
    found = study("vary={workload.window: [1 s, 2 s]}")
    trials = [made_up.summary(verdict=verdict) for verdict in ("invalid", "void")]
    assert put_together(tmp_path, found, trials).verdict is Verdict.VOID


def test_repetitions_have_a_spread_and_an_interval(tmp_path: Any) -> None:
    found = study("repeat=3")
    trials = [made_up.summary(latency_ms=latency(p99)) for p99 in (90.0, 100.0, 110.0)]
    (case,) = put_together(tmp_path, found, trials).cases
    spread = case.figures["event_time.p99"]
    assert (spread.count, spread.mean, spread.min, spread.max) == (3, 100.0, 90.0, 110.0)
    assert spread.deviation == pytest.approx(10.0)
    # Student's t for two degrees of freedom at 95 %: 4.303.
    assert spread.low == pytest.approx(100 - 4.303 * 10 / 3**0.5, abs=0.01)
    assert case.trials == [0, 1, 2]


def test_the_mean_of_a_growing_series_is_left_out(tmp_path: Any) -> None:
    trials = [
        made_up.summary(latency_ms=latency(100.0)),
        made_up.summary(latency_ms=latency(900.0, growing=True)),
    ]
    (case,) = put_together(tmp_path, study("repeat=2"), trials).cases
    assert case.growing
    assert "event_time.mean" not in case.figures
    assert "event_time.p99" in case.figures


def test_a_case_meant_to_be_too_much_does_not_count_as_unsustained(tmp_path: Any) -> None:
    found = study("vary={load.rate: [100 %, 120 %]}")
    kept, flooded = (
        made_up.summary(),
        made_up.summary(sustained=False, unsustained_because=["queue"]),
    )
    above = put_together(tmp_path, found, [kept, flooded])
    assert (above.sustained, above.unsustained_because) == (True, [])
    at_maximum = put_together(tmp_path, found, [flooded, flooded])
    assert (at_maximum.sustained, at_maximum.unsustained_because) == (False, ["rate 100 %: queue"])
    given = study("vary={load.rate: [1k, 2k]}")
    assert put_together(tmp_path, given, [kept, flooded]).sustained is False


def test_a_threshold_holds_only_if_it_holds_in_every_trial(tmp_path: Any) -> None:
    def trial(value: float) -> TrialSummary:
        held = {"expression": "event_time.p99 < 5 s", "value": value, "passed": value < 5_000}
        return made_up.summary(thresholds=[held])

    found = study("repeat=2")
    assert put_together(tmp_path, found, [trial(10), trial(20)]).thresholds[0].passed
    (only,) = put_together(tmp_path, found, [trial(9_000), trial(20)]).thresholds
    assert (only.passed, only.value) == (False, 9_000)


def test_published_figures_stand_beside_those_of_the_case_that_corresponds(tmp_path: Any) -> None:
    found = study(
        "vary={load.rate: [100 %, 90 %]}",
        "figure={form: latency, published: table-1, system: spark, settings: [2-nodes]}",
    )
    trials = [made_up.summary(latency_ms=latency(p99)) for p99 in (200.0, 100.0)]
    beside = {
        (one.label, one.figure): (one.value, one.ours)
        for one in put_together(tmp_path, found, trials).published
    }
    p99 = {label: pair for (label, figure), pair in beside.items() if figure == "event_time.p99"}
    assert sorted(p99.values()) == [(5443.0, 100.0), (5990.0, 200.0)]


def test_a_published_maximum_stands_beside_our_greatest(tmp_path: Any) -> None:
    found = study(
        "vary={workload.keys: [1k, 3k, 2k]}",
        "figure={form: throughput, published: table-2, system: spark, settings: [2-nodes]}",
    )
    trials = [made_up.summary(maximum_sustainable_per_s=rate) for rate in (1e3, 3e3, 2e3)]
    (only,) = put_together(tmp_path, found, trials).published
    assert (only.value, only.ours) == (379_000.0, 3_000.0)


def test_how_much_throughput_falls_under_a_flood_is_a_figure_of_ours_too(tmp_path: Any) -> None:
    found = study(
        "vary={load.rate: [100 %, 120 %]}",
        "figure={form: two-times, published: text, system: spark, settings: [20-percent-above]}",
    )
    trials = [made_up.summary(processed_per_s=rate) for rate in (1_000.0, 930.0)]
    (only,) = put_together(tmp_path, found, trials).published
    assert (only.value, only.ours) == (-5.0, pytest.approx(-7.0))


def test_a_case_above_the_maximum_that_is_sustained_is_warned_of(tmp_path: Any) -> None:
    found = study("vary={load.rate: [100 %, 120 %]}")
    kept, flooded = made_up.summary(), made_up.summary(sustained=False, reasons=["queue"])
    (warning,) = put_together(tmp_path, found, [kept, kept]).warnings
    assert "120 %: no overload was reached" in warning
    assert put_together(tmp_path, found, [kept, flooded]).warnings == []


def test_a_warning_of_several_trials_is_one_of_the_study(tmp_path: Any) -> None:
    trial = made_up.summary(warnings=["the machine is busy"])
    whole = put_together(tmp_path, study("repeat=2"), [trial, trial])
    assert whole.warnings == ["the machine is busy"]


def test_repetitions_that_differ_much_are_advised_to_be_more(tmp_path: Any) -> None:
    found = study("vary={workload.window: [1 s, 2 s]}", "repeat=3")
    calm = [made_up.summary(latency_ms=latency(p99)) for p99 in (100, 104, 98)]
    wild = [made_up.summary(latency_ms=latency(p99)) for p99 in (100, 160, 60)]
    (warning,) = put_together(tmp_path, found, [*calm, *wild]).warnings
    assert warning.startswith("window 2 s: the mean latency differs by 47 % between 3 runs")
    assert "`--set repeat=88`" in warning


def test_a_growing_latency_is_not_repeated_for_its_mean(tmp_path: Any) -> None:
    trials = [made_up.summary(latency_ms=latency(p99, growing=True)) for p99 in (100, 300)]
    assert put_together(tmp_path, study("repeat=2"), trials).warnings == []


def test_the_factor_between_this_machine_and_a_publication_is_printed_once(tmp_path: Any) -> None:
    found = study(
        "vary={system: [spark, simulated], load.rate: [10 %, 50 %]}",
        "search={of: {system: spark}, published: {gaming.aggregation: 76k}}",
    )
    finished = [
        FinishedTrial(case, 1, made_up.summary(), None, scale=scale_of(group, FOUND))
        for group in found.groups
        for case in group.cases
    ]
    whole = summarise_study(found, RunDirectory(tmp_path), finished, state())
    (scale,) = whole.scales
    assert (scale.maximum_sustainable_per_s, scale.published_per_s, scale.factor) == (
        38_000,
        76_000,
        0.5,
    )
    assert scale_text(scale) == (
        "Rates are shares of the maximum of query gaming.aggregation, system spark, measured in "
        "this run: 38,000/s. It stands for the 76,000/s of the publication: its rates times 0.5 "
        "are ours."
    )
    assert scale_text(scale) in render_study(whole, tmp_path)


def test_shares_of_their_own_maxima_have_no_factor(tmp_path: Any) -> None:
    found = study("vary={load.rate: [10 %, 50 %]}")
    finished = [
        FinishedTrial(case, 1, made_up.summary(), None, scale=scale_of(found.groups[0], FOUND))
        for case in found.cases
    ]
    assert summarise_study(found, RunDirectory(tmp_path), finished, state()).scales == []
