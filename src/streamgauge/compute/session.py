"""Spark sessions of ours: for the system under test and for the calculation after the run."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def is_local(master: str) -> bool:
    """Does everything run on this machine, so that loopback is enough?"""
    return master.startswith("local")


def spark_env(master: str) -> dict[str, str]:
    """Environment of a process that is going to start a session."""
    env = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    if is_local(master):
        # A machine need not be able to resolve its own name.
        env["SPARK_LOCAL_IP"] = "127.0.0.1"
    return env


def python_sockets(scratch: Path) -> dict[str, str]:
    """Between a JVM and its Python workers on one machine events pass a sixth faster through Unix
    sockets than over loopback. Their paths have an end: where the folder's is too long, loopback.
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
    """A session that leaves nothing outside the scratch folder.

    A short one, for seconds of work, is not compiled to the last bit: it starts in half the time.
    """
    from pyspark.sql import SparkSession

    os.environ.update(spark_env(master))
    quiet = scratch / "log4j2.properties"
    quiet.write_text(_LOGGING)
    defaults = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.local.dir": str(scratch / "local"),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.driver.extraJavaOptions": (
            f"-Dlog4j2.configurationFile={quiet.as_uri()} -Djava.io.tmpdir={scratch} "
            # A JVM without memory does not fail but crawls; better it ends, and is named.
            f"-XX:-UsePerfData -XX:+ExitOnOutOfMemoryError {_SHORT_LIVED if short else ''}"
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
"""Of macOS; Linux takes a little more."""
_SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_LOGGING = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.console.type = Console
appender.console.name = stderr
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss.SSS} %p %c{1}: %m%n%ex
"""
