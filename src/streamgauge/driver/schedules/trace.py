"""A recorded trace: the rate over time, from a CSV file."""

from __future__ import annotations

import csv
from fractions import Fraction
from io import StringIO
from pathlib import Path

from streamgauge.driver.schedules import parameters
from streamgauge.driver.schedules.base import Schedule
from streamgauge.driver.schedules.knots import piecewise
from streamgauge.driver.schedules.parameters import MAX_RATE_PER_S, billionths
from streamgauge.errors import ExperimentError

KEY = "load.schedule.path"
TIME = "time_s"
RATE = "rate_per_s"
FACTOR = "factor"
FIX = (
    f"the file needs a header and two columns: {TIME}, which starts at 0 and increases, and {RATE}"
    f" (or {FACTOR}), numbers of 0 or more"
)
MAX_TIME_S = 1e9


def trace(*, duration_us: int, rate_per_s: float, path: str | Path, scale: float = 1.0) -> Schedule:
    """The rates of a file, each valid from its time on, the last until the end of the load.

    Column `rate_per_s` holds rates, and that of the load is not used; column `factor` holds factors
    of it. `scale` multiplies either. A trace longer than the load is cut.
    """
    duration = parameters.duration_us(duration_us)
    size = parameters.number("load.schedule.scale", scale, least=1e-6, most=1e6)
    column, starts_us, factors = _read(path)
    rate = parameters.rate(rate_per_s) if column == FACTOR else Fraction(1)
    rate *= parameters.fraction(size)
    return piecewise(duration_us=duration, starts_us=starts_us, factors=factors, rate=rate)


def _read(path: object) -> tuple[str, list[int], list[int]]:
    """The column of the rates, the times in µs, and the rates or factors in billionths."""
    if not isinstance(path, str | Path) or not str(path):
        raise ExperimentError(KEY, f"{path!r} is not the path of a file", fix=FIX)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise ExperimentError(
            KEY, f"cannot read {path}: {reason}", fix="give the path of a CSV file, in UTF-8"
        ) from error
    reader = csv.reader(StringIO(text))
    rows = (cells for row in reader if any(cells := [cell.strip() for cell in row]))
    header: list[str] = []
    starts_us: list[int] = []
    factors: list[int] = []
    try:
        header = next(rows, header)
        column = _rate_column(header)
        for row in rows:
            named = dict(zip(header, row, strict=False))
            starts_us.append(_start_us(_cell(named, TIME, MAX_TIME_S), starts_us))
            factors.append(billionths(_cell(named, column, MAX_RATE_PER_S)))
    except (ValueError, csv.Error) as error:
        line = reader.line_num if header else 1
        raise ExperimentError(KEY, f"{path}, line {line}: {error}", fix=FIX) from error
    if not any(factors):
        problem = "every rate is 0" if factors else "there is no line below the header"
        raise ExperimentError(KEY, f"{path}: {problem}", fix="add a line such as 0,1000")
    return column, starts_us, factors


def _rate_column(header: list[str]) -> str:
    found = [column for column in (RATE, FACTOR) if column in header]
    if TIME not in header or len(found) != 1:
        raise ValueError(f"the columns are {', '.join(header) or 'missing'}")
    return found[0]


def _cell(cells: dict[str, str], column: str, most: float) -> float:
    text = cells.get(column, "")
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{column} is {text!r}, not a number") from None
    if not 0 <= value <= most:
        raise ValueError(f"{column} is {text}, not within 0 and {most:,.0f}")
    return value


def _start_us(time_s: float, before_us: list[int]) -> int:
    start_us = round(Fraction(str(time_s)) * 1_000_000)
    if not before_us and start_us != 0:
        # Either the load starts silent or the times are of a clock: the user must decide.
        raise ValueError(f"the first {TIME} is {time_s}, not 0")
    if before_us and start_us <= before_us[-1]:
        raise ValueError(f"{TIME} {time_s} does not come after the line before it")
    return start_us
