"""Checks that Spark starts on this machine: a small session that runs a Python worker.

`python -m streamgauge.cli.spark_check SCRATCH` is the program with the session; `starts` runs it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from streamgauge.cli.checks import Check, Health
from streamgauge.compute.java import find_java
from streamgauge.compute.session import open_session, spark_env
from streamgauge.errors import StreamgaugeError
from streamgauge.processes.component import module_argv
from streamgauge.processes.guard import Guard

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "Spark"
TIMEOUT_S = 180.0
_ROWS = 1_000
_MASTER = "local[1]"
_DONE = "started: "


def starts(timeout_s: float = TIMEOUT_S) -> Check:
    """Starts Spark with the Java that a run would use, in a process of its own."""
    with Guard() as guard:
        try:
            env = {**guard.env, **find_java().env(guard.scratch), **spark_env(_MASTER)}
        except StreamgaugeError as error:
            return Check(NAME, Health.FAILED, f"not tried: {error.cause}", error.fix)
        try:
            done = subprocess.run(
                module_argv("streamgauge.cli.spark_check", str(guard.scratch)),
                env={**os.environ, **env},
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            output = (late.stderr or b"").decode(errors="replace")
            return _failed(f"did not start within {timeout_s:.0f} s", output)
    answer = next((line for line in done.stdout.splitlines() if line.startswith(_DONE)), None)
    if done.returncode == 0 and answer is not None:
        return Check(NAME, Health.OK, f"starts and runs Python: {answer.removeprefix(_DONE)}")
    last = (done.stderr.strip() or "it printed nothing").splitlines()[-1].strip()[:200]
    return _failed(f"does not start: {last}", done.stderr)


def _failed(problem: str, output: str) -> Check:
    handle, name = tempfile.mkstemp(".log", "streamgauge-doctor-")
    with os.fdopen(handle, "w", errors="replace") as log:
        log.write(output)
    fix = f"see {name}; if the cause is Java, set JAVA_HOME to version 17 or 21"
    return Check(NAME, Health.FAILED, problem, fix)


def _unchanged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def main() -> None:
    conf = {"spark.driver.memory": "512m"}
    spark = open_session("streamgauge-doctor", _MASTER, Path(sys.argv[1]), conf)
    if spark.range(_ROWS).mapInArrow(_unchanged, "id long").count() != _ROWS:
        sys.exit("Spark returned a wrong count")
    java = spark.sparkContext._jvm.System.getProperty("java.version")  # type: ignore[union-attr]
    print(f"{_DONE}Spark {spark.version} on Java {java}")
    spark.stop()


if __name__ == "__main__":
    main()
