"""The micro-batch interval that gives the lowest latency."""

from __future__ import annotations


def best_interval_s(
    arrival_per_s: float,
    operation_speed_per_s: float,
    schedule_s: float,
    *,
    margin: float,
    shortest_s: float,
    longest_s: float,
) -> float:
    """The shortest interval T, in seconds, in which its micro-batch is done.

    The latency grows with T, and a micro-batch takes t_s + V·T/PO. With a share of `margin` for
    fluctuations, (1 + margin)·(t_s + V·T/PO) ≤ T. If no interval is long enough, the longest one
    spends the smallest share of the time on scheduling.
    """
    share_left = 1 - (1 + margin) * arrival_per_s / operation_speed_per_s
    if share_left <= 0:
        return longest_s
    return min(longest_s, max(shortest_s, (1 + margin) * schedule_s / share_left))
