"""Spark sessions of the station: for the system under test, and for the calculation after a run."""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_MASTER = re.compile(
    r"local|local\[(\*|[1-9]\d{0,3})(,\s*[1-9]\d{0,3})?\]"
    r"|local-cluster\[\s*[1-9]\d{0,3}\s*,\s*[1-9]\d{0,3}\s*,\s*[1-9]\d{0,6}\s*\]"
    r"|yarn|(spark|k8s)://[!-~]+"
)


def _known_master(master: str) -> str:
    if not _MASTER.fullmatch(master):
        raise ValueError("must be local[n], local-cluster[n,cores,MB], spark://…, yarn or k8s://…")
    return master


Master = Annotated[str, AfterValidator(_known_master)]


def is_local(master: str) -> bool:
    """Whether all processes of the session run on this machine."""
    return master.startswith("local")


def spark_env(master: str) -> dict[str, str]:
    """Environment of a process that will start a session."""
    env = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    if is_local(master):
        # Some machines cannot resolve their own name.
        env["SPARK_LOCAL_IP"] = "127.0.0.1"
    return env


def python_sockets(scratch: Path) -> dict[str, str]:
    """Connects a JVM with its Python workers by Unix sockets, a sixth faster than by loopback.

    Empty if the folder's path is too long for a socket: then Spark uses loopback.
    """
    if len(os.fsencode(scratch)) + _SOCKET_NAME > _LONGEST_SOCKET_PATH:
        return {}
    return {
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.python.unix.domain.socket.dir": str(scratch),
    }


def open_session(
    name: str, master: str, scratch: Path, conf: Mapping[str, str], *, short: bool = False
) -> SparkSession:
    """A session that writes below the scratch folder only.

    `short`: for seconds of work. The JVM compiles less, so the session starts in half the time.
    """
    from pyspark.sql import SparkSession

    os.environ.update(spark_env(master))
    logging_file = scratch / "log4j2.properties"
    logging_file.write_text(LOGGING.format(level="error"))
    defaults = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.local.dir": str(scratch / "local"),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.driver.extraJavaOptions": (
            f"-Dlog4j2.configurationFile={logging_file.as_uri()} -Djava.io.tmpdir={scratch} "
            # A JVM without memory would go on very slowly instead of failing.
            f"-XX:-UsePerfData -XX:+ExitOnOutOfMemoryError {LIGHT_JVM if short else ''}"
        ),
    }
    if is_local(master):
        defaults["spark.driver.host"] = "127.0.0.1"
        defaults["spark.driver.bindAddress"] = "127.0.0.1"
        defaults.update(python_sockets(scratch))
    builder = SparkSession.builder.appName(name).master(master)
    for key, value in {**defaults, **conf}.items():
        builder = builder.config(key, value)
    logging.getLogger("py4j").setLevel(logging.ERROR)
    return builder.getOrCreate()


_SOCKET_NAME = len("/.00000000-0000-0000-0000-000000000000.sock")
_LONGEST_SOCKET_PATH = 103
"""The limit of macOS; that of Linux is slightly higher."""
LIGHT_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of a JVM with little work: it starts sooner if little is compiled."""
LOGGING = """\
rootLogger.level = {level}
rootLogger.appenderRef.stderr.ref = stderr
appender.console.type = Console
appender.console.name = stderr
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{{HH:mm:ss.SSS}} %p %c{{1}}: %m%n%ex
"""
