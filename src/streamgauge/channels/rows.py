"""The sink of results that are rows of a table of a service: `python -m … CONFIG`.

It counts the rows during the load, and reads them after it. The time of a row is its arrival.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa

from streamgauge.driver.sink import SinkStatus
from streamgauge.events.spec import ARRIVAL, PLACE
from streamgauge.models import StrictModel
from streamgauge.parts import PartWriter
from streamgauge.processes.component import Console
from streamgauge.queries.base import StoredResults
from streamgauge.queries.load import build_query
from streamgauge.queries.own import QueryConfig

COUNT_EVERY_S = 0.5


class RowsConfig(StrictModel):
    query: QueryConfig
    folder: Path
    """Where the results are kept, as Parquet parts."""


class Rows:
    """Counts the results in a thread."""

    def __init__(self, stored: StoredResults, folder: Path) -> None:
        self._stored = stored
        self._folder = folder
        self._results = 0
        self._changed_us: int | None = None
        self._lock = threading.Lock()

    def status(self) -> SinkStatus:
        return SinkStatus(results=self._results, last_arrival_us=self._changed_us)

    def count(self, *, exact: bool = False) -> None:
        with self._lock:
            found = self._stored.count(exact=exact)
        if found != self._results:
            self._results, self._changed_us = found, time.time_ns() // 1_000

    def keep(self, output_time: str) -> None:
        """Writes every row, with its time as its arrival."""
        writer, place = PartWriter(self._folder), 0
        with self._lock:
            batches = list(self._stored.rows())
        for batch in batches:
            places = pa.array(range(place, place + batch.num_rows), pa.int64())
            stamped = batch.append_column(ARRIVAL, batch.column(output_time))
            writer.append(stamped.append_column(PLACE, places))
            place += batch.num_rows
        writer.flush()
        self._results = place


def run(config: RowsConfig, console: Console) -> None:
    """Answers `settle` and `finish`, as the sink of a channel does."""
    query = build_query(config.query)
    rows = Rows(query.stored, config.folder)
    stopping = threading.Event()

    def report() -> None:
        try:
            while not stopping.wait(COUNT_EVERY_S):
                rows.count()
                console.emit("status", **rows.status().model_dump())
        except Exception as error:
            console.emit("failed", reason=f"{type(error).__name__}: {error}")

    threading.Thread(target=report, daemon=True).start()
    console.emit("ready")
    for message in console.commands():
        if message["command"] == "settle":
            rows.count(exact=True)
            console.emit("settled")
        elif message["command"] == "finish":
            stopping.set()
            rows.keep(query.shape.output_time)
            console.emit("status", **rows.status().model_dump())
            console.emit("finished")


def main() -> None:
    console = Console()
    try:
        run(RowsConfig.model_validate_json(Path(sys.argv[1]).read_text()), console)
    except Exception as error:
        console.emit("failed", reason=f"{type(error).__name__}: {error}")
        raise


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
