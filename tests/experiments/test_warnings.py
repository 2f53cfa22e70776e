from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.experiments.planning.files import read_experiment
from streamgauge.experiments.planning.study import make_study
from streamgauge.experiments.planning.warnings import expected_results, warnings

OWN = """
import streamgauge
from streamgauge import Choice, Keys

EVENTS = streamgauge.event_spec(sensor=Keys(size=3), place=Choice(values=("in", "out")))

@streamgauge.query(events=EVENTS, keys=["window", "sensor", "place"])
def own(events, *, window="5 seconds"):
    return events
"""
EXPERIMENT = """
name: own
workload: {query: "own.py:own"}
load: {rate: 1k}
system: {name: spark}
duration: 60 s
warm_up: 25 %
thresholds: [event_time.p99 < 5 s, event_time.max < 5 s]
"""


def expected(*settings: str) -> int | None:
    study = make_study(*read_experiment("quickstart", list(settings)))
    return expected_results(study.first_plan)


@pytest.mark.parametrize(
    ("settings", "count"),
    [
        # Windows of 1 s that end after 15 s and before the last event at 60 s.
        (["workload.keys=3"], 44 * 3),
        (["workload.keys=3", "workload.window=8s", "workload.slide=4s"], 11 * 3),
        (["workload.keys=3", "load.disorder=2s"], 42 * 3),
        (["workload.windows=global"], 44),
        (["duration=2s", "workload.window=8s"], 0),
        # How many pairs match is not known before.
        (["workload.query=gaming.join"], None),
    ],
)
def test_results_after_the_warm_up(settings: list[str], count: int | None) -> None:
    assert expected(*settings) == count


def test_a_quantile_without_enough_results_is_warned_of(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    path = tmp_path / "own.yaml"
    path.write_text(EXPERIMENT)
    (text,) = warnings(make_study(*read_experiment(str(path), [])))
    assert "`event_time.p99 < 5 s`" in text
    assert "about 48 results are expected" in text
    assert "p99 needs 1,000" in text


def test_equal_warnings_of_many_cases_are_one() -> None:
    settings = ["workload.keys=3", "vary={load.rate: [1k, 2k, 3k]}"]
    assert len(warnings(make_study(*read_experiment("quickstart", settings)))) == 1
    assert warnings(make_study(*read_experiment("quickstart", []))) == []
