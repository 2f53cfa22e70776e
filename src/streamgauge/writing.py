"""Figures as people read them: separators, units, three digits that matter."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

NOTHING = "–"


def or_nothing(value: float | None, write: Callable[[float], str]) -> str:
    """The value as `write` writes it, or a dash where there is none."""
    return NOTHING if value is None else write(value)


def count(value: float) -> str:
    """1234567 → 1,234,567."""
    return f"{value:,.0f}" if math.isfinite(value) else NOTHING


def number(value: float) -> str:
    """A figure of unknown kind, with no more digits than matter."""
    if not math.isfinite(value):
        return NOTHING
    if value == round(value):
        return f"{value:,.0f}"
    size = abs(value)
    digits = 0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 1 else 4
    return f"{value:,.{digits}f}"


def rate(value: float) -> str:
    """100000 → 100,000/s."""
    if not math.isfinite(value):
        return NOTHING
    return f"{value:,.0f}/s" if abs(value) >= 100 else f"{number(value)}/s"


def duration(milliseconds: float) -> str:
    """12.3 → 12 ms; 1234 → 1.23 s; 75000 → 1 min 15 s."""
    if not math.isfinite(milliseconds):
        return NOTHING
    sign, size = ("−" if milliseconds < 0 else ""), abs(milliseconds)
    if size == 0:
        return "0 ms"
    if round(size) < 1000:
        digits = 0 if size >= 9.95 else 1 if size >= 0.995 else 2
        return f"{sign}{size:.{digits}f} ms"
    seconds = size / 1000
    if round(seconds, 1) < 60:
        return f"{sign}{seconds:.{2 if seconds < 9.995 else 1}f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{sign}{minutes} min {rest:02d} s"
    return f"{sign}{minutes // 60} h {minutes % 60:02d} min"


def growth(ms_per_s: float) -> str:
    """Latency gained per second of the run."""
    return f"{number(round(ms_per_s, 1))} ms/s"


def percent(value: float) -> str:
    """A share of 100; 100 % of CPU is one core."""
    if not math.isfinite(value):
        return NOTHING
    return f"{value:.{0 if abs(value) >= 100 else 1}f} %"


def megabytes(value: float) -> str:
    """512 → 512 MB; 1500 → 1.50 GB."""
    if not math.isfinite(value):
        return NOTHING
    if abs(value) < 999.5:
        return f"{value:.{0 if abs(value) >= 9.95 else 1}f} MB"
    return f"{value / 1000:,.2f} GB"


class Answer(NamedTuple):
    """How an answer to a yes-or-no question is shown: a mark, a word, and good, bad or open."""

    mark: str
    word: str
    kind: str

    def __str__(self) -> str:
        return f"{self.mark} {self.word}"


def answer(value: bool | None) -> Answer:
    """True → `✓ yes`; None: the answer is unknown."""
    if value is None:
        return Answer("?", "unknown", "open")
    return Answer("✓", "yes", "good") if value else Answer("✗", "no", "bad")
