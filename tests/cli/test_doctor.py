from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from streamgauge.cli import checks, spark_check
from streamgauge.cli.checks import Check, Health
from streamgauge.errors import ComponentError
from streamgauge.processes.machine import OtherWork
from streamgauge.services import jars, postgresql

from .calling import call


def test_a_healthy_machine(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "machine_checks", lambda _: [Check("Java", Health.OK, "17")])
    answer = call("doctor", "--no-spark", "--runs-dir", str(runs))
    assert answer.code == 0
    assert answer.out.splitlines()[0] == "✓ Java: 17"


def test_a_failure_has_a_fix_and_the_exit_code_5(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [
        Check("memory", Health.WARNING, "little", "buy some"),
        Check("Java", Health.FAILED, "none", "install one"),
    ]
    monkeypatch.setattr(checks, "machine_checks", lambda _: list(found))
    answer = call("doctor", "--no-spark", "--runs-dir", str(runs))
    assert answer.code == 5
    assert answer.out.splitlines()[:4] == [
        "! memory: little",
        "    fix: buy some",
        "✗ Java: none",
        "    fix: install one",
    ]
    as_json = call("doctor", "--no-spark", "--json", "--runs-dir", str(runs))
    assert as_json.code == 5
    assert json.loads(as_json.out)["ok"] is False
    assert json.loads(as_json.out)["checks"][1]["health"] == "failed"


def test_spark_is_tried_by_default(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "machine_checks", lambda _: [])
    monkeypatch.setattr(spark_check, "starts", lambda: Check("Spark", Health.FAILED, "no", "fix"))
    answer = call("doctor", "--json", "--runs-dir", str(runs))
    assert answer.code == 5
    assert "starting Spark" in answer.err
    assert json.loads(answer.out)["checks"][-1]["name"] == "Spark"


def test_this_machine_is_looked_at(runs: Path) -> None:
    found = {check.name: check for check in checks.machine_checks(runs)}
    assert {"Python", "Java", "PySpark", "Arrow Flight", "CPU cores", "kernel"} <= set(found)
    assert found["Python"].health is Health.OK
    assert found["loopback port"].health is Health.OK
    assert not runs.exists()
    for check in found.values():
        assert check.fix or check.health is Health.OK


def test_an_unused_java_home_is_a_warning() -> None:
    check = checks.java({**os.environ, "JAVA_HOME": "/nowhere"})
    assert check.health is Health.WARNING
    assert "/nowhere" in check.found
    assert "JAVA_HOME" in check.fix


def test_every_service_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {check.name: check for check in checks.services()}
    assert list(found) == ["service kafka", "service postgresql"]
    assert "jars" in found["service kafka"].found
    assert found["service postgresql"].found.startswith("postgres (PostgreSQL)")
    assert all(check.health is Health.OK for check in found.values())

    def none() -> None:
        raise ComponentError("no PostgreSQL was found", fix="install one")

    monkeypatch.setattr(postgresql, "find_programs", none)
    monkeypatch.setenv(jars.FOLDER, "/nowhere")
    kafka, database = checks.services()
    count = len(jars.locked("kafka-broker"))
    assert f"{count} of {count} jars are fetched at the first start" in kafka.found
    # Most experiments need no database.
    assert database == Check(
        "service postgresql", Health.WARNING, "no PostgreSQL was found", "install one"
    )


def test_no_java_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: object) -> None:
        raise ComponentError("no Java 17 or newer was found", fix="install one")

    monkeypatch.setattr(checks, "find_java", none)
    assert checks.java({}) == Check(
        "Java", Health.FAILED, "no Java 17 or newer was found", "install one"
    )


@pytest.mark.parametrize(
    ("version", "health"),
    [("3.5.1", Health.FAILED), ("4.2.0", Health.OK), ("4.10.0.dev1", Health.OK)],
)
def test_pyspark_must_be_new_enough(
    version: str, health: Health, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "version", lambda _: version)
    assert checks.pyspark().health is health


@pytest.mark.parametrize(
    ("free_mb", "health"), [(400, Health.FAILED), (600, Health.WARNING), (9_000, Health.OK)]
)
def test_disk_space(
    free_mb: float, health: Health, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = SimpleNamespace(free=free_mb * 1e6)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    check = checks.disk("disk", tmp_path / "not" / "there" / "yet")
    assert check.health is health
    assert str(tmp_path) in check.found


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    assert checks.disk("disk", file).health is Health.FAILED


def test_the_limit_of_a_container_counts(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("1000000000\n")
    (tmp_path / "memory.current").write_text("400000000\n")
    assert checks.available_memory_mb(tmp_path) == 600
    (tmp_path / "memory.max").write_text("max\n")
    assert checks.available_memory_mb(tmp_path) > 600


def test_one_core_is_a_drawback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    assert checks.cores().health is Health.WARNING


def test_a_spark_that_does_not_start_is_reported_with_its_log(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = subprocess.CompletedProcess([], 1, "", "some\nlines\nFindException: no module\n\n")
    monkeypatch.setattr(spark_check.subprocess, "run", lambda *_, **__: failed)
    check = spark_check.starts()
    assert check.health is Health.FAILED
    assert check.found == "does not start: FindException: no module"
    (log,) = temporary.glob("*.log")
    assert str(log) in check.fix
    assert "some\nlines" in log.read_text()


def test_a_spark_that_hangs_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = [sys.executable, "-c", "import time; time.sleep(60)"]
    monkeypatch.setattr(spark_check, "module_argv", lambda *_: slow)
    check = spark_check.starts(timeout_s=0.5)
    assert check.health is Health.FAILED
    assert check.found.startswith("did not start within")


@pytest.mark.skipif(
    "STREAMGAUGE_TEST_DOCTOR" not in os.environ,
    reason="starts Spark; set STREAMGAUGE_TEST_DOCTOR=1",
)
def test_spark_really_starts() -> None:
    assert spark_check.starts().health is Health.OK


def test_a_busy_machine_is_a_warning_and_not_all_is_well(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert checks.other_programs(OtherWork(2, used=0.1)).health is Health.OK
    busy = checks.other_programs(OtherWork(2, used=1.6, busiest="`java` (pid 7, 1.2)"))
    assert busy.health is Health.WARNING
    assert "`java`" in busy.found
    monkeypatch.setattr(checks, "machine_checks", lambda _: [busy])
    answer = call("doctor", "--no-spark", "--runs-dir", str(runs))
    assert answer.code == 0
    assert "all checks passed" not in answer.out
    assert "drawbacks" in answer.out
