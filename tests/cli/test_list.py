from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from streamgauge import plugins
from streamgauge.cli.commands.list import KINDS

from . import made_up
from .calling import call


def test_everything_is_listed_with_one_line_each() -> None:
    answer = call("list")
    assert answer.code == 0
    for group in plugins.GROUPS:
        for name in plugins.names(group):
            assert f"  {name} " in answer.out
    assert re.search(r"^  quickstart +Windowed average", answer.out, re.MULTILINE)


@pytest.mark.parametrize("kind", KINDS)
def test_as_json_every_kind_has_names_and_descriptions(kind: str) -> None:
    answer = call("list", kind, "--json")
    assert answer.code == 0
    entries = json.loads(answer.out)
    assert entries
    for entry in entries:
        assert entry["name"]
        assert entry["about"] or entry["broken"]


def test_without_a_kind_json_has_them_all() -> None:
    assert list(json.loads(call("list", "--json").out)) == list(KINDS)


def test_a_query_shows_its_parameters_with_defaults_in_human_units() -> None:
    (entry,) = json.loads(call("list", "queries", "gaming.aggregation", "--json").out)
    parameters = {one["name"]: one for one in entry["parameters"]}
    assert parameters["window"] == {
        "name": "window",
        "required": False,
        "default": "1 s",
        "about": "length of a window",
    }
    assert parameters["distribution"]["about"] == "of keys: normal | uniform | zipf | single"
    assert "oracle_is" not in parameters
    shown = call("list", "queries", "gaming.aggregation").out
    assert "length of a window" in shown
    assert "gaming.join" not in shown


def test_a_schedule_shows_what_can_be_written_in_a_file() -> None:
    (entry,) = json.loads(call("list", "schedules", "bursts", "--json").out)
    defaults = {one["name"]: one["default"] for one in entry["parameters"]}
    assert defaults == {"burst": 3.0, "every": "10 s", "length": "1 s"}
    (trace,) = json.loads(call("list", "schedules", "trace", "--json").out)
    assert trace["parameters"][0] == {
        "name": "path",
        "required": True,
        "default": None,
        "about": "",
    }


def test_a_plug_in_that_cannot_be_loaded_does_not_hide_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    load = plugins.load

    def broken(group: str, name: str, **rest: object) -> object:
        if name == "spark":
            raise RuntimeError("boom")
        return load(group, name, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(plugins, "load", broken)
    answer = call("list", "systems")
    assert answer.code == 0
    assert "spark  ✗ RuntimeError: boom" in answer.out
    assert "simulated" in answer.out


def test_no_runs_yet(tmp_path: Path) -> None:
    answer = call("list", "runs", "--runs-dir", str(tmp_path / "nothing"))
    assert answer.code == 0
    assert "streamgauge run quickstart" in answer.out
    assert json.loads(call("list", "runs", "--runs-dir", str(tmp_path), "--json").out) == []


def test_runs_are_listed_oldest_first_with_how_they_ended(runs: Path) -> None:
    made_up.stored(runs, made_up.summary())
    made_up.stored(runs, made_up.summary(verdict="invalid", sustained=False, quick=True))
    made_up.stored(runs, None)
    made_up.stored(runs, made_up.summary()).summary.write_text("{}")
    (runs / "notes").mkdir()
    for _ in range(6):
        made_up.stored(runs, made_up.summary())
    answer = call("list", "runs", "--runs-dir", str(runs))
    lines = answer.out.splitlines()[1:]
    assert [line.split()[0] for line in lines] == [
        f"2026-01-02-{number}-quickstart" for number in range(1, 11)
    ]
    assert lines[0].split()[1:] == [
        "✓",
        "PASSED",
        "✓",
        "valid",
        "✓",
        "yes",
        "100,000/s",
        "1.23",
        "s",
    ]
    assert "✗ INVALID" in lines[1]
    assert "✗ no" in lines[1]
    assert lines[1].endswith("quick run: the numbers are meaningless")
    assert lines[2].endswith("unfinished")
    assert lines[3].endswith("unreadable")


def test_runs_as_json(runs: Path) -> None:
    made_up.stored(runs, made_up.summary())
    (run,) = json.loads(call("list", "runs", "--json", env={"STREAMGAUGE_RUNS_DIR": str(runs)}).out)
    assert run == {
        "run": "2026-01-02-1-quickstart",
        "path": str(runs / "2026-01-02-1-quickstart"),
        "name": "quickstart",
        "status": "finished",
        "verdict": "valid",
        "sustained": True,
        "offered_per_s": 100_000.0,
        "event_time_p99_ms": 1_234.0,
        "quick": False,
    }


def test_one_run(runs: Path) -> None:
    made_up.stored(runs, made_up.summary())
    made_up.stored(runs, made_up.summary())
    answer = call("list", "runs", "2026-01-02-2-quickstart", "--runs-dir", str(runs))
    assert len(answer.out.splitlines()) == 2
    assert call("list", "runs", "2026-01-02-9-x", "--runs-dir", str(runs)).code == 2
