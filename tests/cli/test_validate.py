from __future__ import annotations

import json
from pathlib import Path

import pytest

from .calling import call

WHOLE = """
workload: {query: gaming.aggregation}
load: {rate: 1000}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(WHOLE)
    return path


def test_a_right_experiment_is_ok() -> None:
    answer = call("validate", "quickstart")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("ok: quickstart, 3,000,000 events in 1 min 00 s; a run takes")


def test_as_json(file: Path) -> None:
    assert json.loads(call("validate", str(file), "--json").out) == {
        "ok": True,
        "name": "mine",
        "warnings": [],
    }


def test_a_wrong_one_names_the_key_and_the_nearest_right_one(file: Path) -> None:
    file.write_text(WHOLE.replace("rate", "raet"))
    answer = call("validate", str(file))
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err == "error: load.raet: unknown key (line 3)\nfix: did you mean `rate`?\n"


def test_a_wrong_one_as_json(file: Path) -> None:
    answer = call("validate", str(file), "--json", "--set", "load.rate=-1")
    assert answer.code == 2
    refusal = json.loads(answer.out)
    assert refusal["ok"] is False
    assert refusal["key"] == "load.rate"
    assert "load.rate" in refusal["error"]


def test_settings_of_quick_are_checked_without_quick_too(file: Path) -> None:
    file.write_text(WHOLE + "quick: {duratoin: 5 s}\n")
    answer = call("validate", str(file))
    assert answer.code == 2
    assert "duratoin" in answer.err
    assert "`quick`" in answer.err


def test_an_experiment_without_quick_settings_need_not_fit_a_quick_run(file: Path) -> None:
    file.write_text(WHOLE + "warm_up: 20 s\n")
    assert call("validate", str(file)).code == 0


def test_what_is_set_for_this_run_need_not_fit_a_quick_run() -> None:
    assert call("validate", "quickstart", "--set", "warm_up=15 s").code == 0


def test_quick_is_stamped() -> None:
    answer = call("validate", "quickstart", "--quick")
    assert answer.code == 0
    assert "quick run: the numbers are meaningless" in answer.err
    assert "750,000 events" in answer.out


def test_what_a_file_prints_when_it_is_loaded_does_not_spoil_the_answer(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("print('hello from own.py')\nown = 1\n")
    file = tmp_path / "own.yaml"
    file.write_text("workload: {query: own.py:own}\nload: {rate: 1000}\n")
    answer = call("validate", str(file), "--json")
    assert answer.code == 2
    assert json.loads(answer.out)["key"] == "workload.query"
    assert "hello from own.py" in answer.err


@pytest.mark.parametrize("text", ["2024-13-45", "[" * 3_000], ids=["no date", "too deep"])
def test_what_looks_like_yaml_and_is_none_is_set_as_text(text: str) -> None:
    answer = call("validate", "quickstart", "--set", f"about={text}")
    assert (answer.code, answer.err) == (0, "")


def test_a_folder_does_not_hide_the_built_in_experiment_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quickstart").mkdir()
    (tmp_path / "mine").mkdir()
    assert call("validate", "quickstart").out.startswith("ok: quickstart, 3,000,000 events")
    answer = call("validate", "mine")
    assert answer.code == 2
    assert "cannot read mine" in answer.err
    assert "fix: give a YAML file" in answer.err


def test_a_file_with_the_name_of_a_built_in_experiment_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quickstart").write_text(WHOLE)
    assert call("validate", "quickstart").out.startswith("ok: quickstart, 60,000 events")


@pytest.mark.parametrize("master", ["local", "local[2]", "local[*]"])
def test_cores_are_refused_where_the_master_alone_counts_them(master: str) -> None:
    answer = call(
        "validate", "quickstart", "--set", f"system.master={master}", "--set", "system.cores=4"
    )
    assert answer.code == 2
    assert answer.err == (
        f"error: system.cores: has no effect with the master `{master}`\n"
        "fix: leave it out, and set `system.master=local[4]`\n"
    )


@pytest.mark.parametrize(
    "setting",
    [
        "system.master=spark://somewhere:7077",
        "system.master=local-cluster[2,2,1024]",
        "system={name: spark, cluster: {workers: 2, cores: 2}}",
    ],
)
def test_cores_of_a_cluster_may_be_limited(setting: str) -> None:
    answer = call("validate", "quickstart", "--set", setting, "--set", "system.cores=2")
    assert (answer.code, answer.err) == (0, "")


def test_a_cluster_beside_a_master_is_refused_and_the_fix_works() -> None:
    cluster = ("--set", "system.cluster={workers: 1}")
    answer = call("validate", "quickstart", *cluster)
    assert answer.code == 2
    assert answer.err.startswith(
        "error: system.cluster: is started for the run, so `system.master`"
    )
    assert "--set system.master=null" in answer.err
    assert call("validate", "quickstart", *cluster, "--set", "system.master=null").code == 0


@pytest.mark.parametrize("system", ["spark", "{name: spark, cluster: {workers: 1}}"])
def test_a_resolved_experiment_is_one_that_can_be_run(system: str, tmp_path: Path) -> None:
    plan = call("run", "quickstart", "--dry-run", "--set", f"system={system}")
    (tmp_path / "resolved.yaml").write_text(plan.out)
    assert call("validate", str(tmp_path / "resolved.yaml")).code == 0


def test_aliases_may_repeat_what_is_not_too_much(file: Path) -> None:
    file.write_text(WHOLE + "vary: {load.seed: &seeds [1, 2], load.instances: *seeds}\n")
    assert "4 case(s)" in call("validate", str(file)).out


def test_a_token_that_is_refused_is_not_shown() -> None:
    answer = call("validate", "quickstart", "--set", "channel.token=my secret of blanks")
    assert answer.code == 2
    assert answer.err.startswith("error: channel.token: cannot be sent in a header")
    assert "my secret" not in answer.err
