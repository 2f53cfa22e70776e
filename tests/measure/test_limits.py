from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.experiments.planning.model import Load
from streamgauge.measure.limits import OWN_WORD, Evidence, Pull, limits
from streamgauge.measure.limits.findings import LEAST
from streamgauge.queries.gaming.aggregation import AggregationQuery
from streamgauge.systems.spark.own_words import BatchWords
from streamgauge.systems.spark.system import SparkSystem
from tests.measure.evidence import BEHIND, CASES, LONG, evidence, pulled, words


@pytest.mark.parametrize("case", CASES)
def test_each_limit_is_named_first_with_its_figure_and_what_to_change(case: str) -> None:
    kind, changes, figure, setting = CASES[case]
    first = limits(evidence(**changes))[0]
    assert first.kind == kind
    assert figure in first.shown_by
    assert setting in first.advice


def said_settings() -> set[tuple[str, str]]:
    """Every `--set key=value` that the advice of any case has."""
    cases = [evidence(), *(evidence(**changes) for _, changes, _, _ in CASES.values())]
    advice = " ".join(limit.advice for case in cases for limit in limits(case))
    quoted = re.findall(r"--set '([\w.]+)=([^']*)'", advice)
    return {*quoted, *re.findall(r"--set ([\w.]+)=([^`]*)`", advice)}


@pytest.mark.parametrize(("key", "value"), sorted(said_settings()))
def test_the_settings_that_are_advised_exist(key: str, value: str) -> None:
    section, _, name = key.partition(".")
    setting = {name: yaml.safe_load(value)}
    if section == "system":
        # Which CPUs there are depends on the machine of the test.
        assert SparkSystem(**{**setting, "cpus": []})
        assert name in SparkSystem.model_fields
    elif section == "load":
        assert Load(**{"rate": 1.0, **setting})
    else:
        assert section == "workload"
        assert AggregationQuery(**setting)


def test_settings_are_found_in_the_advice() -> None:
    assert len(said_settings()) >= 10


def test_at_its_maximum_a_system_is_limited_by_something_though_it_keeps_up() -> None:
    found = limits(evidence(at_maximum=True))
    assert found
    assert "none" not in {limit.kind for limit in found}
    (unknown,) = limits(evidence(at_maximum=True, pulls=[], batches=[]))
    assert unknown.kind == "unknown"
    assert "a search found no more" in unknown.shown_by


def test_a_calm_run_is_limited_by_nothing() -> None:
    (only,) = limits(evidence())
    assert only.kind == "none"
    assert "kept up" in only.shown_by
    assert "0.70 of 2 cores (35 %)" in only.shown_by
    assert only.strength == pytest.approx(0.65)


def test_what_nobody_can_explain_is_said_to_be_unknown() -> None:
    (only,) = limits(evidence(**BEHIND, pulls=[], batches=[]))
    assert only.kind == "unknown"
    assert "fell behind" in only.shown_by


@pytest.mark.parametrize("sustained", [False, None])
def test_only_a_run_that_kept_up_is_limited_by_nothing(sustained: bool | None) -> None:
    kinds = [limit.kind for limit in limits(evidence(sustained=sustained))]
    assert "none" not in kinds
    assert {"shuffle", "fixed cost", "state"} <= set(kinds)


def test_driver_and_system_that_share_a_full_machine_are_named() -> None:
    changes = {**BEHIND, "cpu_percent": {"driver": 45.0, "system": 148.0, "sink": 5.0}}
    found = {limit.kind: limit for limit in limits(evidence(**changes))}
    assert "took 0.50 of the machine's 2 cores" in found["driver"].shown_by
    assert found["driver"].strength == pytest.approx(0.25)
    assert found["CPU"].strength > found["driver"].strength
    apart = limits(evidence(**{**changes, "cores": 1}))
    assert "driver" not in [limit.kind for limit in apart]


def test_a_generator_that_is_nearly_late_is_named_too() -> None:
    assert limits(evidence(lag_p99_ms=80.0))[0].kind == "driver"
    assert limits(evidence(lag_p99_ms=79.0))[0].kind == "none"


def test_the_cpu_of_executors_elsewhere_is_not_guessed() -> None:
    far = {**BEHIND, "cores": 16, "cpu_percent": {"driver": 5.0, "system": 100.0, "sink": 1.0}}
    kinds = [limit.kind for limit in limits(evidence(**far, local=False, hottest_key_share=None))]
    assert "CPU" not in kinds
    assert "hot key" not in kinds
    (calm,) = limits(evidence(local=False))
    assert "its CPU was not seen" in calm.shown_by


def test_one_busy_core_without_known_keys_is_a_guess_and_says_so() -> None:
    changes = {**BEHIND, "cpu_percent": {"system": 100.0}, "pulls": [], "batches": []}
    (only,) = limits(evidence(**changes, hottest_key_share=None))
    assert only.kind == "hot key"
    assert "cannot be told" in only.shown_by
    assert only.strength <= 0.5
    assert limits(evidence(**changes))[0].kind == "unknown"


def test_a_hot_key_that_did_no_harm_does_not_come_first() -> None:
    harmless = evidence(hottest_key_share=1.0, cpu_percent={"system": 100.0})
    assert [limit.kind for limit in limits(harmless)] == ["none"]
    doubtful = harmless.model_copy(update={"queue_share": 1.5})
    strengths = {limit.kind: limit.strength for limit in limits(doubtful)}
    assert strengths["hot key"] == pytest.approx(0.5)


def test_an_interval_that_hardly_matters_for_the_latency_is_weak() -> None:
    changes: dict[str, Any] = {**CASES["a long interval"][1], "event_time_p50_ms": 40_000.0}
    (only,) = limits(evidence(**changes))
    assert only.kind == "none"


def test_state_that_grows_is_said_with_both_sizes() -> None:
    growing = [words(2_000, state_rows=1_000 * (number + 1)) for number in range(30)]
    found = {one.kind: one for one in limits(evidence(**BEHIND, **LONG, batches=growing))}
    assert "25,500 rows" in found["state"].shown_by
    assert "after 5,500 rows at the beginning" in found["state"].shown_by
    assert "load.disorder" in found["state"].advice


def test_spark_is_quoted_only_where_it_spoke() -> None:
    spoken = limits(evidence(**BEHIND, **LONG, batches=[words(2_000)] * 5))
    marked = {limit.kind for limit in spoken if OWN_WORD in limit.shown_by}
    assert marked == {"fixed cost", "state", "shuffle"}
    silent = limits(evidence(**BEHIND, **LONG, batches=[]))
    assert silent
    assert not any(OWN_WORD in limit.shown_by for limit in silent)


def test_a_run_that_kept_up_close_to_its_limit_says_what_comes_first() -> None:
    found = limits(evidence(cpu_percent={"system": 165.0}))
    assert "none" not in [limit.kind for limit in found]
    alone = limits(evidence(cpu_percent={"system": 165.0}, pulls=[], batches=[]))
    assert [limit.kind for limit in alone] == ["none"]
    assert "Little is left" in alone[0].advice


def test_nothing_measured_gives_nothing() -> None:
    assert limits(Evidence(cores=1, machine_cores=1, driver_instances=1)) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"duration_s": 0.0},
        {"pulls": pulled(60.0, 0.1, 0.1)[:1], "batches": []},
        {"pulls": [], "batches": [words()]},
        {"batches": [words(0)], "pulls": []},
        {"cpu_percent": {}},
        {"max_lag_ms": 0.0},
        {"hottest_key_share": 0.0},
        {"trigger_s": 1.0, "batches": [], "pulls": []},
        {"trigger_s": 1.0, "event_time_p50_ms": 0.0},
    ],
)
@pytest.mark.parametrize("sustained", [True, False, None])
def test_little_evidence_is_enough(changes: dict[str, Any], sustained: bool | None) -> None:
    assert limits(evidence(**{"sustained": sustained, **changes}))


_MEASURED = st.floats(min_value=-1e12, max_value=1e12)
_COUNT = st.integers(min_value=0, max_value=2**63)
_CORES = st.integers(min_value=1, max_value=4096)
_ANY = st.builds(
    Evidence,
    cores=_CORES,
    machine_cores=_CORES,
    driver_instances=_CORES,
    sustained=st.none() | st.booleans(),
    duration_s=st.floats(min_value=0, max_value=1e12),
    offered_per_s=st.none() | _MEASURED,
    drained_per_s=st.none() | _MEASURED,
    cpu_percent=st.dictionaries(
        st.sampled_from(["driver", "system", "sink"]), st.floats(0, 1e6) | _MEASURED
    ),
    lag_p99_ms=_MEASURED,
    max_lag_ms=_MEASURED,
    queue_share=_MEASURED,
    trigger_s=st.just(0.0) | _MEASURED,
    event_time_p50_ms=st.none() | _MEASURED,
    processing_time_p50_ms=st.none() | _MEASURED,
    pulls=st.lists(
        st.builds(
            Pull,
            start_s=_MEASURED | st.floats(0, 60),
            first_handed_s=_MEASURED | st.floats(0, 60),
            last_handed_s=_MEASURED | st.floats(0, 60),
            events=st.none() | _COUNT,
        ),
        max_size=5,
    ),
    batches=st.lists(
        st.builds(BatchWords, **dict.fromkeys(BatchWords.model_fields, _COUNT)), max_size=8
    ),
    hottest_key_share=st.none() | st.floats(0, 1),
    state_store=st.none() | st.sampled_from(["memory", "rocksdb"]),
    shuffle_partitions=st.none() | _CORES,
    network_mb_per_s=st.none() | _MEASURED,
    memory_mb=st.none() | _MEASURED,
    local=st.booleans(),
)


@settings(max_examples=300, deadline=None)
@given(_ANY)
def test_whatever_was_measured_the_limits_are_in_order_and_readable(anything: Evidence) -> None:
    found = limits(anything)
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
