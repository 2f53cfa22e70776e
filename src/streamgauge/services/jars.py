"""Jars that a service needs: pinned with checksums, fetched once, verified before every use.

The lock file names every jar. A missing one is fetched by the Ivy that is part of PySpark, from the
repository that Ivy uses by default or from a mirror of the user's.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from xml.sax.saxutils import quoteattr

from streamgauge.compute.java import find_java
from streamgauge.errors import ComponentError
from streamgauge.models import StrictModel
from streamgauge.processes.clock import SYSTEM_CLOCK, Clock
from streamgauge.processes.launcher import Launcher
from streamgauge.services.base import cache_folder

FOLDER = "STREAMGAUGE_JARS"
"""Environment variable: a folder that holds the jars already, or where they are to be kept."""
MIRRORS = ("STREAMGAUGE_MAVEN_REPOSITORY", "DEFAULT_ARTIFACT_REPOSITORY")
"""Environment variables with the address of a Maven repository; the second is Spark's own."""
TIMEOUT_S = 900.0
Tell = Callable[[str], None]


class Jar(StrictModel):
    """One jar of the lock file."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        return f"{self.artifact}-{self.version}.jar"


def locked(name: str) -> list[Jar]:
    """The jars of a set, such as `kafka-broker`."""
    text = (files("streamgauge.services") / "jars.lock.json").read_text(encoding="utf-8")
    return [Jar.model_validate(jar) for jar in json.loads(text)[name]]


def jars_folder(env: Mapping[str, str] = os.environ) -> Path:
    """Where jars are kept from run to run."""
    return Path(env[FOLDER]) if env.get(FOLDER) else cache_folder(env) / "jars"


def missing_jars(name: str, folder: Path) -> list[Jar]:
    """Those of the set that are to be fetched."""
    return [jar for jar in locked(name) if not (folder / jar.file_name).is_file()]


def have_jars(
    name: str,
    launcher: Launcher,
    tell: Tell,
    *,
    folder: Path | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> list[Path]:
    """Every jar of the set, verified; those that are missing are fetched first."""
    folder = folder or jars_folder()
    jars = locked(name)
    if missing := missing_jars(name, folder):
        _fetch(missing, folder, launcher, tell, clock)
    paths = [folder / jar.file_name for jar in jars]
    for jar, path in zip(jars, paths, strict=True):
        if hashlib.sha256(path.read_bytes()).hexdigest() != jar.sha256:
            raise ComponentError(
                f"{path} is not the jar that the lock file names: its checksum differs",
                fix="remove the file; the next run fetches it again",
            )
    return paths


def _fetch(
    missing: Sequence[Jar], folder: Path, launcher: Launcher, tell: Tell, clock: Clock
) -> None:
    with tempfile.TemporaryDirectory(prefix="streamgauge-jars-") as scratch:
        work = Path(scratch)
        (work / "ivy.xml").write_text(_module(missing))
        log = work / "ivy.log"
        process = launcher.start("Ivy", _command(work), log=log)
        deadline = clock.monotonic_s() + TIMEOUT_S
        while process.alive:
            done = len(re.findall(r"\[SUCCESSFUL ]", process.logged()))
            # In steps, because a plain terminal has a line for each.
            tell(f"fetching {len(missing)} jars, once: {10 * (10 * done // len(missing))} %")
            if clock.monotonic_s() > deadline:
                process.kill()
                process.wait()
            clock.sleep(0.2)
        found = {path.name: path for path in (work / "jars").glob("*.jar")}
        lacking = [jar.file_name for jar in missing if jar.file_name not in found]
        if lacking:
            kept = folder / "fetch.log"
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(log, kept)
            raise ComponentError(
                f"{len(lacking)} of {len(missing)} jars could not be fetched: {lacking[0]}, …",
                fix="allow access to a Maven repository, name a mirror in"
                f" {MIRRORS[0]}, or put the jars into a folder and name it in {FOLDER}",
                log=kept,
            )
        folder.mkdir(parents=True, exist_ok=True)
        for jar in missing:
            # Renamed at last, so that another run never sees half a file.
            unfinished = folder / f"{jar.file_name}.unfinished-{os.getpid()}"
            shutil.copy(found[jar.file_name], unfinished)
            unfinished.replace(folder / jar.file_name)


def _module(jars: Sequence[Jar]) -> str:
    dependencies = "".join(
        f"<dependency org={quoteattr(jar.group)} name={quoteattr(jar.artifact)}"
        f' rev={quoteattr(jar.version)} transitive="false"/>\n'
        for jar in jars
    )
    return (
        '<ivy-module version="2.0"><info organisation="streamgauge" module="jars"/>\n'
        f"<dependencies>\n{dependencies}</dependencies></ivy-module>\n"
    )


def _command(work: Path, env: Mapping[str, str] = os.environ) -> list[str]:
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.submodule_search_locations
    (ivy,) = (Path(spec.submodule_search_locations[0]) / "jars").glob("ivy-*.jar")
    java = find_java(env).home / "bin" / "java"
    settings = []
    if mirror := next((env[name] for name in MIRRORS if env.get(name)), None):
        path = work / "ivysettings.xml"
        path.write_text(
            '<ivysettings><settings defaultResolver="mirror"/><resolvers>'
            f'<ibiblio name="mirror" m2compatible="true" root={quoteattr(mirror)}/>'
            "</resolvers></ivysettings>"
        )
        settings = ["-settings", str(path)]
    return [
        str(java),
        *_proxy(env),
        "-jar",
        str(ivy),
        *settings,
        *("-cache", str(work / "cache"), "-ivy", str(work / "ivy.xml"), "-m2compatible"),
        *("-types", "jar", "bundle"),
        *("-retrieve", str(work / "jars" / "[artifact]-[revision].[ext]")),
    ]


def _proxy(env: Mapping[str, str]) -> list[str]:
    """Java does not read the usual environment variables by itself."""
    options = []
    for scheme in ("http", "https"):
        address = env.get(f"{scheme}_proxy") or env.get(f"{scheme.upper()}_PROXY") or ""
        match = re.fullmatch(r"(?:\w+://)?(?:[^@/]*@)?([^:/]+):(\d+)/?", address)
        if match:
            options += [f"-D{scheme}.proxyHost={match[1]}", f"-D{scheme}.proxyPort={match[2]}"]
    return options
