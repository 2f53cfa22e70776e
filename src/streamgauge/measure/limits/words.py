"""Shares, and figures as text."""

from __future__ import annotations

SELF_REPORTED = "self-reported"
"""Marks a figure that the system reports, not measured from outside."""


def ratio(part: float, whole: float) -> float:
    """The part as a share of the whole, from 0 to 1; 0 if the whole is 0."""
    return min(1.0, max(0.0, part / whole)) if whole > 0 else 0.0


def percent(share: float) -> str:
    """0.34 → 34 %."""
    return f"{100 * share:.0f} %"


def cores(cpu_percent: float) -> str:
    """150 % of CPU → 1.50."""
    return f"{cpu_percent / 100:.2f}"


def counted(number: int, thing: str) -> str:
    """1, core → 1 core; 2, core → 2 cores."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
