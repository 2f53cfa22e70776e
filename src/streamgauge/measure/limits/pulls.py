"""The micro-batches of a system, told from what the driver handed over and when.

Positions in a queue are times of the same clock as the hand-overs. A system that takes all there is
asks how far it may go after it is through with one micro-batch and before it is handed anything of
the next, and the answer is that moment. So the furthest position that was ever handed over is the
moment at which the last batch asked; all that was handed over since belongs to it, however long the
pauses in between, and all that was handed over before belongs to others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from streamgauge.measure.limits.evidence import Pull

GAP_US = 50_000
"""Between two batches of limited size a system computes, delivers and asks again for longer."""


@dataclass(frozen=True)
class _Handovers:
    """Of all instances together, in the order of time."""

    handed_us: NDArray[np.int64]
    reached_us: NDArray[np.int64]
    """The furthest position so far."""


def pulls_of(
    handovers: list[pa.Table | None],
    *,
    limited: bool = False,
    count_before: Callable[[int], int] | None = None,
) -> list[Pull]:
    """One for each micro-batch, from the tables `HANDOVERS` of all driver instances.

    `limited`: the system does not take all there is (`max_events_per_batch`). Then every pause
    after which it comes further counts as the end of a batch, so pulling may take longer than it
    seems. `count_before` is that of the schedule of the load; without it nobody knows how many
    events were pulled.
    """
    seen = [table for table in handovers if table is not None and table.num_rows]
    if not seen:
        return []
    handed = np.concatenate([table.column("handed_us").to_numpy() for table in seen])
    until = np.concatenate([table.column("until_us").to_numpy() for table in seen])
    order = np.lexsort((until, handed))
    merged = _Handovers(handed[order], np.maximum.accumulate(until[order]))
    begins = _after_pauses(merged) if limited else _after_asking(merged)
    return _pulls(merged, begins, count_before)


def _after_asking(merged: _Handovers) -> list[int]:
    """Where batches begin, found from the last one to the first."""
    begins: list[int] = []
    end = len(merged.handed_us)
    while end:
        asked = merged.reached_us[end - 1]
        first = int(np.searchsorted(merged.handed_us[:end], asked))
        # Nothing is handed over before it was asked for, unless a clock was set.
        end = min(first, end - 1)
        begins.append(end)
    return begins[::-1]


def _after_pauses(merged: _Handovers) -> list[int]:
    pauses = np.flatnonzero(np.diff(merged.handed_us) >= GAP_US) + 1
    begins = [0]
    for begin, end in zip(pauses, [*pauses[1:], len(merged.handed_us)], strict=True):
        if merged.reached_us[end - 1] > merged.reached_us[begin - 1]:
            begins.append(int(begin))
    return begins


def _pulls(
    merged: _Handovers, begins: list[int], count_before: Callable[[int], int] | None
) -> list[Pull]:
    pulls = []
    through_us = reached_us = 0
    for begin, end in zip(begins, [*begins[1:], len(merged.handed_us)], strict=True):
        first_us, last_us = int(merged.handed_us[begin]), int(merged.handed_us[end - 1])
        before_us, reached_us = reached_us, int(merged.reached_us[end - 1])
        known = through_us <= reached_us <= first_us
        through_us = last_us
        pulls.append(
            Pull(
                start_s=(reached_us if known else first_us) / 1e6,
                first_handed_s=first_us / 1e6,
                last_handed_s=last_us / 1e6,
                events=count_before(reached_us) - count_before(before_us) if count_before else None,
            )
        )
    return pulls
