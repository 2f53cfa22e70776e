from __future__ import annotations

from typing import Any

import pytest

from streamgauge.compare.matching import match
from streamgauge.compare.measured import run_subject
from streamgauge.compare.published import published_subject
from streamgauge.measure.summary import Summary

from . import made_up

KEY = "system.trigger"


def swept(*values: object, key: str = KEY, **changes: Any) -> Summary:
    return made_up.sweep({value: [800, 810] for value in values}, key, **changes)


def matched(base: Summary, other: Summary) -> tuple[list[object], list[object], list[object]]:
    found = match(run_subject(base), run_subject(other))
    return (
        [dict(varied) for varied, *_ in found.both],
        [dict(varied) for varied in found.only_base],
        [dict(varied) for varied in found.only_other],
    )


def test_cases_of_sweeps_belong_together_by_what_they_vary() -> None:
    assert matched(swept("500 ms", "1 s", "2 s"), swept("1 s", "500 ms", "4 s")) == (
        [{KEY: "500 ms"}, {KEY: "1 s"}],
        [{KEY: "2 s"}],
        [{KEY: "4 s"}],
    )


@pytest.mark.parametrize(
    ("one", "same"), [("1 s", "1000 ms"), ("100k", 100_000), ("100_000", 1e5), ("90 %", "0.9e2 %")]
)
def test_a_value_may_be_written_in_two_ways(one: object, same: object) -> None:
    both, only_base, only_other = matched(swept(one, "5 h"), swept(same, "6 h"))
    assert len(both) == 1
    assert (only_base, only_other) == ([{KEY: "5 h"}], [{KEY: "6 h"}])


@pytest.mark.parametrize(("one", "other"), [("1 s", "1"), (1, True), ("90 %", "90"), ("a", "b")])
def test_different_values_stay_apart(one: object, other: object) -> None:
    assert matched(swept(one, "5 h"), swept(other, "6 h"))[0] == []


def test_a_single_run_belongs_to_the_case_with_its_parameters() -> None:
    both, only_base, only_other = matched(swept("500 ms", "1 s"), made_up.single())
    assert (both, only_base, only_other) == ([{KEY: "1 s"}], [{KEY: "500 ms"}], [])
    assert matched(made_up.single(), swept("500 ms", "1 s"))[2] == [{KEY: "500 ms"}]


def test_two_runs_of_one_case_are_compared_whatever_they_vary() -> None:
    both, *alone = matched(swept("500 ms"), swept("1 s"))
    assert len(both) == 1
    assert alone == [[], []]


def test_a_published_figure_is_compared_with_every_case() -> None:
    base = published_subject("table-1/spark/2-nodes")
    found = match(base, run_subject(swept("500 ms", "1 s")))
    assert [varied for varied, *_ in found.both] == [{KEY: "500 ms"}, {KEY: "1 s"}]


def test_a_study_that_ended_before_its_first_trial_has_one_case_without_figures() -> None:
    nothing = swept("500 ms", "1 s").model_copy(update={"trials": [], "cases": []})
    (case,) = run_subject(nothing).cases
    assert (case.varied, case.repetitions) == ({}, 0)
