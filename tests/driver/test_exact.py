"""Products beyond 64 bits are divided exactly."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from streamgauge.driver.schedules.exact import MAX_QUOTIENT, multiply_divide

numbers = st.integers(0, MAX_QUOTIENT)


@settings(deadline=None)
@given(numbers, numbers, st.integers(1, MAX_QUOTIENT))
@example(MAX_QUOTIENT, MAX_QUOTIENT, MAX_QUOTIENT)
@example(MAX_QUOTIENT - 1, MAX_QUOTIENT, MAX_QUOTIENT)
@example(MAX_QUOTIENT, MAX_QUOTIENT - 1, MAX_QUOTIENT)
# Here floating point is one too high, and one too low.
@example(2_053_037_530_959_451, 1_653_661_694, 1_653_661_695)
@example(2_167_371_640_459_031, 332_491_172, 332_491_173)
@example(9_999_999_999, 86_400_000_000, 10_000_000_000)
def test_quotient_and_remainder_are_those_of_python(a: int, b: int, c: int) -> None:
    a = min(a, MAX_QUOTIENT * c // b) if b else a
    quotient, remainder = multiply_divide(np.array([a]), b, c)
    assert divmod(a * b, c) == (quotient[0], remainder[0])
    quotient, remainder = multiply_divide(np.array([a]), np.array([b]), np.array([c]))
    assert divmod(a * b, c) == (quotient[0], remainder[0])


@settings(deadline=None)
@given(st.integers(1, 2**25), st.integers(2, 2**25), st.sampled_from([-1, 0, 1]))
def test_products_beside_a_multiple_are_not_rounded_across_it(
    multiple: int, c: int, beside: int
) -> None:
    a, b = multiple * c + beside, c - 1
    quotient, remainder = multiply_divide(np.array([a]), b, c)
    assert divmod(a * b, c) == (quotient[0], remainder[0])
