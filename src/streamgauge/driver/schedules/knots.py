"""Schedules given by knots, with the events spread evenly between them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge.driver.schedules.base import Schedule
from streamgauge.driver.schedules.exact import MAX_QUOTIENT, multiply_divide
from streamgauge.driver.schedules.parameters import require_possible, require_possible_peak

BILLIONTHS = 10**9


class KnotSchedule(Schedule):
    """At each knot a whole number of events has been due; between knots they are evenly spread.

    Event n of [C_j, C_j+1) is due at T_j + (n − C_j)·(T_j+1 − T_j) // (C_j+1 − C_j).
    The load may end before the last knot, so that a rate which does not give a whole number of
    events is kept exactly.
    """

    def __init__(
        self, knots_us: ArrayLike, counts: ArrayLike, duration_us: int | None = None
    ) -> None:
        self._knots_us = np.array(knots_us, dtype=np.int64)
        self._counts = np.array(counts, dtype=np.int64)
        _check_knots(self._knots_us, self._counts)
        self._spans_us = np.diff(self._knots_us)
        self._sizes = np.diff(self._counts)
        end_us = int(self._knots_us[-1])
        self.duration_us = end_us if duration_us is None else duration_us
        if not 0 < self.duration_us <= end_us:
            raise ValueError(f"duration {duration_us} µs is not within the knots, (0, {end_us}]")

    def times_us(self, sequence: NDArray[np.int64]) -> NDArray[np.int64]:
        self._require_scheduled(sequence)
        if not sequence.size:
            return np.empty(0, dtype=np.int64)
        low, high = self._segments(np.array([sequence.min(), sequence.max()]))
        if low == high:
            return self._times_within(int(low), sequence)
        segment = self._segments(sequence)
        offset, _ = multiply_divide(
            sequence - self._counts[segment], self._spans_us[segment], self._sizes[segment]
        )
        return self._knots_us[segment] + offset

    def _times_within(self, segment: int, sequence: NDArray[np.int64]) -> NDArray[np.int64]:
        # A driver asks for events mostly of one segment and with small products. The look-ups of
        # knots and the intermediate arrays, most of the cost, are not needed then.
        span_us, size = int(self._spans_us[segment]), int(self._sizes[segment])
        times_us: NDArray[np.int64] = sequence - self._counts[segment]
        if span_us * size < 2**63:
            times_us *= span_us
            times_us //= size
        else:
            times_us, _ = multiply_divide(times_us, span_us, size)
        times_us += int(self._knots_us[segment])
        return times_us

    def _segments(self, sequence: NDArray[np.int64]) -> NDArray[np.int64]:
        # The last knot with at most that count, which skips segments without events.
        return self._counts.searchsorted(sequence, side="right") - 1

    def counts_before(self, times_us: NDArray[np.int64]) -> NDArray[np.int64]:
        times_us = np.clip(times_us, 0, self.duration_us)
        segment = np.maximum(self._knots_us.searchsorted(times_us, side="left") - 1, 0)
        whole, rest = multiply_divide(
            times_us - self._knots_us[segment], self._sizes[segment], self._spans_us[segment]
        )
        return self._counts[segment] + whole + (rest > 0)


def _check_knots(knots_us: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
    if knots_us.ndim != 1 or knots_us.shape != counts.shape or knots_us.size < 2:
        raise ValueError("a schedule needs two or more knots, each with a time and a count")
    if knots_us[0] != 0 or counts[0] != 0:
        raise ValueError("the first knot must be 0 events at time 0")
    if (np.diff(knots_us) <= 0).any() or (np.diff(counts) < 0).any():
        raise ValueError("times of knots must increase, and counts must not decrease")
    if knots_us[-1] > MAX_QUOTIENT or counts[-1] > MAX_QUOTIENT:
        raise ValueError("the last knot is beyond what can be computed exactly")


def piecewise(
    *, duration_us: int, starts_us: Sequence[int], factors: Sequence[int], rate: Fraction
) -> KnotSchedule:
    """Constant rates one after the other.

    From `starts_us[j]` on, the rate is `factors[j]` billionths of `rate` per second. Starts
    begin at 0 and increase; those at or after the end of the load are left out.
    """
    starts = [start for start in starts_us if start < duration_us]
    knots = [*starts, duration_us]
    require_possible_peak(rate * max(factors[: len(starts)]) / BILLIONTHS)
    # Python's integers, because billionths of a day in microseconds overflow 64 bits.
    segments = zip(factors, starts, knots[1:], strict=False)
    done = accumulate((factor * (end - start) for factor, start, end in segments), initial=0)
    unit = rate / (BILLIONTHS * 1_000_000)
    half, whole = unit.denominator, 2 * unit.denominator
    counts = [(2 * unit.numerator * part + half) // whole for part in done]
    require_possible(counts[-1])
    return KnotSchedule(knots, counts)
