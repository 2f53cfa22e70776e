"""The results of a query, window by window, from the events that a system received."""

from __future__ import annotations

import pickle
from collections import defaultdict
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from streamgauge.driver.config import LoadConfig
from streamgauge.events.spec import EVENT_TIME
from streamgauge.queries.gaming.windows import WindowedQuery
from streamgauge.queries.replay import Columns, columns_of

KIND = "windows"
"""The kind of implementation that the simulated system runs."""


class Window(NamedTuple):
    """The results of one window; it starts at `number` times the slide."""

    number: int
    results: pa.Table


class WindowedResults:
    """Keeps the events of open windows; computes and removes the windows that are complete."""

    def __init__(self, query: WindowedQuery, load: LoadConfig) -> None:
        self._query = query
        self._compute = query.implementation(KIND)
        self._fixed = query.fixed_inputs(lambda table: table)
        self._delay_us = load.watermark_delay_us
        self._latest_us = dict.fromkeys(load.streams, 0)
        self._names = {name: one.source.schema.names[1:] for name, one in load.streams.items()}
        self._panes: dict[str, dict[int, list[Columns]]] = {
            name: defaultdict(list) for name in load.streams
        }
        """Events by stream, and by the last multiple of the slide before their time."""
        self._closed = 0
        """Windows that start before this multiple of the slide have been computed."""

    @property
    def complete_until_us(self) -> int:
        """The event time up to which every stream is complete."""
        return min(self._latest_us.values()) - self._delay_us

    def add(self, stream: str, batch: pa.RecordBatch) -> None:
        if not batch.num_rows:
            return
        columns = columns_of(batch, (EVENT_TIME, *self._names[stream]))
        times = columns[EVENT_TIME]
        self._latest_us[stream] = max(self._latest_us[stream], int(times.max()))
        panes = times // self._query.slide_us
        for pane in np.unique(panes):
            chosen = panes == pane
            part = {name: values[chosen] for name, values in columns.items()}
            self._panes[stream][int(pane)].append(part)

    def close(self, until_us: int) -> list[Window]:
        """The windows that end at or before that time, oldest first."""
        return self._results((until_us - self._query.window) // self._query.slide_us)

    def flush(self) -> list[Window]:
        """The open windows, if the results of the query need not close."""
        if self._query.shape.closes is not None:
            return []
        return self._results(max(max(panes, default=0) for panes in self._panes.values()))

    @property
    def state(self) -> bytes:
        """All that it needs to go on from here."""
        panes = {name: dict(one) for name, one in self._panes.items()}
        return pickle.dumps((self._latest_us, panes, self._closed))

    def restore(self, state: bytes) -> None:
        """Goes on where it was when that state was taken."""
        self._latest_us, panes, self._closed = pickle.loads(state)
        self._panes = {name: defaultdict(list, one) for name, one in panes.items()}

    def _results(self, last: int) -> list[Window]:
        """Of all windows up to the one that starts at `last` times the slide."""
        oldest = min((min(panes) for panes in self._panes.values() if panes), default=None)
        if oldest is None:
            return []
        # The first window that ends after the oldest event's pane begins.
        slide, length = self._query.slide_us, self._query.window
        first = max(self._closed, (oldest * slide - length) // slide + 1)
        found = [(number, self._result(number * slide)) for number in range(first, last + 1)]
        self._closed = max(self._closed, last + 1)
        for panes in self._panes.values():
            for pane in [pane for pane in panes if pane < self._closed]:
                del panes[pane]
        return [
            Window(number, pa.Table.from_batches([batch]))
            for number, batch in found
            if batch.num_rows
        ]

    def _result(self, start_us: int) -> pa.RecordBatch:
        events = {stream: self._within(stream, start_us) for stream in self._panes}
        return self._compute(start_us=start_us, **events, **self._fixed)

    def _within(self, stream: str, start_us: int) -> Columns:
        slide, end_us = self._query.slide_us, start_us + self._query.window
        panes = self._panes[stream]
        places = range(start_us // slide, -(-end_us // slide))
        parts = [part for place in places if place in panes for part in panes[place]]
        inside = [part[EVENT_TIME] < end_us for part in parts]
        nothing = np.empty(0, dtype=np.int64)
        events = {}
        for name in (EVENT_TIME, *self._names[stream]):
            chosen = (part[name][here] for part, here in zip(parts, inside, strict=True))
            events[name] = np.concatenate([nothing, *chosen])
        return events
