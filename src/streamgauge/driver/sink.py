"""Where results arrive: stamps each one with the time at which it reached the driver."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict

from streamgauge.events.spec import ARRIVAL, LATEST_EVENT_TIME, PLACE
from streamgauge.parts import PartWriter

RECENT = 50
"""Number of the last deliveries that the live latency is computed from."""


class SinkStatus(BaseModel):
    """What the sink reports during the run."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    results: int
    bytes_arrived: int = 0
    last_arrival_us: int | None = None
    recent_p99_ms: float | None = None
    last_latency_ms: float | None = None
    frontier_us: int | None = None
    """The latest input, in microseconds since 1970, that a result reflects."""


class ResultSink:
    """Stores results; thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._writer = PartWriter(folder)
        self._lock = threading.Lock()
        self._results = 0
        self._bytes_arrived = 0
        self._last_arrival_us: int | None = None
        self._recent: list[float] = []
        self._frontier_us: int | None = None
        self._delivered: set[str] = set()
        self._once = threading.Lock()

    def arrived_once(self, delivery: str, batches: Sequence[pa.RecordBatch]) -> None:
        """A whole delivery, unless one of that name has arrived before."""
        with self._once:
            if delivery in self._delivered:
                return
            for batch in batches:
                self.arrived(batch)
            self._delivered.add(delivery)

    def arrived(self, batch: pa.RecordBatch) -> None:
        """Stamps and stores; all results of one delivery have the same time."""
        now_us = time.time_ns() // 1_000
        stamp = pa.array(np.full(batch.num_rows, now_us, dtype=np.int64))
        with self._lock:
            place = pa.array(np.arange(self._results, self._results + batch.num_rows))
            stamped = batch.append_column(ARRIVAL, stamp).append_column(PLACE, place)
            self._writer.append(stamped)
            self._results += batch.num_rows
            self._bytes_arrived += batch.nbytes
            self._last_arrival_us = now_us
            if batch.num_rows and LATEST_EVENT_TIME in batch.schema.names:
                inputs = pc.min_max(batch.column(LATEST_EVENT_TIME).cast(pa.int64())).as_py()
                if inputs["min"] is not None:
                    latency_ms = (now_us - inputs["min"]) / 1_000
                    self._recent = [*self._recent[1 - RECENT :], latency_ms]
                    self._frontier_us = max(self._frontier_us or 0, inputs["max"])

    def status(self) -> SinkStatus:
        with self._lock:
            recent = self._recent
            return SinkStatus(
                results=self._results,
                bytes_arrived=self._bytes_arrived,
                last_arrival_us=self._last_arrival_us,
                recent_p99_ms=float(np.quantile(recent, 0.99)) if recent else None,
                last_latency_ms=recent[-1] if recent else None,
                frontier_us=self._frontier_us,
            )

    def close(self) -> SinkStatus:
        self._writer.flush()
        return self.status()
