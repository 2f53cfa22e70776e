"""A recorded trace: the rate over time, from a CSV file."""

from __future__ import annotations

import csv
from collections.abc import Iterator
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
FIX = f"the file needs a header and two columns, {TIME} and {RATE} (or {FACTOR})"
MAX_TIME_S = 1e9


def trace(*, duration_us: int, rate_per_s: float, path: str | Path, scale: float = 1.0) -> Schedule:
    """The rates of a file, each valid from its time on, the last until the end of the load.

    Column `rate_per_s` holds rates as they are, and the `rate_per_s` of the load is not used;
    column `factor` holds factors of it. `scale` multiplies either. A trace longer than the
    load is cut.
    """
    duration = parameters.duration_us(duration_us)
    size = parameters.number("load.schedule.scale", scale, least=1e-6, most=1e6)
    column, starts_us, factors = _read(path)
    rate = parameters.rate(rate_per_s) if column == FACTOR else Fraction(1)
    return piecewise(
        duration_us=duration,
        starts_us=starts_us,
        factors=factors,
        rate=rate * parameters.fraction(size),
    )


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
    rows = _rows(path, text)
    line, header = next(rows, (1, []))
    column = _rate_column(path, line, header)
    time_place, rate_place = header.index(TIME), header.index(column)
    starts_us: list[int] = []
    factors: list[int] = []
    for line, row in rows:
        time_s = _cell(path, line, row, time_place, TIME, MAX_TIME_S)
        start_us = round(Fraction(str(time_s)) * 1_000_000)
        _check_start(path, line, time_s, start_us, starts_us)
        starts_us.append(start_us)
        factors.append(billionths(_cell(path, line, row, rate_place, column, MAX_RATE_PER_S)))
    if not any(factors):
        problem = "every rate is 0" if factors else "there is no line below the header"
        raise ExperimentError(KEY, f"{path}: {problem}", fix="add a line such as 0,1000")
    return column, starts_us, factors


def _rows(path: str | Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and cells, without empty lines."""
    reader = csv.reader(StringIO(text))
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise _wrong(path, reader.line_num, f"not CSV ({error})") from error


def _rate_column(path: str | Path, line: int, header: list[str]) -> str:
    found = [column for column in (RATE, FACTOR) if column in header]
    if TIME not in header or len(found) != 1:
        raise ExperimentError(
            KEY, f"{path}, line {line}: the columns are {', '.join(header) or 'missing'}", fix=FIX
        )
    return found[0]


def _cell(
    path: str | Path, line: int, row: list[str], place: int, column: str, most: float
) -> float:
    text = row[place] if place < len(row) else ""
    try:
        value = float(text)
    except ValueError:
        raise _wrong(path, line, f"{column} is {text!r}, not a number") from None
    if not 0 <= value <= most:
        raise _wrong(path, line, f"{column} is {text}, not within 0 and {most:,.0f}")
    return value


def _check_start(
    path: str | Path, line: int, time_s: float, start_us: int, before_us: list[int]
) -> None:
    if not before_us and start_us != 0:
        # A silent start and a clock's time of day look the same here: the user must say which.
        raise _wrong(path, line, f"the first {TIME} is {time_s}, not 0")
    if before_us and start_us <= before_us[-1]:
        raise _wrong(path, line, f"{TIME} {time_s} does not come after the line before it")


def _wrong(path: str | Path, line: int, problem: str) -> ExperimentError:
    return ExperimentError(
        KEY,
        f"{path}, line {line}: {problem}",
        fix=f"{TIME} starts at 0 and increases; rates are plain numbers, 0 or more",
    )
