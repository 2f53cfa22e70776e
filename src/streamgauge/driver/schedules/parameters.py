"""Checks of what a user may write under `load` in an experiment file.

Values are `object`: an experiment file can hold anything, and the error about a wrong type names
its key like that about a wrong figure.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from streamgauge.driver.schedules.base import MAX_DURATION_US, MAX_EVENTS
from streamgauge.errors import ExperimentError

MAX_RATE_PER_S = 1e9


def number(key: str, value: object, *, least: float, most: float) -> float:
    """A number in [least, most]."""
    return float(_within(key, value, "a number", int | float | np.integer, least, most))


def rate(value: object, *, least: float = 1e-6) -> Fraction:
    """A rate in events per second, exactly as it was written."""
    return fraction(number("load.rate", value, least=least, most=MAX_RATE_PER_S))


def fraction(value: float) -> Fraction:
    """The simplest fraction near a float: 0.1 is a tenth, 0.3333333333333333 a third."""
    return Fraction(str(value)).limit_denominator(1_000_000)


def billionths(value: float) -> int:
    """A factor in billionths, the unit of `knots.piecewise`."""
    return round(Fraction(str(value)) * 10**9)


def whole(key: str, value: object, *, least: int, most: int) -> int:
    """A whole number in [least, most]."""
    return int(_within(key, value, "a whole number", int | np.integer, least, most))


def span_us(
    key: str, value_us: object, *, least_us: int = 1, most_us: int = MAX_DURATION_US
) -> int:
    """A length of time in whole microseconds, in [least_us, most_us]."""
    kind = "a length of time"
    return int(_within(key, value_us, kind, int | np.integer, least_us, most_us, _seconds))


def duration_us(value_us: object) -> int:
    """The length of the load."""
    return span_us("duration", value_us)


def require_possible(events: int, most: int = MAX_EVENTS) -> None:
    """Refuses a load with more events than its schedule can have."""
    if events > most:
        raise ExperimentError(
            "load.rate",
            f"the load would have {events:,} events",
            fix=f"lower the rate or the duration; up to {most:,} events are possible",
        )


def require_possible_peak(rate_per_s: Fraction) -> None:
    """Refuses a schedule that is at some time faster than any load may be."""
    if rate_per_s > MAX_RATE_PER_S:
        raise ExperimentError(
            "load.schedule",
            f"its highest rate would be {float(rate_per_s):,.0f} events per second",
            fix=f"lower the rate or the factors; up to {MAX_RATE_PER_S:,.0f} are possible",
        )


def _within(
    key: str,
    value: Any,
    kind: str,
    types: Any,
    least: float,
    most: float,
    show: Callable[[float], str] = "{:,}".format,
) -> Any:
    fix = f"use {kind} from {show(least)} to {show(most)}"
    if isinstance(value, bool) or not isinstance(value, types):
        raise ExperimentError(key, f"{value!r} is not {kind}", fix=fix)
    # Compared before any conversion: NaN and integers that are too large for a float are refused.
    if not least <= value <= most:
        raise ExperimentError(key, f"{show(value)} is out of range", fix=fix)
    return value


def _seconds(value_us: float) -> str:
    return f"{Decimal(int(value_us)) / 1_000_000:,f} s"
