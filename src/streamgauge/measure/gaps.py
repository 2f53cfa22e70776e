"""Gaps in what happens, and calms after what is bad: pure functions of moments.

Moments are microseconds since the load began, in ascending order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.int64]
LEAST_HOLD_US = 1_000_000
LONGER_GAP = 1.5
"""A gap is an outage if it is so many times as long as the longest one before the fault."""
LEAST_GAP_US = 100_000
BIN_US = 100_000


class Handed(NamedTuple):
    """The hand-overs of one driver instance, in the order of time."""

    at_us: Times
    until_us: Times
    """The time of the schedule up to which events had been handed over."""


def longest_gap_us(times: Times, begin_us: int, until_us: int, *, before: bool = False) -> int:
    """Between neighbouring times within; with `before`, also the gap in which it begins."""
    first = int(np.searchsorted(times, begin_us))
    last = int(np.searchsorted(times, until_us, side="right"))
    within = times[max(0, first - before) : last]
    return int(np.diff(within).max()) if len(within) > 1 else 0


class Stall(NamedTuple):
    """A time in which nothing happened."""

    begin_us: int
    end_us: int


class Moments(NamedTuple):
    """Moments at which something happened, from a fault to its horizon."""

    times: Times
    began_us: int
    horizon_us: int
    end_us: int
    """Of the load: what comes later comes when it can."""

    def first_stall_end(self, usual_us: int) -> int | None:
        stall = self.first_stall(usual_us)
        return None if stall is None else stall.end_us

    def first_stall(self, usual_us: int) -> Stall | None:
        """The first gap after the fault that is longer than usual; None: there is none.

        A gap that nothing ends lasts to the horizon.
        """
        longer_us = max(LEAST_GAP_US, LONGER_GAP * usual_us)
        first = int(np.searchsorted(self.times, self.began_us))
        last_us = min(self.horizon_us, self.end_us)
        last = int(np.searchsorted(self.times, last_us, side="right"))
        # A gap that was there already counts with its part before the fault.
        begin_us = int(self.times[first - 1]) if first else self.began_us
        later = self.times[last : last + 1]
        ends = int(later[0]) if len(later) and later[0] <= self.horizon_us else self.horizon_us
        moments = np.concatenate(([begin_us], self.times[first:last], [ends]))
        gaps = np.flatnonzero(np.diff(moments) > longer_us)
        return Stall(*map(int, moments[gaps[0] : gaps[0] + 2])) if len(gaps) else None


def calm_after(bad_us: Times, began_us: int, horizon_us: int, hold_us: int) -> int | None:
    """From the begin to the last bad moment before a calm of `hold_us`, or up to the horizon.

    None: there is no calm, or one shorter than a second before the horizon.
    """
    if not len(bad_us):
        return 0
    calms = np.diff(np.append(bad_us, horizon_us))
    calms[-1] += hold_us - LEAST_HOLD_US
    found = np.flatnonzero(calms >= hold_us)
    return int(bad_us[found[0]]) - began_us if len(found) else None


def binned_p99(output_us: Times, input_us: Times) -> tuple[Times, Times]:
    """p99 of the latency by tenth of a second of the output, and the first output of each."""
    if not len(output_us):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    latency, bins = output_us - input_us, output_us // BIN_US
    begins = np.flatnonzero(np.diff(bins, prepend=bins[0] - 1))
    counts = np.diff(np.append(begins, len(bins)))
    ranked = latency[np.lexsort((latency, bins))]
    return output_us[begins], ranked[begins + np.ceil(0.99 * (counts - 1)).astype(int)]


def reload_and_replay(
    handed: Sequence[Handed], began_us: int, horizon_us: int, stall_us: int | None
) -> tuple[int | None, int | None]:
    """The first hand-over of a range that was handed over before, or after a stall; and the moment
    at which every instance is where it was at the fault.

    Without either the fault was not noticed: both are the moment of the fault.
    """
    reached, again = [], []
    for one in handed:
        before = one.until_us[one.at_us < began_us]
        reached.append(int(before.max()) if len(before) else 0)
        repeated = one.at_us[
            (one.at_us >= began_us) & (one.at_us <= horizon_us) & (one.until_us <= reached[-1])
        ]
        again += [int(repeated[0])] if len(repeated) else []
    if not again and stall_us is None:
        return began_us, began_us
    reload_us = min([*again, *([] if stall_us is None else [stall_us])])
    if reload_us >= horizon_us:
        return None, None
    ends = []
    for one, position_us in zip(handed, reached, strict=True):
        there = one.at_us[(one.at_us >= reload_us) & (one.until_us >= position_us)]
        if not len(there):
            return reload_us, None
        ends.append(int(there[0]))
    return reload_us, max(ends)
