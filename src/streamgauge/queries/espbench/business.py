"""The business database as an input of a query: filled before the first load, reset before each."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from streamgauge.compute.java import find_java
from streamgauge.compute.session import open_session, spark_env
from streamgauge.models import StrictModel
from streamgauge.processes.component import Component, Console, module_argv
from streamgauge.processes.launcher import Launcher
from streamgauge.queries.base import Service
from streamgauge.queries.espbench.database import open_database
from streamgauge.queries.espbench.filling import fill

if TYPE_CHECKING:
    from streamgauge.queries.espbench.base import EspbenchQuery

KIND = "postgresql"
MASTER = "local[*]"
TIMEOUT_S = 3_600.0


class _Filling(StrictModel):
    address: str
    seed: int
    scale: int
    scratch: Path


def business_database(query: EspbenchQuery) -> Service:
    """The user's own where an address is given, else one that is started for the run."""

    def prepare(address: str) -> None:
        fill_database(address, seed=query.data_seed, scale=query.scale)

    return Service(KIND, prepare=prepare, reset=_reset, prepare_given=query.fill)


def fill_database(address: str, *, seed: int, scale: int) -> None:
    """Makes the business data with Spark, in a process of its own that ends with this one."""
    with tempfile.TemporaryDirectory(prefix="streamgauge-") as folder:
        scratch = Path(folder)
        config = _Filling(address=address, seed=seed, scale=scale, scratch=scratch)
        path = scratch / "filling.json"
        path.touch(mode=0o600)
        path.write_text(config.model_dump_json())
        component = Component(
            "the filling of the database",
            module_argv(__name__, str(path)),
            log=scratch / "filling.log",
            launcher=Launcher(dict(os.environ)),
            env={**find_java().env(scratch), **spark_env(MASTER)},
        )
        try:
            component.wait_for("finished", TIMEOUT_S)
        finally:
            component.stop()


def _reset(address: str) -> None:
    with open_database(address) as database:
        database.reset()


def main() -> None:
    console = Console()
    config = _Filling.model_validate_json(Path(sys.argv[1]).read_text())

    def end_with_parent() -> None:
        for _ in console.commands():
            pass
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        spark = open_session("streamgauge-filling", MASTER, config.scratch, {}, short=True)
        now_us = time.time_ns() // 1_000
        fill(spark, config.address, seed=config.seed, scale=config.scale, now_us=now_us)
    except Exception as error:
        console.emit("failed", reason=f"{type(error).__name__}: {error}")
        raise
    console.emit("finished")


if __name__ == "__main__":
    main()
    os._exit(0)
