"""The pulls of a system, and how they are found in what the driver handed over and when.

Positions in a queue are times of the same clock as the hand-overs. A system that takes everything
that waits first asks how far it may go and is then handed the events; the answer is the time of
the request. So the furthest position handed over so far is the time at which the current pull
began: hand-overs after that time belong to this pull, however long the pauses between them, and
earlier hand-overs belong to earlier pulls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

GAP_US = 50_000
"""The shortest pause that separates two pulls of bounded size. Computing a batch, delivering its
results and asking again take longer."""


class Pull(NamedTuple):
    """One pull as observed from outside: from the request for events to the next request.

    Times are seconds since the load began.
    """

    start_s: float
    """When the system asked how far it may go; where that is unknown, its first hand-over."""
    events: int
    busy_s: float
    """Until the next request; of the last pull, until the last observation."""
    left: int
    """Events that still waited after it."""
    handed_s: tuple[float, float] | None = None
    """The first and the last hand-over; None: not observed."""


_Times = NDArray[np.int64]


def pulls_of(
    handovers: list[pa.Table | None],
    count_before: Callable[[int], int],
    *,
    bounded: bool = False,
) -> list[Pull]:
    """All pulls of a load, from the tables `HANDOVERS` of all driver instances.

    `count_before` is the schedule's: how many events are due before a time. `bounded`: a pull may
    leave events that wait. Then a pull ends at every pause after which the position advances, so a
    pull with such a pause inside counts as two.
    """
    seen = [table for table in handovers if table is not None and table.num_rows]
    if not seen:
        return []
    handed = np.concatenate([table.column("handed_us").to_numpy() for table in seen])
    until = np.concatenate([table.column("until_us").to_numpy() for table in seen])
    order = np.lexsort((until, handed))
    # Of all instances, in the order of time: each hand-over, and the furthest position so far.
    handed, reached = handed[order], np.maximum.accumulate(until[order])
    begins = (_after_pauses if bounded else _after_requests)(handed, reached)
    return _pulls(handed, reached, begins, count_before)


def _after_requests(handed: _Times, reached: _Times) -> list[int]:
    """Where pulls begin, found from the last one to the first."""
    begins: list[int] = []
    end = len(handed)
    while end:
        first = int(np.searchsorted(handed[:end], reached[end - 1]))
        # No event is handed over before the request, unless the clock was set.
        end = min(first, end - 1)
        begins.append(end)
    return begins[::-1]


def _after_pauses(handed: _Times, reached: _Times) -> list[int]:
    pauses = np.flatnonzero(np.diff(handed) >= GAP_US) + 1
    begins = [0]
    for begin, end in zip(pauses, [*pauses[1:], len(handed)], strict=True):
        if reached[end - 1] > reached[begin - 1]:
            begins.append(int(begin))
    return begins


def _pulls(
    handed: _Times, reached: _Times, begins: list[int], count_before: Callable[[int], int]
) -> list[Pull]:
    spans = []
    previous_end_us = 0
    for begin, end in zip(begins, [*begins[1:], len(handed)], strict=True):
        first_us, last_us = int(handed[begin]), int(handed[end - 1])
        reached_us = int(reached[end - 1])
        asked = previous_end_us <= reached_us <= first_us
        spans.append((reached_us if asked else first_us, first_us, last_us, reached_us))
        previous_end_us = last_us
    ends_us = [start_us for start_us, *_ in spans[1:]] + [spans[-1][2]]
    pulls, before = [], count_before(0)
    for (start_us, first_us, last_us, reached_us), end_us in zip(spans, ends_us, strict=True):
        count = count_before(reached_us)
        pulls.append(
            Pull(
                start_s=start_us / 1e6,
                events=count - before,
                busy_s=(end_us - start_us) / 1e6,
                left=max(0, count_before(last_us) - count),
                handed_s=(first_us / 1e6, last_us / 1e6),
            )
        )
        before = count
    return pulls
