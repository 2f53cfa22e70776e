"""What a switch costs and saves: waiting, in records × seconds, over a time that is looked ahead.

A queue that gets `arrival_per_s` and loses `speed_per_s` is looked at as a fluid. The area under it
is the time that all records together have waited.
"""

from __future__ import annotations

from streamgauge.dual.model.latency import Paradigm, Quantities


def queue_area(queue: float, arrival_per_s: float, speed_per_s: float, seconds: float) -> float:
    """Records × seconds in the queue from now on for that time."""
    growth = arrival_per_s - speed_per_s
    if growth < 0 and -growth * seconds > queue:
        return queue**2 / (-2 * growth)
    return queue * seconds + growth * seconds**2 / 2


def waiting_if_it_stays(
    quantities: Quantities, paradigm: Paradigm, queue: float, ahead_s: float
) -> float:
    """Records × seconds of waiting within `ahead_s` in this paradigm."""
    return waiting_if_it_switches(quantities, paradigm.other, queue, gap_s=0.0, ahead_s=ahead_s)


def waiting_if_it_switches(
    quantities: Quantities, paradigm: Paradigm, queue: float, gap_s: float, ahead_s: float
) -> float:
    """The same if it leaves this paradigm now, with a gap of `gap_s` in which nothing is done.

    What arrives during the gap is queued and has to be worked off in the other paradigm.
    """
    arrival_per_s, gap_s = quantities.arrival_per_s, min(gap_s, ahead_s)
    in_gap = queue_area(queue, arrival_per_s, 0.0, gap_s)
    grown = queue + arrival_per_s * gap_s
    speed_per_s = quantities.speed_per_s(paradigm.other)
    after_it = queue_area(grown, arrival_per_s, speed_per_s, ahead_s - gap_s)
    return in_gap + after_it + arrival_per_s * ahead_s * quantities.delay_s(paradigm.other)


def saved_by_switching(
    quantities: Quantities, paradigm: Paradigm, queue: float, gap_s: float, ahead_s: float
) -> float:
    """Records × seconds that a switch out of this paradigm saves; negative if it costs more."""
    staying = waiting_if_it_stays(quantities, paradigm, queue, ahead_s)
    return staying - waiting_if_it_switches(quantities, paradigm, queue, gap_s, ahead_s)
