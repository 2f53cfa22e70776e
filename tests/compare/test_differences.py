from __future__ import annotations

from typing import Any

import pytest

from streamgauge.compare.differences import alarms, changed_settings, warnings
from streamgauge.compare.measured import run_subject
from streamgauge.compare.published import published_subject
from streamgauge.measure.summary import Summary

from . import made_up

BASE = made_up.single(run="base")


def other(**changes: Any) -> Summary:
    return made_up.single(run="other", **changes)


def warned(changed: Summary, base: Summary = BASE) -> list[str]:
    return warnings(run_subject(base), run_subject(changed))


def with_parameter(key: str, value: object) -> Summary:
    return other(parameters={**BASE.parameters, key: value})


def test_two_runs_of_the_same_are_not_warned_about() -> None:
    assert warned(other()) == []
    assert alarms(run_subject(BASE), run_subject(other())) == []
    assert changed_settings(run_subject(BASE), run_subject(other())) == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (with_parameter("workload.window", "8 s"), "workload.window differs: 1 s → 8 s"),
        (with_parameter("load.rate", 5e4), "load.rate differs: 100,000/s → 50,000/s"),
        (with_parameter("load.disorder", "1 s"), "load.disorder differs: nothing → 1 s"),
        (with_parameter("duration", "60 s"), "duration differs: 30 s → 60 s"),
        (other(versions={**BASE.versions, "spark": "4.2.0"}), "spark differs: 4.3.0 → 4.2.0"),
        (other(versions={**BASE.versions, "streamgauge": "0.2"}), "streamgauge differs: 0.1.0"),
        (other(machine={**BASE.machine, "cores": 16}), "machine: cores differs: 2 → 16"),
        (other(quick=True), "the other is a quick run: its numbers are meaningless"),
        (other(input_hash="fedc"), "input_hash differs: 0123456789abcdef → fedc: a load was cut"),
        (with_parameter("system.source", "Kafka"), "figures of different paths"),
        (BASE, "base and other are the same run"),
    ],
)
def test_every_difference_is_warned_about(changed: Summary, words: str) -> None:
    (text,) = warned(changed)
    assert words in text


@pytest.mark.parametrize("key", ["name", "about", "repeat", "timeouts.drain", "measure_master"])
def test_what_does_not_touch_the_figures_is_not(key: str) -> None:
    assert warned(with_parameter(key, "another")) == []


def test_settings_of_the_system_are_no_warnings() -> None:
    changed = with_parameter("system.trigger", "500 ms")
    assert warned(changed) == []
    assert changed_settings(run_subject(BASE), run_subject(changed)) == [
        "system.trigger differs: 1 s → 500 ms"
    ]


def test_of_two_systems_only_common_settings_are_listed() -> None:
    others = {**BASE.parameters, "system.name": "simulated", "system.capacity": 3e5}
    del others["system.trigger"]
    changed = other(parameters=others)
    assert changed_settings(run_subject(BASE), run_subject(changed)) == [
        "system.name differs: spark → simulated"
    ]
    added = with_parameter("system.cpus", "0-1")
    assert changed_settings(run_subject(BASE), run_subject(added)) == [
        "system.cpus differs: nothing → 0-1"
    ]


def test_the_paths_of_a_system_are_more_than_a_setting() -> None:
    changed = with_parameter("system.source", "Kafka")
    assert changed_settings(run_subject(BASE), run_subject(changed)) == []


def test_a_load_that_differs_explains_another_input() -> None:
    changed = with_parameter("load.seed", 8).model_copy(update={"input_hash": "fedc"})
    assert warned(changed) == ["load.seed differs: 7 → 8"]


def test_searches_end_at_different_rates_and_have_different_input() -> None:
    found = {"maximum_sustainable_per_s": 4e5, "input_hash": "fedc"}
    assert warned(other(**found)) == []


def test_what_is_varied_on_purpose_is_no_difference() -> None:
    base = made_up.sweep({1: [800], 2: [810]}, "workload.keys")
    changed = made_up.sweep({2: [800], 3: [810]}, "workload.keys", run="other")
    assert warned(changed, base) == []


def test_one_case_each_with_other_values_is_listed() -> None:
    base = made_up.sweep({1: [800]}, "workload.keys")
    changed = made_up.sweep({2: [800]}, "workload.keys", run="other")
    assert warned(changed, base) == ["workload.keys differs: 1 → 2"]


@pytest.mark.parametrize(
    ("base", "changed", "words"),
    [
        (
            BASE,
            other(verdict="invalid", reasons=["12 results are missing"]),
            "the verdicts differ: base is ✓ VALID, other is ✗ INVALID (12 results are missing)",
        ),
        (other(verdict="void"), BASE, "base is ∅ VOID, other is ✓ VALID"),
        (other(verdict="unknown"), other(verdict="unknown"), "both runs are ? UNKNOWN"),
        (BASE, other(sustained=False), "sustained differs: base ✓ yes, other ✗ no"),
        (BASE, other(status="interrupted"), "the other was interrupted"),
        (other(status="failed"), BASE, "the base failed"),
    ],
)
def test_what_makes_figures_worthless_is_an_alarm(
    base: Summary, changed: Summary, words: str
) -> None:
    (text,) = alarms(run_subject(base), run_subject(changed))
    assert words in text


def test_beside_a_published_figure_only_our_own_verdict_counts() -> None:
    base = published_subject("table-2/spark/2-nodes")
    assert alarms(base, run_subject(BASE)) == []
    (text,) = alarms(base, run_subject(other(verdict="invalid")))
    assert text == "the other is ✗ INVALID: its figures prove nothing"


def test_a_published_figure_brings_its_source_and_its_setting() -> None:
    found = "\n".join(warnings(published_subject("table-2/flink/8-nodes"), run_subject(BASE)))
    assert "Karimov" in found
    assert "nodes of 16 CPUs" in found
    assert "network-bound" in found
