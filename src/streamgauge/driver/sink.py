"""Where results arrive: stamps each one with the time at which it reached the driver."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict

from streamgauge.parts import PartWriter

LATEST_EVENT_TIME = "latest_event_time"
"""Every result has this column: the highest event time among the inputs that made it."""
ARRIVAL = "arrival_us"
"""Added by the sink: microseconds since 1970 at which the result arrived."""
RECENT = 50
"""How many of the last deliveries the live latency is taken from."""


class SinkStatus(BaseModel):
    """What the sink tells while the run goes on."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    results: int
    bytes_arrived: int = 0
    last_arrival_us: int | None = None
    recent_p99_ms: float | None = None
    last_latency_ms: float | None = None


class ResultSink:
    """Keeps what arrives; thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._writer = PartWriter(folder)
        self._lock = threading.Lock()
        self._results = 0
        self._bytes_arrived = 0
        self._last_arrival_us: int | None = None
        self._recent: list[float] = []

    def arrived(self, batch: pa.RecordBatch) -> None:
        """Stamps and stores; all results of one delivery arrived at one moment."""
        now_us = time.time_ns() // 1_000
        stamp = pa.array(np.full(batch.num_rows, now_us, dtype=np.int64))
        self._writer.append(batch.append_column(ARRIVAL, stamp))
        with self._lock:
            self._results += batch.num_rows
            self._bytes_arrived += batch.nbytes
            self._last_arrival_us = now_us
            if batch.num_rows and LATEST_EVENT_TIME in batch.schema.names:
                oldest = pc.min(batch.column(LATEST_EVENT_TIME).cast(pa.int64())).as_py()
                if oldest is not None:
                    self._recent = [*self._recent[1 - RECENT :], (now_us - oldest) / 1_000]

    def status(self) -> SinkStatus:
        with self._lock:
            recent = self._recent
            return SinkStatus(
                results=self._results,
                bytes_arrived=self._bytes_arrived,
                last_arrival_us=self._last_arrival_us,
                recent_p99_ms=float(np.quantile(recent, 0.99)) if recent else None,
                last_latency_ms=recent[-1] if recent else None,
            )

    def close(self) -> SinkStatus:
        self._writer.flush()
        return self.status()
