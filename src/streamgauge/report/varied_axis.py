"""A varied setting as the horizontal axis of a chart: numbers, durations or percentages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from streamgauge.report.cases import RATE
from streamgauge.report.chart import HorizontalAxis, Unit, over_decades
from streamgauge.units import parse_count, parse_duration_us


@dataclass(frozen=True)
class VariedAxis:
    """The places of the cases on the axis, in order."""

    key: str
    unit: Unit
    parse: Callable[[object], float]
    places: list[float]

    @property
    def axis(self) -> HorizontalAxis:
        log = over_decades(self.places)
        label = f"{self.key} (log scale)" if log else self.key
        return HorizontalAxis(label=label, unit=self.unit, values=self.places, log=log)

    def place_of(self, varied: Mapping[str, object]) -> float:
        return self.parse(varied[self.key])


def varied_axis(cases: Sequence[Mapping[str, object]]) -> VariedAxis | None:
    """The axis of the setting with the most values; None if no setting has two in an order."""
    found = [_axis(key, cases) for key in (cases[0] if cases else ())]
    several = [axis for axis in found if axis is not None and len(axis.places) > 1]
    return max(several, key=lambda axis: len(axis.places), default=None)


def _axis(key: str, cases: Sequence[Mapping[str, object]]) -> VariedAxis | None:
    for unit, parse in _PARSERS:
        try:
            places = sorted({parse(case[key]) for case in cases})
        except (KeyError, ValueError):
            continue
        is_rate = (key, unit) == (RATE, "events")
        return VariedAxis(key, "per_s" if is_rate else unit, parse, places)
    return None


def _percent(value: object) -> float:
    text = str(value).strip()
    if not text.endswith("%"):
        raise ValueError(f"{value!r} is no percentage")
    return float(text.removesuffix("%"))


_PARSERS: tuple[tuple[Unit, Callable[[object], float]], ...] = (
    ("events", parse_count),
    ("s", lambda value: parse_duration_us(value) / 1e6),
    ("percent", _percent),
)
