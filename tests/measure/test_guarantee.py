"""The delivery guarantee that results show, and the verdict on it."""

from __future__ import annotations

from typing import Any

import pytest

from streamgauge.measure.guarantee import keeps, shown
from streamgauge.measure.record import FaultRecord, RunRecord
from streamgauge.measure.recovery_figures import FaultRecovery, Recovery
from streamgauge.measure.summary import Validation, Verdict
from streamgauge.measure.verdict import judge, sustained
from streamgauge.queries.gaming.aggregation import AggregationQuery
from tests.loads import replay_of
from tests.measure.test_validation import record_of
from tests.measure.test_verdict import RIGHT

FAULT = FaultRecord(name="kill", target="program", asked_us=1, began_us=1, done_us=1)


@pytest.mark.parametrize(
    ("counts", "guarantee"),
    [
        ({}, "exactly once"),
        ({"duplicate": 3}, "at least once"),
        ({"missing": 3}, "at most once"),
        ({"missing": 3, "duplicate": 1}, "less"),
        ({"wrong": 1}, "less"),
        ({"extra": 1}, "less"),
        ({"late": 1}, "exactly once"),
        ({"expected": None}, ""),
        ({"values_compared": False}, ""),
    ],
)
def test_the_counts_show_a_guarantee(counts: dict[str, Any], guarantee: str) -> None:
    assert shown(Validation(**{**RIGHT, **counts}), drained=True) == guarantee


def test_updates_show_at_least_once_at_most() -> None:
    assert shown(Validation(**RIGHT), drained=True, updates=True) == "at least once"


def test_what_was_still_to_come_shows_nothing() -> None:
    assert shown(Validation(**{**RIGHT, "missing": 3}), drained=False) == ""


@pytest.mark.parametrize(
    ("has_shown", "claimed", "kept"),
    [
        ("exactly once", "at least once", True),
        ("exactly once", "at most once", True),
        ("at least once", "exactly once", False),
        ("at least once", "at most once", False),
        ("at most once", "at least once", False),
        ("less", "at most once", False),
        ("less", "", True),
        ("", "exactly once", True),
    ],
)
def test_a_claim_is_kept_or_not(has_shown: str, claimed: str, *, kept: bool) -> None:
    assert keeps(has_shown, claimed) is kept


def judged(claimed: str, faults: list[FaultRecord], **counts: int) -> tuple[Verdict, list[str]]:
    record: RunRecord = record_of(replay_of(AggregationQuery(keys=5), seconds=1))
    record = record.model_copy(update={"claimed": claimed, "faults": faults})
    return judge(record, Validation(**{**RIGHT, **counts}), 100_000)


def test_duplicates_after_a_fault_are_within_at_least_once() -> None:
    assert judged("at least once", [FAULT], duplicate=5)[0] is Verdict.VALID
    assert judged("at least once", [], duplicate=5)[0] is Verdict.INVALID
    assert judged("at least once", [FAULT], missing=5)[0] is Verdict.INVALID


def test_a_worse_guarantee_than_claimed_is_invalid() -> None:
    verdict, reasons = judged("exactly once", [FAULT], duplicate=5)
    assert verdict is Verdict.INVALID
    assert reasons == [
        "the system claims exactly once, and has shown at least once",
        "5 results came more than once",
    ]


def test_a_fault_without_recovery_is_not_sustained() -> None:
    record = record_of(replay_of(AggregationQuery(keys=5), seconds=1))
    faults = [
        FaultRecovery(name="kill executor", at_s=30.0),
        FaultRecovery(name="kill worker", at_s=40.0, done=False, failed="there was no worker"),
    ]
    kept_up, reasons = sustained(record, Recovery(faults=faults))
    assert kept_up is False
    assert reasons == ["kill executor at 30.0 s: never recovered within the run"]
