"""Units of figures: how values are written and limits are parsed."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum

from streamgauge import writing
from streamgauge.units import parse_count, parse_duration_us


class Unit(str, Enum):
    """The unit of a figure; the values of `summary.json` are in it."""

    MS = "ms"
    MS_PER_S = "ms_per_s"
    PER_S = "per_s"
    COUNT = "count"
    PERCENT = "percent"
    MB = "mb"
    MB_PER_S = "mb_per_s"
    RATIO = "ratio"
    TEXT = "text"
    YES_NO = "yes_no"

    @property
    def is_number(self) -> bool:
        return self not in (Unit.TEXT, Unit.YES_NO)

    @property
    def example(self) -> str:
        """An amount as a user may write it."""
        return _EXAMPLES.get(self, "0")

    def write(self, value: float) -> str:
        """1234 ms → `1.23 s`."""
        return _WRITERS.get(self, writing.number)(value)

    def write_difference(self, size: float) -> str:
        """The difference of two values; that of percentages is in points."""
        text = self.write(size)
        return f"{text.removesuffix(' %')} points" if self is Unit.PERCENT else text

    def write_change(self, delta: float) -> str:
        """A difference with its sign, `+` included."""
        if delta == 0:
            return "0"
        return f"{'+' if delta > 0 else '−'}{self.write_difference(abs(delta))}"

    def parse_limit(self, text: str) -> float:
        """`5 s` → 5000 for a latency; a duration without a unit is in seconds."""
        if self is Unit.MS:
            return parse_duration_us(text) / 1_000
        if self is Unit.MB:
            return _megabytes(text)
        return parse_count(text.removesuffix("%").strip() if self is Unit.PERCENT else text)

    def parse_amount(self, text: str) -> float:
        """The amount of a change: `200 ms`. A latency must have its unit."""
        if self is Unit.MS and not re.search(r"[a-zµ]", text):
            raise ValueError(f"an amount of latency needs a unit, and `{text}` has none")
        return self.parse_limit(text)


def _megabytes(text: str) -> float:
    match = re.fullmatch(r"(.*?)\s*(MB|GB)", text)
    if match is None:
        raise ValueError(f"an amount of memory is in MB or GB, and `{text}` is not")
    return parse_count(match[1]) * (1_000 if match[2] == "GB" else 1)


_WRITERS: dict[Unit, Callable[[float], str]] = {
    Unit.MS: writing.duration,
    Unit.MS_PER_S: writing.growth,
    Unit.PER_S: writing.rate,
    Unit.PERCENT: writing.percent,
    Unit.MB: writing.megabytes,
    Unit.MB_PER_S: lambda value: f"{writing.megabytes(value)}/s",
}
_EXAMPLES = {Unit.MS: "200 ms", Unit.MB: "500 MB", Unit.PER_S: "10k", Unit.PERCENT: "20"}
