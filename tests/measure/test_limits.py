from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.experiments.planning.model import Load
from streamgauge.measure.limits import Evidence, SystemAdvice, limits
from streamgauge.measure.limits.findings import LEAST
from streamgauge.measure.pulls import Pull
from streamgauge.measure.summary import Limit
from streamgauge.queries.gaming.aggregation import AggregationQuery
from streamgauge.systems.spark.system import SparkSystem
from tests.measure.evidence import BEHIND, CASES, LONG, SHARED, evidence, pulled


@pytest.mark.parametrize("case", CASES)
def test_each_limit_is_named_first_with_its_figure_and_what_to_change(case: str) -> None:
    kind, changes, figure, setting = CASES[case]
    first = limits(evidence(**changes))[0]
    assert first.kind == kind
    assert figure in first.shown_by
    assert setting in first.advice


def advised_settings(found: list[Limit]) -> set[tuple[str, str]]:
    """Every `--set key=value` in the advice."""
    advice = " ".join(limit.advice for limit in found)
    quoted = re.findall(r"--set '([\w.]+)=([^']*)'", advice)
    return {*quoted, *re.findall(r"--set ([\w.]+)=([^`]*)`", advice)}


def assert_advised_setting_exists(key: str, value: str) -> None:
    section, _, name = key.partition(".")
    setting = {name: yaml.safe_load(value)}
    if section == "system":
        # Which CPUs exist depends on the machine of the test.
        assert SparkSystem(**{**setting, "cpus": None})
        assert name in SparkSystem.model_fields
    elif section == "load":
        assert Load(**{"rate": 1.0, **setting})
    else:
        assert section == "workload"
        assert AggregationQuery(**setting)


def settings_in_all_cases() -> set[tuple[str, str]]:
    cases = [evidence(), *(evidence(**changes) for _, changes, _, _ in CASES.values())]
    return advised_settings([limit for case in cases for limit in limits(case)])


@pytest.mark.parametrize(("key", "value"), sorted(settings_in_all_cases()))
def test_the_settings_that_are_advised_exist(key: str, value: str) -> None:
    assert_advised_setting_exists(key, value)


def test_settings_are_found_in_the_advice_and_none_is_of_a_system() -> None:
    assert len(settings_in_all_cases()) >= 4
    assert not any(key.startswith("system.") for key, _ in settings_in_all_cases())


def test_a_system_names_the_settings_that_general_advice_refers_to() -> None:
    own = SystemAdvice(more_cores="`n={cores}`", more_machines="`m`", pin="`p={cpus}`")

    def advice(case: str) -> str:
        return limits(evidence(**CASES[case][1]), own)[0].advice

    assert "Give the system more cores: `n=7`. Or" in advice("busy cores, and others free")
    assert "on a larger machine or in a cluster (`m`). Or" in advice("busy cores")
    full = limits(evidence(**CASES["a full machine"][1]), own)
    assert any("and give the system its own: `p=0, 1`." in limit.advice for limit in full)


def test_at_its_maximum_a_system_is_limited_although_it_keeps_up() -> None:
    found = limits(evidence(at_maximum=True))
    assert found
    assert "none" not in {limit.kind for limit in found}
    (unknown,) = limits(evidence(at_maximum=True, pulls=[]))
    assert unknown.kind == "unknown"
    assert "a search found no higher rate" in unknown.shown_by


def test_a_calm_run_is_limited_by_nothing() -> None:
    (only,) = limits(evidence())
    assert only.kind == "none"
    assert "kept up" in only.shown_by
    assert "0.70 of 2 cores (35 %)" in only.shown_by
    assert only.strength == pytest.approx(0.65)


def test_a_run_without_a_visible_limit_is_unknown() -> None:
    (only,) = limits(evidence(**BEHIND, pulls=[]))
    assert only.kind == "unknown"
    assert "fell behind" in only.shown_by


@pytest.mark.parametrize("sustained", [False, None])
def test_only_a_run_that_kept_up_is_limited_by_nothing(sustained: bool | None) -> None:
    kinds = [limit.kind for limit in limits(evidence(sustained=sustained))]
    assert kinds == ["compute", "fixed cost"]


def test_driver_and_system_that_share_a_full_machine_are_named() -> None:
    changes = {**BEHIND, "cpu_percent": {"driver": 45.0, "system": 148.0, "sink": 5.0}}
    found = {limit.kind: limit for limit in limits(evidence(**changes))}
    assert "used 0.50 of the machine's 2 cores" in found["driver"].shown_by
    assert found["driver"].advice == "Use a machine with 3 cores or more."
    assert found["driver"].strength == pytest.approx(0.25)
    assert found["CPU"].strength > found["driver"].strength
    separate = limits(evidence(**{**changes, "cores": 1}))
    assert "driver" not in [limit.kind for limit in separate]


def test_a_generator_that_is_nearly_late_is_named_too() -> None:
    assert limits(evidence(lag_p99_ms=80.0))[0].kind == "driver"
    assert limits(evidence(lag_p99_ms=79.0))[0].kind == "none"


def test_the_cpu_of_other_machines_is_not_guessed() -> None:
    far = {**BEHIND, "cores": 16, "cpu_percent": {"driver": 5.0, "system": 100.0, "sink": 1.0}}
    kinds = [limit.kind for limit in limits(evidence(**far, local=False, hottest_key_share=None))]
    assert "CPU" not in kinds
    assert "hot key" not in kinds
    (calm,) = limits(evidence(local=False))
    assert "its CPU was not measured" in calm.shown_by


def test_one_busy_core_without_known_keys_is_marked_as_a_guess() -> None:
    changes = {**BEHIND, "cpu_percent": {"system": 100.0}, "pulls": []}
    (only,) = limits(evidence(**changes, hottest_key_share=None))
    assert only.kind == "hot key"
    assert "may be a hot key or other work" in only.shown_by
    assert only.strength <= 0.5
    assert limits(evidence(**changes))[0].kind == "unknown"


def test_a_hot_key_without_a_backlog_is_not_the_first_limit() -> None:
    harmless = evidence(hottest_key_share=1.0, cpu_percent={"system": 100.0})
    assert [limit.kind for limit in limits(harmless)] == ["none"]
    doubtful = harmless.model_copy(update={"queue_share": 1.5})
    strengths = {limit.kind: limit.strength for limit in limits(doubtful)}
    assert strengths["hot key"] == pytest.approx(0.5)


def test_computing_is_unknown_if_a_system_pauses() -> None:
    kinds = [limit.kind for limit in limits(evidence(**BEHIND, **LONG, pause_s=2.0))]
    assert "compute" not in kinds


def test_a_run_that_kept_up_near_its_limit_shows_that_limit() -> None:
    found = limits(evidence(cpu_percent={"system": 165.0}))
    assert "none" not in [limit.kind for limit in found]
    alone = limits(evidence(cpu_percent={"system": 165.0}, pulls=[]))
    assert [limit.kind for limit in alone] == ["none"]
    assert "Few cores are left" in alone[0].advice


def test_nothing_measured_gives_nothing() -> None:
    assert limits(Evidence(cores=1, machine_cores=1, driver_instances=1)) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"duration_s": 0.0},
        {"pulls": pulled(60.0, 0.1, 0.1)[:1]},
        {"pulls": []},
        {"pulls": [pull._replace(handed_s=None) for pull in pulled(2.0, 0.1, 0.1)]},
        {"cpu_percent": {}},
        {"max_lag_ms": 0.0},
        {"hottest_key_share": 0.0},
        {"pause_s": 1.0, "pulls": []},
    ],
)
@pytest.mark.parametrize("sustained", [True, False, None])
def test_little_evidence_is_enough(changes: dict[str, Any], sustained: bool | None) -> None:
    assert limits(evidence(**{"sustained": sustained, **changes}))


ANY_FLOAT = st.floats(min_value=-1e12, max_value=1e12)
ANY_COUNT = st.integers(min_value=0, max_value=2**63)
ANY_CORES = st.integers(min_value=1, max_value=4096)
_TIME_S = ANY_FLOAT | st.floats(0, 60)
ANY_EVIDENCE = st.builds(
    Evidence,
    cores=ANY_CORES,
    machine_cores=ANY_CORES,
    driver_instances=ANY_CORES,
    sustained=st.none() | st.booleans(),
    at_maximum=st.booleans(),
    duration_s=st.floats(min_value=0, max_value=1e12),
    offered_per_s=st.none() | ANY_FLOAT,
    drained_per_s=st.none() | ANY_FLOAT,
    cpu_percent=st.dictionaries(
        st.sampled_from(["driver", "system", "sink"]), st.floats(0, 1e6) | ANY_FLOAT
    ),
    lag_p99_ms=ANY_FLOAT,
    max_lag_ms=ANY_FLOAT,
    queue_share=ANY_FLOAT,
    event_time_p50_ms=st.none() | ANY_FLOAT,
    pulls=st.lists(
        st.builds(
            Pull,
            start_s=_TIME_S,
            events=ANY_COUNT,
            busy_s=_TIME_S,
            left=ANY_COUNT,
            handed_s=st.none() | st.tuples(_TIME_S, _TIME_S),
        ),
        max_size=5,
    ),
    pause_s=st.just(0.0) | ANY_FLOAT,
    hottest_key_share=st.none() | st.floats(0, 1),
    keyed_tasks=st.none() | ANY_CORES,
    network_mb_per_s=st.none() | ANY_FLOAT,
    local=st.booleans(),
)


def assert_ordered_and_readable(found: list[Limit]) -> None:
    strengths = [limit.strength for limit in found]
    assert strengths == sorted(strengths, reverse=True)
    assert all(0 <= strength <= 1 for strength in strengths)
    kinds = [limit.kind for limit in found]
    assert len(set(kinds)) == len(kinds)
    if len(found) > 1:
        assert strengths[-1] >= LEAST
        assert not {"none", "unknown"} & set(kinds)
    for limit in found:
        text = f"{limit.shown_by} {limit.advice}".lower()
        assert "nan" not in text
        assert "inf" not in text
        assert "none" not in text
        assert limit.advice
        assert limit.advice.count("`") % 2 == 0
        assert limit.label
        assert limit.meaning.endswith(".")


@settings(max_examples=300, deadline=None)
@given(ANY_EVIDENCE)
def test_for_any_evidence_the_limits_are_ordered_and_readable(anything: Evidence) -> None:
    assert_ordered_and_readable(limits(anything))


def test_other_programs_are_no_limit_while_a_core_is_free_or_the_system_is_elsewhere() -> None:
    kinds = [
        {limit.kind for limit in limits(evidence(**BEHIND, **LONG, **changes))}
        for changes in (
            {"cpu_percent": SHARED},
            {"cpu_percent": SHARED, "machine_cores": 4},
            {"cpu_percent": SHARED, "local": False},
        )
    ]
    assert ["other programs" in found for found in kinds] == [True, False, False]
