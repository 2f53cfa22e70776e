from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.errors import ExitCode
from streamgauge.measure.outcome import outcome_of
from streamgauge.measure.record import RunRecord
from streamgauge.measure.summary import (
    Status,
    ThresholdResult,
    TrialSummary,
    Validation,
    Verdict,
)
from streamgauge.measure.verdict import judge, sustained, worst
from streamgauge.queries.gaming.aggregation import AggregationQuery
from tests.loads import replay_of
from tests.measure.test_validation import record_of

RIGHT: dict[str, Any] = {
    "expected": 100,
    "actual": 100,
    "missing": 0,
    "extra": 0,
    "duplicate": 0,
    "wrong": 0,
    "late": 0,
    "input_matches": True,
}


@pytest.fixture(scope="module")
def record() -> RunRecord:
    return record_of(replay_of(AggregationQuery(keys=5), seconds=1))


def with_instance(record: RunRecord, **changes: Any) -> RunRecord:
    first, *rest = record.instances
    return record.model_copy(update={"instances": [first.model_copy(update=changes), *rest]})


def test_everything_right_is_valid(record: RunRecord) -> None:
    assert judge(record, Validation(**RIGHT), 100_000) == (Verdict.VALID, [])
    assert sustained(record) == (True, [])


def test_a_service_that_holds_other_results_makes_a_drained_run_invalid(record: RunRecord) -> None:
    mirrored = record.model_copy(update={"mirrored_in": "redis"})
    same = Validation(**RIGHT, mirror_missing=0, mirror_extra=0, mirror_wrong=0)
    assert judge(mirrored, same, 100_000) == (Verdict.VALID, [])
    differs = same.model_copy(update={"mirror_missing": 1, "mirror_wrong": 3_000})
    reason = "redis does not hold the last results: 3,000 wrong, 1 missing"
    assert judge(mirrored, differs, 100_000) == (Verdict.INVALID, [reason])
    undrained = mirrored.model_copy(update={"drained": False})
    assert judge(undrained, differs, 100_000)[0] is Verdict.UNKNOWN


def test_without_a_system_late_senders_are_a_result_and_nothing_is_sustained(
    record: RunRecord,
) -> None:
    late = with_instance(record, lag_p99_us=5_000_000, lag_max_us=5_000_000)
    assert judge(late, Validation(**RIGHT), 100_000)[0] is Verdict.VOID
    alone = late.model_copy(update={"results_are_the_log": True})
    assert judge(alone, Validation(**RIGHT), 100_000) == (Verdict.VALID, [])
    assert sustained(alone) == (None, [])
    lost = Validation(**{**RIGHT, "missing": 2})
    assert judge(alone, lost, 100_000)[0] is Verdict.INVALID


@pytest.mark.parametrize("fault", ["missing", "extra", "duplicate", "wrong", "late"])
def test_any_fault_is_invalid_with_its_count(record: RunRecord, fault: str) -> None:
    verdict, reasons = judge(record, Validation(**{**RIGHT, fault: 1_234}), 100_000)
    assert verdict is Verdict.INVALID
    assert "1,234" in reasons[0]


def test_results_out_of_order_are_invalid_if_an_order_was_asked_for(record: RunRecord) -> None:
    verdict, reasons = judge(record, Validation(**{**RIGHT, "disordered": 7}), 100_000)
    assert verdict is Verdict.INVALID
    assert reasons == ["7 results came after a later one"]


def test_a_clock_that_jumps_makes_the_run_unknown_whatever_else_was_found(
    record: RunRecord,
) -> None:
    faulty = Validation(**{**RIGHT, "wrong": 3, "times_back": 2})
    verdict, reasons = judge(record, faulty, 100_000)
    assert verdict is Verdict.UNKNOWN
    assert "went back 2 times" in reasons[0]
    jumped = record.model_copy(update={"clock_jump_us": 3_000_000})
    verdict, reasons = judge(jumped, Validation(**RIGHT), 100_000)
    assert verdict is Verdict.UNKNOWN
    assert "jumped by 3,000 ms" in reasons[0]


def test_events_that_could_not_be_sent_make_the_run_void(record: RunRecord) -> None:
    verdict, reasons = judge(with_instance(record, unsent=12), Validation(**RIGHT), 100_000)
    assert verdict is Verdict.VOID
    assert reasons == ["driver instance 0 could not send 12 events"]


@pytest.mark.parametrize(
    ("late_us", "missing", "verdict"),
    [
        (250_000, 3, Verdict.VOID),
        (250_000, 0, Verdict.VALID),
        (90_000, 3, Verdict.INVALID),
    ],
)
def test_results_lost_by_the_drivers_own_skew_are_not_the_systems_fault(
    record: RunRecord, late_us: int, missing: int, verdict: Verdict
) -> None:
    load = record.load.model_copy(update={"skew_us": 100_000})
    late = with_instance(record.model_copy(update={"load": load}), lag_max_us=late_us)
    assert judge(late, Validation(**{**RIGHT, "missing": missing}), 100_000)[0] is verdict


def test_without_an_oracle_the_verdict_is_unknown_unless_results_are_missing(
    record: RunRecord,
) -> None:
    counted = {**RIGHT, "values_compared": False}
    verdict, reasons = judge(record, Validation(**counted), 100_000)
    assert verdict is Verdict.UNKNOWN
    assert "no value was compared" in reasons[0]
    verdict, reasons = judge(record, Validation(**{**counted, "missing": 8}), 100_000)
    assert (verdict, reasons) == (Verdict.INVALID, ["8 results are missing"])


def test_different_input_makes_the_run_void(record: RunRecord) -> None:
    other = Validation(**{**RIGHT, "input_matches": False, "wrong": 7})
    verdict, reasons = judge(record, other, 100_000)
    assert verdict is Verdict.VOID
    assert reasons == ["the events regenerated for the check differ from those that were offered"]


def test_only_the_reasons_of_the_worst_verdict_are_given(record: RunRecord) -> None:
    late = with_instance(record, lag_p99_us=100_001).model_copy(update={"drained": False})
    verdict, reasons = judge(late, Validation(**{**RIGHT, "input_matches": False}), 100_000)
    assert verdict is Verdict.VOID
    assert len(reasons) == 2
    assert "late itself" in reasons[0]
    assert "regenerated" in reasons[1]


@given(st.permutations([Verdict.VOID, Verdict.INVALID, Verdict.UNKNOWN, Verdict.VALID]))
def test_one_order_of_severity_whatever_the_order_of_the_verdicts(found: list[Verdict]) -> None:
    for severe in (Verdict.VOID, Verdict.INVALID, Verdict.UNKNOWN, Verdict.VALID):
        assert worst(found) is severe
        found = [verdict for verdict in found if verdict is not severe]
    assert worst([]) is Verdict.UNKNOWN


def test_a_late_generator_makes_the_run_void(record: RunRecord) -> None:
    late = with_instance(record, lag_p99_us=100_001)
    verdict, reasons = judge(late, Validation(**{**RIGHT, "wrong": 1}), 100_000)
    assert verdict is Verdict.VOID
    assert "driver instance 0" in reasons[0]
    assert judge(late, Validation(**RIGHT), 100_001)[0] is Verdict.VALID


def test_unchecked_results_are_unknown(record: RunRecord) -> None:
    assert judge(record, Validation(), 100_000)[0] is Verdict.UNKNOWN
    assert judge(record, Validation(**{**RIGHT, "expected": 0}), 100_000)[0] is Verdict.UNKNOWN


def test_unprocessed_input_is_unsustained_not_invalid(record: RunRecord) -> None:
    cut_off = record.model_copy(update={"drained": False})
    assert judge(cut_off, Validation(**{**RIGHT, "missing": 5}), 100_000)[0] is Verdict.UNKNOWN
    assert judge(cut_off, Validation(**{**RIGHT, "wrong": 5}), 100_000)[0] is Verdict.INVALID
    assert sustained(cut_off)[0] is False


def test_one_unsustained_instance_or_dropped_connection_fails_the_run(record: RunRecord) -> None:
    kept_up, reasons = sustained(with_instance(record, unsustained_because="queue too long"))
    assert (kept_up, reasons) == (False, ["driver instance 0: queue too long"])
    dropped = record.model_copy(update={"dropped": ["connection to 1 dropped"]})
    assert sustained(dropped) == (False, ["connection to 1 dropped"])


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, ExitCode.VALID),
        ({"sustained": False}, ExitCode.FAILED),
        (
            {"thresholds": [ThresholdResult(expression="x", value=1, passed=False)]},
            ExitCode.FAILED,
        ),
        ({"verdict": Verdict.INVALID, "sustained": False}, ExitCode.INVALID),
        ({"verdict": Verdict.UNKNOWN}, ExitCode.INVALID),
        ({"verdict": Verdict.VOID, "sustained": False}, ExitCode.VOID),
        ({"status": Status.FAILED}, ExitCode.COMPONENT),
        ({"status": Status.INTERRUPTED}, ExitCode.INTERRUPTED),
    ],
)
def test_exit_codes_follow_the_contract(changes: dict[str, Any], code: ExitCode) -> None:
    good = TrialSummary(name="n", run="r", verdict=Verdict.VALID, sustained=True)
    assert outcome_of(good.model_copy(update=changes)).exit_code is code
