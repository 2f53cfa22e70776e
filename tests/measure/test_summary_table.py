from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from streamgauge.measure.summary import Validation
from streamgauge.measure.summary_table import correct_percent, summary_csv
from tests.report.samples import summary
from tests.report.studies import study, trial


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_trial_is_one_row_with_its_counts_latencies_and_thresholds() -> None:
    one = summary()
    (row,) = rows(summary_csv(one))
    assert (row["verdict"], row["correct"], row["sustained"]) == ("valid", "yes", "yes")
    assert row["growing"] == "no"
    assert float(row["event_time.p90"]) == one.latency_ms.event_time.p90
    assert row["expected"] == str(one.validation.expected)
    assert float(row["correct_percent"]) == 100
    for threshold in one.thresholds:
        assert row[threshold.expression] == ("yes" if threshold.passed else "no")


def test_a_study_has_a_row_per_trial_and_its_varied_settings() -> None:
    trials = [
        trial(
            f"trials/{place}",
            {"workload.query": query, "workload.skew": "a, b", "load.rate": 1_000.0},
            parameters={"workload.query": "other", "load.rate": 1_000.0},
        )
        for place, query in enumerate(("espbench.q1", "espbench.q2"))
    ]
    found = rows(summary_csv(study("queries", trials)))
    assert [row["query"] for row in found] == ["espbench.q1", "espbench.q2"]
    assert {row["configured_per_s"] for row in found} == {"1000.0"}
    assert {row["workload.skew"] for row in found} == {"a, b"}


def test_what_was_not_measured_is_empty() -> None:
    bare = summary().model_copy(
        update={"validation": Validation(), "sustained": None, "driver": [], "phases_s": {}}
    )
    (row,) = rows(summary_csv(bare))
    names = ("expected", "missing", "correct_percent", "sustained", "input", "calculation_s")
    assert {row[name] for name in names} == {""}


@pytest.mark.parametrize(
    ("counts", "percent"),
    [
        ({"expected": 200, "missing": 1, "wrong": 1}, 99.0),
        ({"expected": 90, "extra": 5, "duplicate": 5}, 90.0),
        ({"expected": 0}, None),
        ({}, None),
        ({"expected": 0, "extra": 3}, 0.0),
    ],
)
def test_correct_is_the_share_of_results_that_came_once_and_right(
    counts: dict[str, Any], percent: float | None
) -> None:
    assert correct_percent(Validation(**counts)) == percent
