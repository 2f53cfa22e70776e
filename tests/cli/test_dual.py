from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamgauge.dual.model.latency import Paradigm
from tests.dual.reported import decided, line, placed, seen, switched

from . import made_up
from .calling import call

REPORTS = [
    line(one)
    for one in (
        placed(100, Paradigm.DATA),
        seen(101, Paradigm.DATA),
        decided(104),
        switched(105, Paradigm.OPERATION),
    )
]
LOAD = json.dumps({"time_us": 1, "event": "load", "start_us": 101_000_000, "rate_per_s": 9.0})


def events() -> str:
    said = ({"time_us": 2, "event": "system", "said": json.loads(one)} for one in REPORTS)
    return "\n".join([LOAD, *map(json.dumps, said)]) + "\n"


def test_the_latest_run_is_explained_in_seconds_of_its_load(runs: Path) -> None:
    run = made_up.stored(runs, made_up.summary())
    run.events.write_text(events())
    answer = call("dual", "explain", "--runs-dir", str(runs))
    assert (answer.code, answer.err) == (0, "")
    assert "filter: operation stream since 4.0 s\n" in answer.out
    assert "why: queue 900 > upper limit 500 (decided at 3.0 s: switch)" in answer.out
    assert "gap 800 ms (stop 300 ms, settle 100 ms" in answer.out


def test_the_folder_of_a_runtime_is_explained(tmp_path: Path) -> None:
    (tmp_path / "reports.ndjson").write_text("\n".join(REPORTS))
    answer = call("dual", "explain", str(tmp_path))
    assert answer.code == 0
    assert "filter: operation stream since 5.0 s\n" in answer.out


def test_the_trials_of_a_study_are_explained_one_by_one(runs: Path) -> None:
    run = made_up.stored(runs, made_up.summary())
    for number in ("01", "02", "03"):
        trial = run.trials / number
        trial.mkdir(parents=True)
        (trial / "events.ndjson").write_text(events() if number != "02" else LOAD)
    answer = call("dual", "explain", "--runs-dir", str(runs))
    assert answer.code == 0
    assert [name in answer.out for name in ("trials/01", "trials/02", "trials/03")] == [
        True,
        False,
        True,
    ]


def test_json_has_the_same(runs: Path) -> None:
    run = made_up.stored(runs, made_up.summary())
    run.events.write_text(events())
    answer = call("dual", "explain", "--json", "--runs-dir", str(runs))
    found = json.loads(answer.out)
    assert found["operations"][0]["operation"] == "filter"
    assert found["operations"][0]["paradigm"] == "operation stream"
    assert found["operations"][0]["figures"]["queue"] == 900
    assert found["switches"][0]["gap_ms"] == 800


def test_a_run_without_reports_is_refused_with_a_fix(runs: Path) -> None:
    run = made_up.stored(runs, made_up.summary())
    run.events.write_text(LOAD)
    answer = call("dual", "explain", "--runs-dir", str(runs))
    assert answer.code == 2
    assert "has no reports of the dual-paradigm runtime" in answer.err
    assert "system: dual" in answer.err


def test_no_run_at_all(runs: Path) -> None:
    answer = call("dual", "explain", "--runs-dir", str(runs))
    assert answer.code == 2
    assert "there is no run" in answer.err


@pytest.mark.parametrize("cuts", ["filter,,join", ""])
def test_an_empty_name_of_a_cut_is_refused(tmp_path: Path, cuts: str) -> None:
    file = tmp_path / "pipeline.py"
    file.write_text("")
    answer = call(*_run(file, tmp_path), "--cuts", cuts)
    assert answer.code == 2
    assert "has an empty name" in answer.err


def test_a_pipeline_that_is_not_there_is_refused(tmp_path: Path) -> None:
    answer = call(*_run(tmp_path / "nothing.py", tmp_path))
    assert answer.code == 2
    assert "there is no file" in answer.err


def _run(file: Path, folder: Path) -> list[str]:
    where = ["--source", "in", "--sink", "out", "--brokers", "localhost:1"]
    return ["dual", "run", str(file), *where, "--checkpoint", str(folder / "checkpoint")]
