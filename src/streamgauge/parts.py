"""Tables that grow during a run: a folder of Parquet parts, which are kept after a crash.

A part is written under another name and then renamed, so that a reader never sees half a file.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

FLUSH_EVERY_S = 5.0
FLUSH_ROWS = 2_000_000


class PartWriter:
    """Collects record batches and writes them out every few seconds; safe to use from threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pending: list[pa.RecordBatch] = []
        self._rows = 0
        self._written = 0
        self._flushed_at = time.monotonic()
        self._lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)

    def append(self, batch: pa.RecordBatch) -> None:
        with self._lock:
            if batch.num_rows:
                self._pending.append(batch)
            self._rows += batch.num_rows
            old = time.monotonic() - self._flushed_at > FLUSH_EVERY_S
            if old or self._rows > FLUSH_ROWS:
                self._flush()

    def flush(self) -> None:
        with self._lock:
            self._flush()

    def _flush(self) -> None:
        self._flushed_at = time.monotonic()
        if not self._rows:
            return
        part = self._folder / f"part-{self._written:05d}.parquet"
        unfinished = part.with_suffix(".unfinished")
        pq.write_table(pa.Table.from_batches(self._pending), unfinished)
        unfinished.rename(part)
        self._written += 1
        self._pending.clear()
        self._rows = 0


def read_parts(folder: Path) -> pa.Table | None:
    """All parts as one table, or None if there is none."""
    parts = sorted(folder.glob("part-*.parquet"))
    return pa.concat_tables([pq.read_table(part) for part in parts]) if parts else None
