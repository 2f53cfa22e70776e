"""Durations, rates and shares in human units, kept as plain numbers.

A duration is written `500 ms`, `8 s`, `1 minute` or as a bare number of seconds and kept as integer
microseconds; a share is written `25 %` or `0.25` and kept as a fraction; a count may be written
`100_000`, `100k` or `1.5M`; a size `5 MB` (5,000,000 bytes) or `5 MiB`.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer

SECOND_US = 1_000_000

_DURATION_UNITS_US = {
    "us": 1,
    "µs": 1,
    "ms": 1_000,
    "s": SECOND_US,
    "sec": SECOND_US,
    "min": 60 * SECOND_US,
    "m": 60 * SECOND_US,
    "h": 3_600 * SECOND_US,
}
_SPELT_OUT = {"hour": "h", "minute": "min", "second": "s", "millisecond": "ms", "microsecond": "us"}
_MULTIPLIERS = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
_BYTE_UNITS = {
    "B": 1,
    **{f"{sign}B": 1_000**power for power, sign in enumerate(("k", "M", "G", "T"), 1)},
    **{f"{sign}iB": 1_024**power for power, sign in enumerate(("K", "M", "G", "T"), 1)},
}
_NUMBER = r"(-?[0-9][0-9_,]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"


def parse_duration_us(value: object) -> int:
    """`8 s` → 8,000,000."""
    number, unit = _split(value, "a duration such as `500 ms` or `8 s`")
    unit = _SPELT_OUT.get(unit.removesuffix("s"), unit)
    if unit not in {*_DURATION_UNITS_US, ""}:
        units = ", ".join(_DURATION_UNITS_US)
        raise ValueError(f"{value!r} has an unknown unit; write one of {units}")
    micros = number * _DURATION_UNITS_US.get(unit, SECOND_US)
    if micros < 0 or micros > 366 * 24 * 3_600 * SECOND_US:
        raise ValueError(f"{value!r} must lie between 0 and one year")
    return round(micros)


def parse_share(value: object) -> float:
    """`25 %` → 0.25."""
    number, unit = _split(value, "a share such as `25 %` or `0.25`")
    if unit not in {"", "%"}:
        raise ValueError(f"{value!r} is not a share; write `25 %` or `0.25`")
    share = number / 100 if unit == "%" else number
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"{value!r} must lie between 0 % and 100 %")
    return share


def parse_count(value: object) -> float:
    """`1.5M` → 1,500,000."""
    number, unit = _split(value, "a number such as `100_000` or `100k`")
    unit = unit.removesuffix("/s")
    if unit not in _MULTIPLIERS:
        raise ValueError(f"{value!r} has an unknown unit; write `100_000`, `100k` or `1.5M`")
    return number * _MULTIPLIERS[unit]


def parse_whole(value: object) -> int:
    """`100k` → 100,000; neither a truth value nor a fraction is a whole number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    number = parse_count(value)
    if not number.is_integer():
        raise ValueError(f"{value!r} is not a whole number")
    return int(number)


def parse_bytes(value: object) -> int:
    """`5 MB` → 5,000,000."""
    number, unit = _split(value, "a size such as `5 MB`")
    if unit not in {*_BYTE_UNITS, ""}:
        units = ", ".join(_BYTE_UNITS)
        raise ValueError(f"{value!r} has an unknown unit; write one of {units}")
    size = number * _BYTE_UNITS.get(unit, 1)
    if size < 0 or not size.is_integer():
        raise ValueError(f"{value!r} is not a whole number of bytes")
    return int(size)


def format_duration(micros: int) -> str:
    """2,500,000 → `2.5 s`, exactly: reading it again gives the same number."""
    for unit in ("h", "min", "s", "ms", "us"):
        size = _DURATION_UNITS_US[unit]
        # Three decimals at most, or the next smaller unit reads better.
        if micros >= size and micros * 1_000 % size == 0:
            return f"{micros / size:.3f}".rstrip("0").rstrip(".") + f" {unit}"
    return "0 s"


def spell_duration(micros: int) -> str:
    """2,500,000 → `2500 milliseconds`, as SQL has it."""
    sizes = {word: _DURATION_UNITS_US[unit] for word, unit in _SPELT_OUT.items()}
    word = next(word for word, size in sizes.items() if micros % size == 0)
    return f"{micros // sizes[word]} {word}s"


def _split(value: object, wanted: str) -> tuple[float, str]:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r} is not {wanted}")
    match = re.fullmatch(_NUMBER + r"\s*([a-zA-Zµ%/]*)", str(value).strip())
    if match is None:
        raise ValueError(f"{value!r} is not {wanted}")
    number = float(match[1].replace("_", "").replace(",", ""))
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{value!r} is too large")
    return number, match[2]


DurationUs = Annotated[
    int, BeforeValidator(parse_duration_us), PlainSerializer(format_duration, when_used="json")
]
Share = Annotated[float, BeforeValidator(parse_share)]
Count = Annotated[float, BeforeValidator(parse_count)]
ByteCount = Annotated[int, BeforeValidator(parse_bytes)]
WholeNumber = Annotated[int, BeforeValidator(parse_whole)]
