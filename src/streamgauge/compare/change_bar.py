"""A bar that shows a change against its noise margin, left of the middle or right of it."""

from __future__ import annotations

from collections.abc import Sequence

from streamgauge.compare import change_text
from streamgauge.compare.comparison import Change, Finding
from streamgauge.report.markup import Html, element

_LEAST_PERCENT = 10.0
_MOST_PERCENT = 100.0


def full_percent(changes: Sequence[Change]) -> float:
    """The change at which a bar reaches its end, for all bars of a table; larger ones are cut."""
    sizes = [abs(one.percent) for one in changes if one.percent is not None]
    return min(_MOST_PERCENT, max([_LEAST_PERCENT, *sizes]))


def change_bar(change: Change, full: float) -> Html:
    """Nothing where there is nothing to draw; the figures beside it say the same in change_text."""
    if change.percent is None or change.finding is Finding.EQUAL:
        return Html("")
    parts = []
    doubt = change_text.margin_percent(change)
    if doubt is not None:
        half = _half(doubt, full)
        parts.append(_bar("doubt", 50 - half, 2 * half))
    size = _half(abs(change.percent), full)
    kind = {Finding.BETTER: "size good", Finding.WORSE: "size bad"}.get(change.finding, "size")
    parts.append(_bar(kind, 50.0 if change.percent > 0 else 50 - size, size))
    parts.append(element("i", class_="middle"))
    return element("span", *parts, class_="swing", aria_hidden="true")


def _half(percent: float, full: float) -> float:
    """How much of the bar, whose half is 50 % wide."""
    return min(50.0, 50.0 * percent / full)


def _bar(kind: str, left: float, width: float) -> Html:
    return element("i", class_=kind, style=f"left:{left:.2f}%;width:{width:.2f}%")
