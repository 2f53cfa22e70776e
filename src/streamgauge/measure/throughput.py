"""Rates that the driver observed: offered, drained, queued and processed, over all instances."""

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
    """The data-pull graph: the samples of all instances on one grid of time."""
    seen = [table for table in tables if table is not None and table.num_rows]
    if not seen:
        return PullSeries()
    end = max(table.column("time_us")[-1].as_py() for table in seen)
    step = STEP_US * max(1, -(-end // (STEP_US * MOST_POINTS)))
    grid = np.arange(0, end + step, step)
    totals = {
        name: np.sum([_at(table, name, grid) for table in seen], axis=0)
        for name in ("offered", "drained", "queued")
    }
    per_s = 1e6 / step
    return PullSeries(
        time_s=[round(float(t) / 1e6, 3) for t in grid[1:]],
        offered_per_s=[round(float(d) * per_s, 1) for d in np.diff(totals["offered"])],
        drained_per_s=[round(float(d) * per_s, 1) for d in np.diff(totals["drained"])],
        queued=[round(float(q)) for q in totals["queued"][1:]],
    )


def _at(table: pa.Table, name: str, grid: NDArray[np.int64]) -> NDArray[np.float64]:
    times = np.concatenate(([0], table.column("time_us").to_numpy()))
    values = np.concatenate(([0], table.column(name).to_numpy()))
    return np.interp(grid, times, values)


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
    at_end = np.array([last])
    offered = sum(float(_at(table, "offered", at_end)[0]) for table in seen)
    drained = sum(float(_at(table, "drained", at_end)[0]) for table in seen)
    seconds = max(1e-9, last / 1e6)
    return round(offered / seconds, 1), round(drained / seconds, 1)


def processed_rate(pulls: Sequence[Pull], from_s: float, until_s: float) -> float | None:
    """Events per second of the processed pulls; a pull is processed when the next one begins.

    The drained rate does not show this: a system may take everything that waits and process it
    later. None with fewer than `LEAST_PULLS` pulls.
    """
    during = [pull for pull in pulls if from_s <= pull.start_s <= until_s]
    if len(during) < LEAST_PULLS:
        return None
    events = sum(pull.events for pull in during[:-1])
    return round(events / (during[-1].start_s - during[0].start_s), 1)
