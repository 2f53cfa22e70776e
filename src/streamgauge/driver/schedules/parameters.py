"""Checks of what a user may write under `load` in an experiment file.

Values are taken as `object`: an experiment file can hold anything, and a wrong type must
name its key just as a wrong figure does.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from streamgauge.driver.schedules.base import MAX_DURATION_US, MAX_EVENTS
from streamgauge.errors import ExperimentError

MAX_RATE_PER_S = 1e9


def number(key: str, value: object, *, least: float, most: float) -> float:
    """A number in [least, most]."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer):
        raise ExperimentError(key, f"{value!r} is not a number", fix=_between(least, most))
    # The comparison comes before any conversion: it also refuses NaN and integers that
    # are too large for a float.
    if not least <= value <= most:
        raise ExperimentError(key, f"{value} is out of range", fix=_between(least, most))
    return float(value)


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
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ExperimentError(key, f"{value!r} is not a whole number", fix=_between(least, most))
    if not least <= value <= most:
        raise ExperimentError(key, f"{value} is out of range", fix=_between(least, most))
    return int(value)


def span_us(
    key: str, value_us: object, *, least_us: int = 1, most_us: int = MAX_DURATION_US
) -> int:
    """A length of time in whole microseconds, in [least_us, most_us]."""
    fix = f"use {_seconds(least_us)} to {_seconds(most_us)}"
    if isinstance(value_us, bool) or not isinstance(value_us, int | np.integer):
        raise ExperimentError(key, f"{value_us!r} is not a length of time", fix=fix)
    if not least_us <= value_us <= most_us:
        raise ExperimentError(key, f"{_seconds(int(value_us))} is out of range", fix=fix)
    return int(value_us)


def duration_us(value_us: object) -> int:
    """The length of the load."""
    return span_us("duration", value_us)


def require_possible(events: int, most: int = MAX_EVENTS) -> None:
    """Refuse a load with more events than its schedule can carry."""
    if events > most:
        raise ExperimentError(
            "load.rate",
            f"the load would have {events:,} events",
            fix=f"lower the rate or the duration; up to {most:,} events are possible",
        )


def _between(least: float, most: float) -> str:
    return f"use a number from {least:,} to {most:,}"


def _seconds(value_us: int) -> str:
    whole_s, rest_us = divmod(abs(value_us), 1_000_000)
    sign = "-" if value_us < 0 else ""
    return sign + f"{whole_s}.{rest_us:06}".rstrip("0").rstrip(".") + " s"
