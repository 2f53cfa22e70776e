"""Records of a machine's sensors as lines of text: made, or read from a DEBS 2012 file.

A line has 56 values with tabs between them (time, number, mf01, mf02, mf03, pc13, …) and the
number of the workplace as the last one.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from streamgauge.errors import ExperimentError
from streamgauge.events.factory import signals
from streamgauge.events.factory.draws import whole

VALUES = 56
"""In a record, without the workplace."""
ERROR_RATE = 0.0042
LOW_POWER_RATE = 0.088
"""Shares of the records that the queries find in the slice of the published runs."""
_HIGHEST_ERROR_RATE = 0.25
"""Above it bursts would be the usual state."""

_TICKS_PER_S = 10_000_000
_START_S = 1_329_912_000
"""2012-02-22T12:00:00, in seconds since 1970."""
_STEP_TICKS = 100_000
"""100 records a second."""
_JITTER_TICKS = 400
_PRESSURES = {"pc13": 70, "pc14": 190, "pc15": 152}
_UNUSED = ("0000",) * 4
"""pc25, pc26, pc27 and res of a machine at work."""
_FLAGS_SET = {33, 34, 41, 44}
"""The places, from 0 on, of the flags that are 1."""


def sensor_lines(
    *,
    seed: int,
    rows: int,
    workplace: int,
    error_rate: float = ERROR_RATE,
    low_power_rate: float = LOW_POWER_RATE,
) -> pa.Table:
    """Made-up records of one machine in a column `line`.

    The rates are the shares of records with mf01 > 14,963 and with mf03 < 8,105; they are kept
    exactly, up to whole records.
    """
    if rows < 1 or not 0 <= error_rate <= _HIGHEST_ERROR_RATE or not 0 <= low_power_rate <= 1:
        raise ExperimentError(
            "rows" if rows < 1 else "error_rate, low_power_rate",
            f"no sensor records can be made of {rows=}, {error_rate=}, {low_power_rate=}",
            fix=f"at least 1 row, an error rate up to {_HIGHEST_ERROR_RATE}, the other up to 1",
        )
    name = f"sensors.{workplace}"
    first = signals.mf01(seed, name, rows, error_rate)
    phases = [
        first,
        signals.mf02(seed, name, rows, first),
        signals.mf03(seed, name, rows, low_power_rate),
    ]
    pressures = [
        signals.pressure(seed, f"{name}.{column}", rows, level)
        for column, level in _PRESSURES.items()
    ]
    flags = ("1" if place in _FLAGS_SET else "0" for place in range(12, VALUES))
    return _table(
        pc.binary_join_element_wise(
            _times(seed, name, rows),
            pa.array(np.arange(1, rows + 1)).cast(pa.string()),
            *(_text(signal) for signal in phases),
            *(pc.utf8_lpad(_text(signal), 4, padding="0") for signal in pressures),
            pa.scalar("\t".join((*_UNUSED, *flags, str(workplace)))),
            "\t",
        )
    )


def debs_lines(path: str, workplace: int) -> pa.Table:
    """The records of a DEBS 2012 file in a column `line`, each with the workplace at its end."""
    try:
        content = Path(path).read_bytes()
        text = content.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _refused(path, f"cannot be read: {error}") from None
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        raise _refused(path, "is empty")
    column = pc.utf8_rtrim(pa.array(lines, type=pa.string()), characters="\r")
    _check(path, column)
    return _table(pc.binary_join_element_wise(column, pa.scalar(str(workplace)), "\t"))


def _check(path: str, lines: pa.Array) -> None:
    """Refuses the first line that is not a record: another number of values, or no numbers."""
    tabs = pc.count_substring(lines, "\t").to_numpy()
    wrong = np.flatnonzero(tabs != VALUES - 1)
    if len(wrong):
        found = tabs[wrong[0]] + 1
        raise _refused(path, f"line {wrong[0] + 1} has {found} values instead of {VALUES}")
    numbers = pc.match_substring_regex(lines, r"^[^\t]+\t\d+\t\d+\t\d+\t\d+\t").to_numpy(
        zero_copy_only=False
    )
    if not numbers.all():
        place = int(np.flatnonzero(~numbers)[0])
        begin = lines[place].as_py()[:60].replace("\t", " ")
        problem = f"line {place + 1} does not begin with a time and four whole numbers: {begin}"
        raise _refused(path, problem)


def _refused(path: str, problem: str) -> ExperimentError:
    return ExperimentError(
        "workload.sensors",
        f"{path} {problem}",
        fix="give a file of the DEBS 2012 Grand Challenge as published: a record per line, "
        f"{VALUES} values with tabs between them, without a heading",
    )


def _times(seed: int, name: str, rows: int) -> pa.Array:
    """Times such as 2012-02-22T16:46:28.9670320+00:00."""
    ticks = np.arange(rows, dtype=np.int64) * _STEP_TICKS
    ticks += whole(seed, f"{name}.time", 0, rows, 0, _JITTER_TICKS)
    seconds = pa.array(_START_S + ticks // _TICKS_PER_S, type=pa.timestamp("s"))
    parts = pa.array(ticks % _TICKS_PER_S).cast(pa.string())
    return pc.binary_join_element_wise(
        seconds.cast(pa.date32()).cast(pa.string()),
        pa.scalar("T"),
        seconds.cast(pa.time32("s")).cast(pa.string()),
        pa.scalar("."),
        pc.utf8_lpad(parts, 7, padding="0"),
        pa.scalar("+00:00"),
        "",
    )


def _text(signal: NDArray[np.int64]) -> pa.Array:
    return pa.array(signal // signals.ONE).cast(pa.string())


def _table(lines: pa.Array) -> pa.Table:
    return pa.table({"line": lines})
