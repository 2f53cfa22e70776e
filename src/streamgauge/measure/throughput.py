"""Rates over all driver instances: offered, drained and processed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from streamgauge.measure.pulls import Pull
from streamgauge.measure.summary import PullSeries

STEP_US = 100_000
MOST_POINTS = 1_200
LEAST_PULLS = 3


def pull_series(tables: list[pa.Table | None]) -> PullSeries:
    """The data-pull graph: the sum of all instances on one grid of time."""
    seen = [table for table in tables if table is not None and table.num_rows]
    if not seen:
        return PullSeries()
    end = max(table.column("time_us")[-1].as_py() for table in seen)
    step = STEP_US * max(1, -(-end // (STEP_US * MOST_POINTS)))
    grid = np.arange(0, end + step, step)
    offered, drained, queued = (
        _total(seen, name, grid) for name in ("offered", "drained", "queued")
    )
    per_s = 1e6 / step
    return PullSeries(
        time_s=[round(float(t) / 1e6, 3) for t in grid[1:]],
        offered_per_s=[round(float(d) * per_s, 1) for d in np.diff(offered)],
        drained_per_s=[round(float(d) * per_s, 1) for d in np.diff(drained)],
        queued=[round(float(q)) for q in queued[1:]],
    )


def totals(
    tables: list[pa.Table | None],
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Times in steps of 100 ms, and what all instances had offered and given away by then."""
    seen = [table for table in tables if table is not None and table.num_rows]
    if not seen:
        return np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
    end = max(table.column("time_us")[-1].as_py() for table in seen)
    grid = np.arange(0, end + STEP_US, STEP_US)
    return grid, _total(seen, "offered", grid), _total(seen, "drained", grid)


def _total(tables: list[pa.Table], name: str, grid: NDArray[np.int64]) -> NDArray[np.float64]:
    totals = np.zeros(len(grid))
    for table in tables:
        times = np.concatenate(([0], table.column("time_us").to_numpy()))
        totals += np.interp(grid, times, np.concatenate(([0], table.column(name).to_numpy())))
    return totals


def mean_rates(
    tables: list[pa.Table | None], end_us: int | None
) -> tuple[float, float] | tuple[None, None]:
    """Events per second offered and drained, from the start of the load to `end_us`.

    `end_us` is None after an interruption; then the last sample is the end.
    """
    seen = [table for table in tables if table is not None and table.num_rows]
    if not seen:
        return None, None
    last = end_us or min(table.column("time_us")[-1].as_py() for table in seen)
    seconds, at_end = max(1e-9, last / 1e6), np.array([last])
    offered, drained = (_total(seen, name, at_end)[0] for name in ("offered", "drained"))
    return round(float(offered) / seconds, 1), round(float(drained) / seconds, 1)


def processed_rate(pulls: Sequence[Pull], from_s: float, until_s: float) -> float | None:
    """Events per second of the processed pulls; a pull is processed when the next one begins.

    The drained rate can be higher: a system may pull all events that wait and process them later.
    None with fewer than `LEAST_PULLS` pulls.
    """
    during = [pull for pull in pulls if from_s <= pull.start_s <= until_s]
    if len(during) < LEAST_PULLS:
        return None
    events = sum(pull.events for pull in during[:-1])
    return round(events / (during[-1].start_s - during[0].start_s), 1)
