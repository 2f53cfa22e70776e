"""Schedules whose rate follows a shape: constant, steps, ramp, sine, bursts.

`rate_per_s` is of the whole load; by shape it is the highest rate, the mean rate, or the rate
between bursts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import cycle, islice

from streamgauge.driver.schedules import parameters
from streamgauge.driver.schedules.base import Schedule
from streamgauge.driver.schedules.knots import BILLIONTHS, KnotSchedule, piecewise
from streamgauge.driver.schedules.parameters import billionths
from streamgauge.errors import ExperimentError

MAX_FACTOR = 1e6
MAX_SEGMENTS = 1_000_000
RAMP_SEGMENTS = 1_000
SINE_SEGMENTS = 100
MIN_PERIOD_US = 100_000


def constant(*, duration_us: int, rate_per_s: float) -> Schedule:
    """Event n is due at n / rate, rounded down to the microsecond."""
    duration = parameters.duration_us(duration_us)
    rate = parameters.rate(rate_per_s)
    parameters.require_possible(math.ceil(rate * duration / 1_000_000))
    # `numerator` events in `denominator` seconds is the rate without rounding.
    span_us = rate.denominator * 1_000_000
    spans = -(-duration // span_us)
    return KnotSchedule([0, spans * span_us], [0, spans * rate.numerator], duration)


def steps(
    *, duration_us: int, rate_per_s: float, levels: Sequence[float] = (0.25, 0.5, 0.75, 1.0)
) -> Schedule:
    """Levels of equal length, each a factor of the rate; by default a staircase up to it."""
    duration = parameters.duration_us(duration_us)
    rate = parameters.rate(rate_per_s)
    key = "load.schedule.levels"
    if not isinstance(levels, list | tuple) or not levels:
        problem = f"{levels!r} is not a list of factors"
        raise ExperimentError(key, problem, fix="such as [0.5, 1.0, 0.5]")
    if len(levels) > min(duration, MAX_SEGMENTS):
        problem = f"{len(levels)} levels do not fit"
        raise ExperimentError(key, problem, fix="use fewer, or a longer load")
    factors = [_factor(key, level) for level in levels]
    if not any(factors):
        raise ExperimentError(key, "every level is 0", fix="make one of them positive")
    starts_us = [duration * step // len(levels) for step in range(len(levels))]
    return piecewise(duration_us=duration, starts_us=starts_us, factors=factors, rate=rate)


def ramp(*, duration_us: int, rate_per_s: float, start: float = 0.0) -> Schedule:
    """The rate changes evenly from `start` times the rate to the rate, at the end of the load."""
    duration = parameters.duration_us(duration_us)
    rate = parameters.rate(rate_per_s)
    first = _factor("load.schedule.start", start)
    segments = min(RAMP_SEGMENTS, duration)
    starts_us = [duration * segment // segments for segment in range(segments)]
    # A segment has the rate of its middle, which gives it the events of the true ramp.
    factors = [
        first + (BILLIONTHS - first) * (2 * segment + 1) // (2 * segments)
        for segment in range(segments)
    ]
    return piecewise(duration_us=duration, starts_us=starts_us, factors=factors, rate=rate)


def sine(
    *, duration_us: int, rate_per_s: float, period_us: int = 20_000_000, amplitude: float = 0.5
) -> Schedule:
    """The rate swings about its mean: rate · (1 + amplitude · sin(2π t / period))."""
    duration = parameters.duration_us(duration_us)
    rate = parameters.rate(rate_per_s)
    period = parameters.span_us("load.schedule.period", period_us, least_us=MIN_PERIOD_US)
    swing = _factor("load.schedule.amplitude", amplitude, most=1.0)
    periods = _cycles("load.schedule.period", duration, period, SINE_SEGMENTS)
    starts_us = [
        first + period * segment // SINE_SEGMENTS
        for first in range(0, periods * period, period)
        for segment in range(SINE_SEGMENTS)
    ]
    factors = [BILLIONTHS + swing * height // BILLIONTHS for height in sine_heights()]
    repeated = list(islice(cycle(factors), len(starts_us)))
    return piecewise(duration_us=duration, starts_us=starts_us, factors=repeated, rate=rate)


def sine_heights() -> list[int]:
    """The sine at the middle of each segment of a period, in billionths.

    None of these values lies so near to a rounding boundary that two machines' `sin` could
    round differently (tested), so everything that follows is the same everywhere.
    """
    return [
        round(math.sin(2 * math.pi * (segment + 0.5) / SINE_SEGMENTS) * BILLIONTHS)
        for segment in range(SINE_SEGMENTS)
    ]


def bursts(
    *,
    duration_us: int,
    rate_per_s: float,
    burst: float = 3.0,
    every_us: int = 10_000_000,
    length_us: int = 1_000_000,
) -> Schedule:
    """The rate, with a burst of `burst` times the rate in the middle of every cycle.

    So a load begins without a burst, and the recovery from the last one is part of it.
    """
    duration = parameters.duration_us(duration_us)
    rate = parameters.rate(rate_per_s)
    factor = _factor("load.schedule.burst", burst)
    every = parameters.span_us("load.schedule.every", every_us, least_us=3)
    # One microsecond at least before and after the burst.
    length = parameters.span_us("load.schedule.length", length_us, most_us=every - 2)
    begin = (every - length) // 2
    cycles = _cycles("load.schedule.every", duration, every, 3)
    starts_us = [
        first + offset
        for first in range(0, cycles * every, every)
        for offset in (0, begin, begin + length)
    ]
    factors = [BILLIONTHS, factor, BILLIONTHS] * cycles
    return piecewise(duration_us=duration, starts_us=starts_us, factors=factors, rate=rate)


def _factor(key: str, value: object, most: float = MAX_FACTOR) -> int:
    return billionths(parameters.number(key, value, least=0.0, most=most))


def _cycles(key: str, duration_us: int, cycle_us: int, segments: int) -> int:
    cycles = -(-duration_us // cycle_us)
    if cycles * segments > MAX_SEGMENTS:
        raise ExperimentError(
            key,
            f"the load would have {cycles:,} cycles",
            fix=f"make each longer; up to {MAX_SEGMENTS // segments:,} are possible",
        )
    return cycles
