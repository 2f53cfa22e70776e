"""The measured values of a machine, in the manner of those of the DEBS 2012 Grand Challenge.

A value drifts slowly, with noise of several speeds on top. Now and then a burst rises within a
third of a second and dies away, or the level falls for some seconds. All of it is integer
arithmetic in units of 1/1024, so the values are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from streamgauge.events.factory.draws import whole

Signal = NDArray[np.int64]
ONE = 1024
"""Signals are made in this part of a unit, so that their order is hardly ever a tie."""

ERROR_ABOVE = 14_963
"""Of mf01: the query for errors keeps what is greater."""
LOW_POWER_BELOW = 8_105
"""Of mf03: the query for machine power keeps what is less."""
_MF01_LEVEL, _MF01_KNEE, _MF01_TOP = 13_085, 13_350, 18_200
_MF02_LEVEL = 14_395
_MF03_LEVEL, _MF03_RANGE = 8_235, (7_280, 9_390)
_RISE = 27
"""Records, 10 ms each, in which a burst reaches its height."""
_HITS_PER_BURST = 30
_SEGMENT = 8_192
"""Records in which one of each rare event happens."""


def mf01(seed: int, name: str, rows: int, error_rate: float) -> Signal:
    """Electrical power of a main phase, in 1/1024; bursts make the given share of errors."""
    hits = round(error_rate * rows)
    level = _noise(seed, f"{name}.mf01", rows, ((150, 90), (12, 18), (1, 11)))
    level += _MF01_LEVEL * ONE
    phase, depth = _places(seed, f"{name}.phase", rows, 2 * _SEGMENT, (500, 560))
    _add(level, phase, -depth, _plateau(950))
    drop, depth = _places(seed, f"{name}.drop", rows, _SEGMENT, (700, 1_250))
    _add(level, drop, -depth, _burst())
    every = max(1, rows // max(1, round(hits / _HITS_PER_BURST)))
    bursts, heights = _places(seed, f"{name}.burst", rows, every, (2_400, 5_000))
    _add(level, bursts, heights, _burst())
    return _with_hits_above(level, hits)


def mf02(seed: int, name: str, rows: int, first: Signal) -> Signal:
    """The second phase follows the first one closely."""
    own = _noise(seed, f"{name}.mf02", rows, ((40, 25), (2, 5)))
    return _MF02_LEVEL * ONE + (first - _MF01_LEVEL * ONE) * 11 // 10 + own


def mf03(seed: int, name: str, rows: int, low_power_rate: float) -> Signal:
    """The third phase; its level is such that the given share is low power."""
    level = _noise(seed, f"{name}.mf03", rows, ((900, 130), (60, 35), (3, 5)))
    level += _MF03_LEVEL * ONE
    rise, height = _places(seed, f"{name}.mf03.rise", rows, 2 * _SEGMENT, (700, 1_150))
    _add(level, rise, height, _plateau(300))
    fall, height = _places(seed, f"{name}.mf03.fall", rows, 2 * _SEGMENT, (500, 850))
    _add(level, fall, -height, _plateau(120))
    hits = round(low_power_rate * rows)
    if hits < rows:
        # The lowest value that is not a hit comes to lie on the border.
        level += LOW_POWER_BELOW * ONE - np.partition(level, hits)[hits]
    else:
        level += (LOW_POWER_BELOW - 1) * ONE - level.max()
    return np.clip(level, _MF03_RANGE[0] * ONE, _MF03_RANGE[1] * ONE)


def pressure(seed: int, name: str, rows: int, level: int) -> Signal:
    """One of the values pc13 to pc15."""
    return level * ONE + _noise(seed, name, rows, ((60, 4), (3, 6), (1, 2)))


def _noise(seed: int, name: str, rows: int, speeds: Sequence[tuple[int, int]]) -> Signal:
    """A sum of random paths: each is straight between random heights, `step` records apart."""
    total = np.zeros(rows, dtype=np.int64)
    place = np.arange(rows)
    for step, height in speeds:
        knots = whole(seed, f"{name}.{step}", 0, rows // step + 2, -height * ONE, height * ONE)
        number, beyond = place // step, place % step
        total += (knots[number] * (step - beyond) + knots[number + 1] * beyond) // step
    return total


def _places(
    seed: int, name: str, rows: int, every: int, heights: tuple[int, int]
) -> tuple[Signal, Signal]:
    """Where events begin, one at random in each stretch of so many records, and their heights."""
    count = max(1, round(rows / every))
    jitter = whole(seed, f"{name}.place", 0, count, 0, max(rows // count - 1, 0))
    height = whole(seed, f"{name}.height", 0, count, heights[0] * ONE, heights[1] * ONE)
    return np.arange(count) * rows // count + jitter, height


def _add(signal: Signal, places: Signal, heights: Signal, shape: Signal) -> None:
    """Adds a shape (1,024 is its full height) at each place; the end goes on at the beginning."""
    shape = shape[: len(signal)]
    reached = (places[:, None] + np.arange(len(shape))) % len(signal)
    np.add.at(signal, reached, heights[:, None] * shape // ONE)


def _burst() -> Signal:
    """Rises evenly, then loses a 32nd of its height with every record."""
    shape = [ONE * place // _RISE for place in range(_RISE)]
    height = ONE
    while height > 32:
        shape.append(height)
        height -= height // 32
    return np.array(shape, dtype=np.int64)


def _plateau(length: int) -> Signal:
    """Rises within 40 records, stays, and falls within 40."""
    edge = np.arange(40) * ONE // 40
    return np.concatenate([edge, np.full(length, ONE), edge[::-1]])


def _with_hits_above(signal: Signal, hits: int) -> Signal:
    """Bends everything above the usual level so that exactly so many values are errors."""
    rows = len(signal)
    ordered = np.partition(signal, [rows - hits - 1, max(rows - hits, 0) % rows, rows - 1])
    below, top = ordered[rows - hits - 1], ordered[-1]
    knee, border = _MF01_KNEE * ONE, ERROR_ABOVE * ONE
    bent = signal.copy()
    middle = (signal > knee) & (signal <= below)
    if below > knee:
        bent[middle] = knee + (signal[middle] - knee) * (border - knee) // (below - knee)
    if hits:
        lowest = ordered[rows - hits]
        above = signal > below
        room = (_MF01_TOP - ERROR_ABOVE - 1) * ONE
        bent[above] = border + ONE + (signal[above] - lowest) * room // max(top - lowest, 1)
    return bent
