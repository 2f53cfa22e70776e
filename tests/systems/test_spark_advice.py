from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.measure.limits import SELF_REPORTED, Evidence
from streamgauge.measure.summary import Limit
from streamgauge.systems.spark.advice import SparkEvidence, spark_limits
from streamgauge.systems.spark.progress import BatchProgress
from streamgauge.systems.spark.system import SparkSystem
from tests.measure.evidence import BEHIND, LONG, evidence, pulled
from tests.measure.test_limits import (
    ANY_CORES,
    ANY_COUNT,
    ANY_EVIDENCE,
    ANY_FLOAT,
    advised_settings,
    assert_advised_setting_exists,
    assert_ordered_and_readable,
)
from tests.systems.spark_evidence import CASES, progress, spark_evidence


def limits(**changes: Any) -> list[Limit]:
    return spark_limits(spark_evidence(**changes))


@pytest.mark.parametrize("case", CASES)
def test_each_limit_is_named_first_with_its_figure_and_what_to_change(case: str) -> None:
    kind, changes, figure, setting = CASES[case]
    first = limits(**changes)[0]
    assert first.kind == kind
    assert figure in first.shown_by
    assert setting in first.advice


def settings_in_all_cases() -> set[tuple[str, str]]:
    cases: list[dict[str, Any]] = [{}, *(changes for _, changes, _, _ in CASES.values())]
    return advised_settings([limit for case in cases for limit in limits(**case)])


@pytest.mark.parametrize(("key", "value"), sorted(settings_in_all_cases()))
def test_the_settings_that_are_advised_exist(key: str, value: str) -> None:
    assert_advised_setting_exists(key, value)


def test_settings_are_found_in_the_advice() -> None:
    assert len(settings_in_all_cases()) >= 10


def test_a_calm_run_is_limited_by_nothing() -> None:
    assert [limit.kind for limit in limits()] == ["none"]


@pytest.mark.parametrize("case", ["state on disk", "too many partitions"])
def test_state_and_shuffle_are_no_limit_while_the_system_keeps_up(case: str) -> None:
    changes = {name: value for name, value in CASES[case][1].items() if name not in BEHIND}
    assert limits(**changes, **BEHIND)[0].strength >= 0.5
    assert [limit.kind for limit in limits(**changes)] == ["none"]


@pytest.mark.parametrize("sustained", [False, None])
def test_only_a_run_that_kept_up_is_limited_by_nothing(sustained: bool | None) -> None:
    kinds = [limit.kind for limit in limits(sustained=sustained)]
    assert "none" not in kinds
    assert {"shuffle", "fixed cost", "state"} <= set(kinds)


def test_on_a_full_machine_the_advice_names_the_cpus_to_pin() -> None:
    changes = {**BEHIND, "cpu_percent": {"driver": 45.0, "system": 148.0, "sink": 5.0}}
    found = {limit.kind: limit for limit in limits(**changes)}
    assert "`--set 'system.cpus=[0, 1]'`" in found["driver"].advice


def test_an_interval_that_hardly_matters_for_the_latency_is_weak() -> None:
    changes: dict[str, Any] = {**CASES["a long interval"][1], "event_time_p50_ms": 40_000.0}
    assert [limit.kind for limit in limits(**changes)] == ["none"]


def test_growing_state_is_shown_with_both_sizes() -> None:
    growing = [progress(2_000, state_rows=1_000 * (number + 1)) for number in range(30)]
    found = {one.kind: one for one in limits(**BEHIND, **LONG, batches=growing)}
    assert "25,500 rows" in found["state"].shown_by
    assert "after 5,500 rows at the beginning" in found["state"].shown_by
    assert "load.disorder" in found["state"].advice


def test_self_reported_figures_are_marked() -> None:
    reported = limits(**BEHIND, **LONG, batches=[progress(2_000)] * 5)
    marked = {limit.kind for limit in reported if limit.self_reported}
    assert marked == {"fixed cost", "state", "shuffle"}
    without = limits(**BEHIND, batches=[])
    assert {limit.kind for limit in without} == {"fixed cost", "compute"}
    assert not any(limit.self_reported for limit in without)


@pytest.mark.parametrize("case", CASES)
def test_the_mark_in_the_text_and_the_field_agree(case: str) -> None:
    for limit in limits(**CASES[case][1]):
        assert limit.self_reported == (SELF_REPORTED in limit.shown_by)


def test_nothing_measured_gives_nothing() -> None:
    nothing = Evidence(cores=1, machine_cores=1, driver_instances=1)
    assert SparkSystem().limits(nothing, []) == []
    assert SparkSystem().limits(nothing, [progress().model_dump()])


def test_the_settings_of_the_system_enter_its_advice() -> None:
    """A tenth of a gigabyte of state in a fifth of a gigabyte of memory."""
    batches = [progress(2_000, state_bytes=120_000_000).model_dump()] * 30
    run = evidence(**BEHIND, **LONG)
    small = {one.kind: one for one in SparkSystem(memory="200m").limits(run, batches)}
    assert "60 % of its memory" in small["state"].shown_by
    assert "`--set system.state_store=rocksdb`" in small["state"].advice
    large = {one.kind: one for one in SparkSystem(shuffle_partitions=9).limits(run, batches)}
    assert "of its memory" not in large["state"].shown_by
    assert "9 partitions on 2 cores" in large["shuffle"].shown_by


def test_cores_tasks_and_place_follow_from_the_settings() -> None:
    system = SparkSystem(master="local[3]")
    assert (system.cores_used, system.keyed_tasks, system.bounded_pulls) == (3, 3, False)
    assert SparkSystem(shuffle_partitions=7, max_events_per_batch=10).keyed_tasks == 7
    assert SparkSystem(max_events_per_batch=10).bounded_pulls
    assert system.runs_here
    assert not SparkSystem(master="spark://elsewhere:7077").runs_here
    assert SparkSystem(master="spark://elsewhere:7077", cluster={"workers": 2}).runs_here


@pytest.mark.parametrize(
    "changes",
    [
        {"duration_s": 0.0},
        {"pulls": pulled(60.0, 0.1, 0.1)[:1], "batches": []},
        {"pulls": [], "batches": [progress()]},
        {"batches": [progress(0)], "pulls": []},
        {"pause_s": 1.0, "batches": [], "pulls": []},
        {"pause_s": 1.0, "event_time_p50_ms": 0.0},
    ],
)
@pytest.mark.parametrize("sustained", [True, False, None])
def test_little_evidence_is_enough(changes: dict[str, Any], sustained: bool | None) -> None:
    assert limits(**{"sustained": sustained, **changes})


_ANY = st.builds(
    SparkEvidence,
    measured=ANY_EVIDENCE,
    batches=st.lists(
        st.builds(BatchProgress, **dict.fromkeys(BatchProgress.model_fields, ANY_COUNT)),
        max_size=8,
    ),
    state_store=st.sampled_from(["memory", "rocksdb"]),
    shuffle_partitions=ANY_CORES,
    memory_mb=ANY_FLOAT,
)


@settings(max_examples=300, deadline=None)
@given(_ANY)
def test_for_any_evidence_the_limits_are_ordered_and_readable(anything: SparkEvidence) -> None:
    assert_ordered_and_readable(spark_limits(anything))
