"""The windowed average, computed as events come in: the simulated system's own implementation."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from streamgauge.driver.sink import LATEST_EVENT_TIME
from streamgauge.queries.gaming.aggregation import AggregationQuery

_TIME = pa.timestamp("us", tz="UTC")


class WindowedAverages:
    """Open windows with sum, count and latest time per key; closes those that are complete."""

    def __init__(self, query: AggregationQuery) -> None:
        self._query = query
        self._partitioned = query.windows == "partitioned"
        self._keys = query.keys if self._partitioned else 1
        self._open: dict[int, np.ndarray] = {}

    def add(self, batch: pa.RecordBatch) -> None:
        times = batch.column("event_time").cast(pa.int64()).to_numpy()
        prices = batch.column("price_cents").to_numpy().astype(np.int64)
        keys = batch.column("gem_pack").to_numpy() if self._partitioned else np.zeros_like(prices)
        length, slide = self._query.window, self._query.slide_us
        last_start = times // slide * slide
        for back in range(-(-length // slide)):
            starts = last_start - back * slide
            inside = times < starts + length
            for start in np.unique(starts[inside]):
                chosen = inside & (starts == start)
                self._put(int(start), keys[chosen], prices[chosen], times[chosen])

    def close(self, until_us: int) -> pa.Table | None:
        """Results of the windows that end at or before that time, oldest first."""
        ready = sorted(s for s in self._open if s + self._query.window <= until_us)
        tables = [self._result(start, self._open.pop(start)) for start in ready]
        return pa.concat_tables(tables) if tables else None

    def _put(self, start: int, keys: np.ndarray, prices: np.ndarray, times: np.ndarray) -> None:
        state = self._open.setdefault(start, np.zeros((3, self._keys), dtype=np.int64))
        np.add.at(state[0], keys, prices)
        np.add.at(state[1], keys, 1)
        np.maximum.at(state[2], keys, times)

    def _result(self, start: int, state: np.ndarray) -> pa.Table:
        total, count, latest = state
        (seen,) = np.nonzero(count)
        moments = {"window_start": start, "window_end": start + self._query.window}
        columns: dict[str, pa.Array] = {
            name: pa.array(np.full(len(seen), moment)).cast(_TIME)
            for name, moment in moments.items()
        }
        if self._partitioned:
            columns["gem_pack"] = pa.array(seen.astype(np.int32))
        columns["average_price_cents"] = pa.array(total[seen] / count[seen])
        columns[LATEST_EVENT_TIME] = pa.array(latest[seen]).cast(_TIME)
        return pa.table(columns)
