"""A Spark session for a command that computes something itself."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from streamgauge.compute.failures import explained
from streamgauge.compute.java import find_java
from streamgauge.compute.session import open_session
from streamgauge.errors import StreamgaugeError
from streamgauge.processes.guard import Guard

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MASTER = "local[*]"


@contextmanager
def spark_session(name: str) -> Iterator[SparkSession]:
    """A session on all cores. What Spark prints is kept only if it fails."""
    conf = {"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "1g"}
    with Guard() as guard:
        os.environ.update({**guard.env, **find_java().env(guard.scratch)})
        log = guard.scratch / "spark.log"
        try:
            with _standard_error_in(log):
                spark = open_session(name, _MASTER, guard.scratch, conf, short=True)
            yield spark
            spark.stop()
        except (OSError, StreamgaugeError):
            raise
        except Exception as error:
            shown = explained(error)
            shown.log = _kept(log, name)
            raise shown from error


def _kept(log: Path, name: str) -> Path:
    """A copy that outlives the scratch folder."""
    handle, path = tempfile.mkstemp(".log", f"{name}-")
    with os.fdopen(handle, "wb") as copy:
        copy.write(log.read_bytes() if log.exists() else b"")
    return Path(path)


@contextmanager
def _standard_error_in(log: Path) -> Iterator[None]:
    """A process that is started in the meantime writes its errors there, for ever."""
    kept = os.dup(2)
    try:
        with log.open("wb") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
