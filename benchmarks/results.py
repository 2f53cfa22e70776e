"""What a benchmark finds out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One figure, and what is asked of it."""

    name: str
    value: float
    unit: str = ""
    least: float | None = None
    most: float | None = None

    @property
    def met(self) -> bool:
        above = self.least is None or self.value >= self.least
        return above and (self.most is None or self.value <= self.most)

    def __str__(self) -> str:
        asked = ""
        if self.least is not None or self.most is not None:
            sign, bound = ("≥", self.least) if self.least is not None else ("≤", self.most)
            asked = f"  (asked: {sign} {bound:g})  {'✓' if self.met else '✗ missed'}"
        return f"{self.name:<58} {self.value:10,.2f} {self.unit}{asked}"
