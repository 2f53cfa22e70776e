"""The text of a change, for the terminal and the page: marks, signs, margins."""

from __future__ import annotations

import math
from collections import Counter
from typing import Literal

from streamgauge import writing
from streamgauge.compare.comparison import Change, Finding, Pair, Side, Value
from streamgauge.measure.figures import FIGURES
from streamgauge.measure.summary import MAXIMUM

SideName = Literal["base", "other"]
MARKS = {
    Finding.BETTER: "▲",
    Finding.WORSE: "▼",
    Finding.CHANGED: "≠",
    Finding.NOT_SIGNIFICANT: "=",
    Finding.EQUAL: "=",
    Finding.NOISE_UNKNOWN: "?",
    Finding.GROWING: "↗",
    Finding.NOT_MEASURED: writing.NOTHING,
}
LEGEND = (
    "▲ better, ▼ worse, ≠ changed: more than the noise margin. = not significant: may be noise. "
    "? noise unknown: one run does not show its noise. Percentages are of the base."
)


def finding(change: Change) -> str:
    """`▲ better`: the mark and what it means."""
    return f"{MARKS[change.finding]} {change.finding.value}"


def value(change: Change, side: SideName) -> str:
    """The figure on one side, in its unit."""
    found: Value | None = getattr(change, side)
    if change.finding is Finding.GROWING and side in change.growing:
        return "growing"
    return writing.NOTHING if found is None else FIGURES[change.figure].write(found.mean)


def interval(change: Change, side: SideName) -> str:
    """The noise of one side, as far as it was measured."""
    found: Value | None = getattr(change, side)
    if found is None:
        return "not measured"
    if found.low is None or found.high is None:
        return "one run: its noise is unknown"
    write = FIGURES[change.figure].write
    what = "from passed to failed" if change.figure == MAXIMUM else "95 % interval"
    return f"{what}: {write(found.low)} … {write(found.high)}"


def delta(change: Change) -> str:
    return writing.or_nothing(change.delta, FIGURES[change.figure].unit.write_change)


def percent(change: Change) -> str:
    """Of the base; of 0 there is no percentage."""
    if change.delta is None:
        return writing.NOTHING
    if change.percent is None:
        return "from 0" if change.delta else "0 %"
    return signed_percent(change.percent)


def signed_percent(share: float) -> str:
    size = abs(share)
    # A change that rounds to nothing has no direction.
    if size < 0.05:
        return "0 %" if size == 0 else "< 0.1 %"
    sign = "+" if share > 0 else "−"
    return f"{sign}{size:,.{0 if size >= 100 else 1}f} %"


def margin(change: Change) -> str:
    """`± 12 ms (1.4 %)`, or that it is unknown."""
    if change.delta is None or change.finding is Finding.EQUAL:
        return writing.NOTHING
    if change.margin is None:
        return "unknown"
    text = f"± {FIGURES[change.figure].unit.write_difference(change.margin)}"
    share = margin_percent(change)
    return text if share is None else f"{text} ({writing.percent(share)})"


def margin_percent(change: Change) -> float | None:
    """The noise margin as a percentage of the base."""
    if change.margin is None or change.base is None or not change.base.mean:
        return None
    share = 100 * change.margin / abs(change.base.mean)
    return share if math.isfinite(share) else None


def shape(side: Side) -> str:
    """`published`, `one run`, `3 repetitions`, `5 cases with 3 repetitions`."""
    if side.published:
        return "published"
    runs = f"{side.repetitions} repetitions" if side.repetitions > 1 else "one run"
    return runs if side.cases == 1 else f"{side.cases} cases, {runs} each"


def noise_sources(pair: Pair) -> list[str]:
    """Where the margins of a pair come from, or why there are none, each once."""
    found = (change.noise for case in pair.cases for change in case.changes if change.noise)
    return list(dict.fromkeys(found))


def tally(pair: Pair) -> str:
    """`3 better, 1 worse, 20 not significant`: how many figures of all cases."""
    found = Counter(change.finding for case in pair.cases for change in case.changes)
    return ", ".join(f"{found[kind]} {kind.value}" for kind in Finding if found[kind])
