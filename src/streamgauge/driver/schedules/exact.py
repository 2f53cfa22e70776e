"""Exact integer arithmetic on arrays whose products do not fit into 64 bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MAX_QUOTIENT = 2**51

Whole = NDArray[np.int64] | int


def multiply_divide(
    a: NDArray[np.int64], b: Whole, c: Whole
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Quotient and remainder of a·b / c, for whole numbers a ≥ 0, b ≥ 0, c ≥ 1.

    None of them, nor the quotient, may exceed 2**51. A product of a long run (1e10 events
    times 8.6e10 µs) overflows, so floating point finds the quotient to within one, and the
    remainder, small enough to be right modulo 2**64, corrects it. The result is exact
    and does not depend on how the machine rounds.
    """
    quotient = (a.astype(np.float64) * b / c).astype(np.int64)
    with np.errstate(over="ignore"):
        remainder = a * b - quotient * c
    over = (remainder >= c).astype(np.int64) - (remainder < 0)
    return quotient + over, remainder - over * c
