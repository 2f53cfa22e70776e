"""How long a micro-batch gathers records, and how long a data stream goes on without a commit."""

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


SHORTEST_COMMIT_S, LONGEST_COMMIT_S = 10.0, 300.0
FIRST_COMMIT_S = 60.0
"""As long as the load is not known."""
REPEATED_S = 1.0
"""What is done again at a switch may take this long."""


def commit_interval_s(arrival_per_s: float | None, operation_speed_per_s: float | None) -> float:
    """The time between two commits of a data stream with state, in seconds.

    At a switch the operation stream does again what came since the last commit, V·t records, which
    takes it V·t/PO. So long as that is short, commits are rare: each holds up the records.
    """
    if not arrival_per_s or not operation_speed_per_s:
        return FIRST_COMMIT_S
    longest_s = REPEATED_S * operation_speed_per_s / arrival_per_s
    return min(LONGEST_COMMIT_S, max(SHORTEST_COMMIT_S, longest_s))
