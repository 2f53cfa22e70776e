"""Channels that observe what was sent and which results arrived, but not what the system pulled.

Everything up to the latest event time that a result reflects, the frontier, counts as processed.
If results do not tell that time, their number does: as many events as made them are processed.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left

import numpy as np
import pyarrow as pa

from streamgauge.channels.base import ChannelContext, OpenChannel
from streamgauge.driver.instance import SAMPLE_EVERY_S, SAMPLES, InstanceStatus
from streamgauge.driver.observations import Basis, Observation
from streamgauge.errors import ExperimentError
from streamgauge.events.spec import EVENT_TIME
from streamgauge.events.stream import EventStream
from streamgauge.parts import PartWriter

TIMELESS = 100
"""So many results without a time show that none will have one."""

LATE_ONES = 256
"""Events that are looked at in one go."""


class FrontierChannel(OpenChannel):
    """A subclass sends events and calls `sent`, collects results, and has a sink status."""

    def __init__(self, context: ChannelContext) -> None:
        self.load = context.load
        self._shape = context.shape
        self._next_result = context.next_result
        self._without_system = context.results_are_the_log
        self._sent = [0] * len(self.load.feeds)
        self._unsent = [0] * len(self._sent)
        self._lags: list[list[int]] = [[0] for _ in self._sent]
        self._queue_max = [0] * len(self._sent)
        self._samples = [PartWriter(context.folder(n) / "samples") for n in range(len(self._sent))]
        self._lock = threading.Lock()
        self._sampled_s = 0.0
        self.start_us = 0
        self.end_us = self.load.duration_us

    @property
    def now_us(self) -> int:
        """Microseconds since the load began."""
        return time.time_ns() // 1_000 - self.start_us

    def start(self, start_us: int) -> None:
        self.start_us = start_us

    def cut(self, end_us: int) -> None:
        self.end_us = min(self.end_us, end_us)

    def sent(self, instance: int, count: int, lag_us: int, unsent: int = 0) -> None:
        """A driver instance has sent `count` events in all, the last of them `lag_us` late."""
        with self._lock:
            self._sent[instance] = count
            self._unsent[instance] = unsent
            self._lags[instance].append(max(0, lag_us))

    def observations(self) -> list[Observation]:
        if time.monotonic() < self._sampled_s + SAMPLE_EVERY_S or self.now_us < 0:
            return []
        self._sampled_s = time.monotonic()
        statuses = self.statuses
        for status in statuses:
            number = status.instance
            self._queue_max[number] = max(self._queue_max[number], status.queued)
            lag_us = self._lags[number][-1]
            row = (status.time_us, status.offered, status.drained, status.queued, lag_us)
            batch = pa.record_batch([[value] for value in row], schema=SAMPLES)
            self._samples[number].append(batch)
        return [status.observation._replace(basis=Basis.FRONTIER) for status in statuses]

    def overall(self) -> Observation | None:
        statuses, sink = self.statuses, self.sink
        if not self.start_us or sink.last_arrival_us is None:
            return None
        taken = sum(status.drained for status in statuses)
        return Observation(
            source="",
            time_us=statuses[0].time_us,
            offered=sum(status.offered for status in statuses),
            taken=taken,
            finished=taken,
            taken_at_us=sink.last_arrival_us - self.start_us,
            basis=Basis.FRONTIER,
        )

    @property
    def statuses(self) -> list[InstanceStatus]:
        return [self._status(number) for number in range(len(self._sent))] if self.start_us else []

    def finish(self) -> list[InstanceStatus]:
        for writer in self._samples:
            writer.flush()
        finished = []
        for status in self.statuses:
            events = self.load.feeds[status.instance].events
            fingerprint = events.fingerprint(0, status.offered)
            finished.append(status.model_copy(update={"fingerprint": fingerprint}))
        return finished

    def _status(self, number: int) -> InstanceStatus:
        feed, seen_us = self.load.feeds[number], self._seen_us()
        with self._lock:
            offered, lags = self._sent[number], np.array(self._lags[number])
        taken = min(offered, feed.times.count_before(seen_us))
        if feed.events.disorder_us and self.sink.frontier_us is not None:
            taken = _without_late_ones(feed.events, taken, offered, seen_us)
        taken = self._next_result(number, taken, offered)
        return InstanceStatus(
            instance=number,
            stream=feed.stream,
            time_us=self.now_us,
            offered=offered,
            drained=taken,
            queued=offered - taken,
            queue_max=self._queue_max[number],
            lag_p99_us=int(np.quantile(lags, 0.99)),
            lag_max_us=int(lags.max()),
            unsent=self._unsent[number],
        )

    def _seen_us(self) -> int:
        """The time of the load before which every event counts as processed."""
        if self._without_system:
            return self.load.duration_us + 1
        sink, per_event = self.sink, self._shape.per_event
        if sink.frontier_us is not None:
            return sink.frontier_us - self.start_us + 1
        if per_event is not None:
            count, times = round(sink.results / per_event), range(self.load.duration_us + 1)
            return bisect_left(times, count, key=self.load.count_before)
        if sink.results >= TIMELESS:
            raise ExperimentError(
                "workload.query",
                f"the results have no `{self._shape.input_time}`, the time of their last input, so "
                "it cannot be seen how far the system is",
                fix="add it to the results, or say how many results an event makes: `per_event`",
            )
        return 0


def _without_late_ones(events: EventStream, taken: int, offered: int, seen_us: int) -> int:
    """How many are taken if those that are due later, but happened before, are taken as well.

    No result can tell of them: without this, the last ones would stay a backlog for ever.
    """
    while taken < offered:
        last = min(offered, taken + LATE_ONES)
        times_us = events.batch(taken, last)[EVENT_TIME].cast(pa.int64()).to_numpy()
        later = np.flatnonzero(times_us >= seen_us)
        if len(later):
            return taken + int(later[0])
        taken = last
    return taken
