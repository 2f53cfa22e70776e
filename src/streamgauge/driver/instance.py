"""A driver instance: generates a little ahead, releases on schedule, samples its own queue.

It does not depend on the channel through which a system pulls: the channel asks how far it may go,
takes ranges, commits them, and reports what it handed over and when.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from streamgauge.driver.config import InstanceConfig
from streamgauge.driver.observations import Observation
from streamgauge.driver.queue import Block, DriverQueue
from streamgauge.driver.schedules.instance import InstanceSchedule
from streamgauge.events.numbers import MASK
from streamgauge.events.stream import BLOCK
from streamgauge.parts import PartWriter

AHEAD_US = 1_500_000
SAMPLE_EVERY_S = 0.1

SAMPLES = pa.schema(
    [(name, pa.int64()) for name in ("time_us", "offered", "drained", "queued", "lag_us")]
)
HANDOVERS = pa.schema([("until_us", pa.int64()), ("handed_us", pa.int64())])
"""The schedule time up to which the system had been given events, and when."""

Report = Callable[..., None]


class LastPull(NamedTuple):
    """The last part of the schedule that the system asked for, and when it asked."""

    from_us: int = 0
    until_us: int = 0
    at_us: int = 0


class InstanceStatus(BaseModel):
    """What an instance reports, while it runs and at the end."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    instance: int
    stream: str
    time_us: int
    offered: int
    drained: int
    pulled: LastPull = LastPull()
    queued: int
    queue_max: int
    lag_p99_us: int
    lag_max_us: int = 0
    """Only of a channel that does not keep the driver instances in step."""
    unsent: int = 0
    """Events that the channel could not send."""
    bytes_handed: int = 0
    dropped: list[str] = []
    """Connections that the system dropped, as sentences."""
    fingerprint: int = 0
    """Of all that was offered; final once the load has ended."""

    @property
    def name(self) -> str:
        return f"driver instance {self.instance}"

    @property
    def observation(self) -> Observation:
        """Of this queue alone, which does not show what the system has finished."""
        return Observation(self.name, self.time_us, self.offered, self.offered - self.queued)


class DriverInstance:
    """One generator and one queue."""

    def __init__(self, config: InstanceConfig, report: Report) -> None:
        self.config = config
        feed = config.load.build_feed(config.instance)
        self.stream, self.schedule, self.events = feed.stream, feed.times, feed.events
        self.queue = DriverQueue(self.schedule)
        self._capacity = config.most_queued + _most_within(AHEAD_US, self.schedule) + BLOCK
        self._report = report
        self._start_us: int | None = None
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._samples = PartWriter(config.folder / "samples")
        self._handovers = PartWriter(config.folder / "handovers")
        self._lags: list[int] = []
        self._queue_max = 0
        self._pulled = LastPull()
        self._bytes_handed = 0
        self._block_prints: dict[int, int] = {}
        self.untaken: list[str] = []
        """The drop that each open pull would be; the channel adds and removes them."""
        self.dropped: list[str] = []

    @property
    def now_us(self) -> int:
        """Microseconds since the load began; negative before."""
        return -1 if self._start_us is None else time.time_ns() // 1_000 - self._start_us

    def start(self, start_us: int) -> None:
        """Begins the load at that wall-clock time."""
        self._start_us = start_us
        for work in (self._generate, self._watch):
            thread = threading.Thread(target=self._guarded, args=(work,), daemon=True)
            thread.start()
            self._threads.append(thread)

    def pull(self, from_us: int, until_us: int) -> list[Block]:
        """The events that the system asks for; the time of the call is recorded."""
        pulled = LastPull(from_us, until_us, at_us=self.now_us)
        blocks = self.queue.take(from_us, until_us)
        if until_us > self._pulled.until_us:
            self._pulled = pulled
        return blocks

    def handed_over(self, until_us: int, size_bytes: int) -> None:
        """The channel has given the system everything that was due before `until_us`."""
        self._bytes_handed += size_bytes
        row = [[until_us], [self.now_us]]
        self._handovers.append(pa.record_batch(row, schema=HANDOVERS))

    def finish(self) -> InstanceStatus:
        """Stops the threads and writes everything out; the status has the fingerprint.

        The system has ended, so it will take no pull any more that is still open.
        """
        self._stopping.set()
        for thread in self._threads:
            thread.join()
        if self._threads:
            self._write_sample()
        self._threads.clear()
        self._samples.flush()
        self._handovers.flush()
        final = {"fingerprint": self._fingerprint(), "dropped": [*self.dropped, *self.untaken]}
        return self._status().model_copy(update=final)

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            self._report("failed", reason=f"{type(error).__name__}: {error}")
            raise

    def _generate(self) -> None:
        assert self._start_us is not None
        first = 0
        while first < self.schedule.total and not self._stopping.is_set():
            due_us = self.schedule.time_us(first)
            ahead_us = due_us - self.now_us
            if ahead_us > AHEAD_US:
                self._stopping.wait((ahead_us - AHEAD_US) / 1e6 + 0.001)
                continue
            if due_us >= self.queue.end_us:
                return
            if self.queue.generated - self.queue.drained > self._capacity:
                # The queue is full: the load has been judged, and memory is limited.
                self._stopping.wait(SAMPLE_EVERY_S)
                continue
            last = min(first + BLOCK, self.schedule.total)
            batch, fingerprint = self.events.batch_and_fingerprint(first, last, self._start_us)
            self._block_prints[first // BLOCK] = fingerprint
            self.queue.push(Block(first, last, batch))
            first = last

    def _watch(self) -> None:
        while not self._stopping.wait(SAMPLE_EVERY_S):
            if self.now_us >= 0:
                self._report("status", **self._write_sample().model_dump())

    def _write_sample(self) -> InstanceStatus:
        status = self._status()
        # After the end of the load the generator has nothing to be late with.
        due = min(status.time_us, self.queue.end_us)
        lag = max(0, due - self.queue.released_until_us(status.time_us))
        row = (status.time_us, status.offered, status.drained, status.queued, lag)
        self._samples.append(pa.record_batch([[value] for value in row], schema=SAMPLES))
        self._queue_max = status.queue_max
        if status.time_us <= self.queue.end_us:
            self._lags.append(lag)
        return status

    def _status(self) -> InstanceStatus:
        now = self.now_us
        drained = self.queue.drained
        offered = self.schedule.count_before(self.queue.released_until_us(now))
        queued = max(0, offered - drained)
        return InstanceStatus(
            instance=self.config.instance,
            stream=self.stream,
            time_us=now,
            offered=offered,
            drained=drained,
            pulled=self._pulled,
            queued=queued,
            queue_max=max(self._queue_max, queued),
            lag_p99_us=int(np.quantile(self._lags or [0], 0.99)),
            bytes_handed=self._bytes_handed,
            dropped=list(self.dropped),
        )

    def _fingerprint(self) -> int:
        """Of exactly what was offered: whole blocks as generated, the last one cut to size."""
        offered = self.schedule.count_before(self.queue.released_until_us(self.now_us))
        whole, rest = divmod(offered, BLOCK)
        total = sum(self._block_prints[block] for block in range(whole))
        if rest:
            total += self.events.fingerprint(whole * BLOCK, offered)
        return total & MASK


def _most_within(span_us: int, schedule: InstanceSchedule) -> int:
    """No span of this length has more events, whenever it begins."""
    step = max(1, schedule.duration_us // 1_000)
    # Its two ends may each lie in the middle of a step.
    steps = span_us // step + 2
    borders = np.arange(0, schedule.duration_us + (steps + 1) * step, step)
    counts = schedule.counts_before(borders)
    return int((counts[steps:] - counts[:-steps]).max())
