"""The description of a chart, which `assets/charts.js` draws.

It does not depend on runs, so that a report, a comparison and a live view can share it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

Unit = Literal["s", "ms", "per_s", "events", "results", "percent", "mb", "paradigm"]
Side = Literal["left", "right"]
_DECADE = 10


class _Description(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class HorizontalAxis(_Description):
    """`edges` (one more than values) are the borders of bars."""

    label: str
    unit: Unit
    values: list[float]
    edges: list[float] = []
    log: bool = False


class Axis(_Description):
    label: str
    unit: Unit
    side: Side = "left"
    log: bool = False


class ChartSeries(_Description):
    """A line, area, or set of bars or points; `colour` is a slot of the page's palette (1 to 6)."""

    label: str
    values: Sequence[float | None]
    colour: int
    axis: Side = "left"
    style: Literal["line", "area", "bars", "points"] = "line"
    dashed: bool = False
    thin: bool = False


class Band(_Description):
    """A shaded stretch of the horizontal axis, such as the warm-up or a fault."""

    start: float
    end: float
    label: str
    colour: int = 0
    """A slot of the palette; 0 is grey."""


class Piece(_Description):
    """A stretch of a lane in one state."""

    start: float
    end: float
    colour: int
    label: str
    opaque: bool = False


class Lane(_Description):
    """A row of states over the horizontal axis, such as the paradigms of an operation.

    Later pieces lie on earlier ones. The series with the same place gives the cursor its values.
    """

    label: str
    pieces: list[Piece]


class Chart(_Description):
    """Everything needed to draw one chart; charts with the same `group` share a cursor."""

    id: str
    title: str
    definition: str
    x: HorizontalAxis
    axes: list[Axis]
    series: list[ChartSeries]
    bands: list[Band] = []
    lanes: list[Lane] = []
    """Drawn instead of the series."""
    group: str = ""
    wide: bool = False
    empty: str = "not measured"
    note: str = ""
    """What to know when looking at it; shown below the chart."""

    @field_validator("series")
    @classmethod
    def _align(cls, series: list[ChartSeries], found: ValidationInfo) -> list[ChartSeries]:
        length = len(found.data["x"].values)
        return [one.model_copy(update={"values": aligned(one.values, length)}) for one in series]

    @property
    def has_points(self) -> bool:
        return any(value is not None for series in self.series for value in series.values)


def over_decades(values: Iterable[float | None]) -> bool:
    """Do the values need a log axis? On a linear one the small ones could not be told apart."""
    found = [value for value in values if value is not None]
    return bool(found) and min(found) > 0 and max(found) > _DECADE * min(found)


def aligned(values: Sequence[float | None], length: int) -> list[float | None]:
    """The values cut or filled up to a length, as a chart needs them.

    A run that broke off may have series of unequal length. Six digits are more than a screen
    shows and keep the file small.
    """
    kept = [
        None if value is None or not math.isfinite(value) else float(f"{value:.6g}")
        for value in values[:length]
    ]
    return kept + [None] * (length - len(kept))
