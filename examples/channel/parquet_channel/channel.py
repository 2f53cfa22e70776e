"""The driver's side: writes each step of the load to a file when it is due, collects results."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from streamgauge.channels.base import Channel, ChannelContext, Connector
from streamgauge.channels.frontier import FrontierChannel
from streamgauge.driver.instance import InstanceStatus
from streamgauge.driver.observations import Basis
from streamgauge.driver.sink import ResultSink, SinkStatus
from streamgauge.units import DurationUs


class ParquetChannel(Channel):
    """Parquet files in, Parquet files out."""

    basis: ClassVar = Basis.FRONTIER
    connectors: ClassVar = {
        "spark": Connector(
            "parquet_channel.spark:ParquetConnector", "Parquet files", "Parquet files"
        )
    }

    step: DurationUs = Field(default=500_000, ge=10_000, description="load in one file")

    def open(self, context: ChannelContext) -> FrontierChannel:
        return _OpenParquet(context, self.step)


class _OpenParquet(FrontierChannel):
    def __init__(self, context: ChannelContext, step_us: int) -> None:
        super().__init__(context)
        self._step_us = step_us
        self._folder = context.results.parent / "parquet"
        self._results = ResultSink(context.results)
        self._collected: set[Path] = set()
        self._stopping = threading.Event()
        self._failure: Exception | None = None
        self._sender = threading.Thread(target=self._send, daemon=True)
        for name in ("results", *self.load.streams):
            (self._folder / name).mkdir(parents=True)

    @property
    def offer(self) -> dict[str, Any]:
        return {"folder": str(self._folder)}

    @property
    def sink(self) -> SinkStatus:
        return self._results.status()

    def start(self, start_us: int) -> None:
        super().start(start_us)
        self._sender.start()

    def poll(self) -> list[str]:
        if self._failure is not None:
            raise self._failure
        for path in sorted(set((self._folder / "results").glob("*.parquet")) - self._collected):
            self._collected.add(path)
            for batch in pq.read_table(path).combine_chunks().to_batches():
                self._results.arrived(batch)
        return []

    def finish(self) -> list[InstanceStatus]:
        self.close()
        self.poll()
        self._results.close()
        return super().finish()

    def close(self) -> None:
        self._stopping.set()
        if self._sender.is_alive():
            self._sender.join()

    def _send(self) -> None:
        try:
            from_us = 0
            while from_us < self.end_us and not self._stopping.is_set():
                until_us = min(from_us + self._step_us, self.end_us)
                if self._stopping.wait(max(0, until_us - self.now_us) / 1e6):
                    return
                self._write(from_us, until_us)
                from_us = until_us
        except Exception as error:
            self._failure = error

    def _write(self, from_us: int, until_us: int) -> None:
        """All driver instances of a stream in one file, so that none overtakes another."""
        batches: dict[str, list[pa.RecordBatch]] = {name: [] for name in self.load.streams}
        counts = []
        for feed in self.load.feeds:
            first, last = (feed.times.count_before(at) for at in (from_us, until_us))
            if last > first:
                batches[feed.stream].append(feed.events.batch(first, last, self.start_us))
            counts.append(last)
        for stream, found in batches.items():
            if found:
                unfinished = self._folder / f"{stream}-{until_us}.unfinished"
                pq.write_table(pa.Table.from_batches(found), unfinished)
                unfinished.rename(self._folder / stream / f"{until_us:020d}.parquet")
        for number, count in enumerate(counts):
            self.sent(number, count, self.now_us - until_us)
