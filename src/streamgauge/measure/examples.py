"""Results that are not as expected, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

Values = Mapping[str, Any]


def in_words(
    faults: Sequence[str],
    key: Values,
    expected: Sequence[Values],
    actual: Sequence[Values],
    tolerance: float,
) -> str:
    """`wrong: gem_pack 18: average_price 10.15 instead of 10.10`."""
    name = _all(key) or "the only result"
    return f"{' and '.join(faults)}: {name}: {_difference(expected, actual, tolerance)}"


def _difference(expected: Sequence[Values], actual: Sequence[Values], tolerance: float) -> str:
    if not actual:
        return f"nothing arrived, expected was {_listed(expected)}"
    if not expected:
        return f"nothing was expected, {_listed(actual)} arrived"
    unlike = [
        name
        for name in expected[0]
        if not all(_same(one[name], expected[0][name], tolerance) for one in (*expected, *actual))
    ]
    texts = []
    if len(expected) == len(actual) == 1:
        left, right = expected[0], actual[0]
        texts = [f"{name} {_text(right[name])} instead of {_text(left[name])}" for name in unlike]
    elif unlike:
        shown = [
            [{name: one[name] for name in unlike} for one in side] for side in (actual, expected)
        ]
        texts = [f"{_listed(shown[0])} instead of {_listed(shown[1])}"]
    if len(actual) != len(expected):
        texts.append(f"arrived {_times(len(actual))} instead of {_times(len(expected))}")
    return ", ".join(texts)


def _same(left: object, right: object, tolerance: float) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=tolerance)
    return left == right


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _listed(results: Sequence[Values]) -> str:
    return " and ".join(map(_all, results))


def _all(values: Values) -> str:
    return ", ".join(f"{name} {_text(value)}" for name, value in values.items())


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, datetime):
        return value.isoformat(" ", "auto")
    if isinstance(value, dict):
        # A window is its start and its end.
        return " to ".join(map(_text, value.values()))
    return "nothing" if value is None else str(value)
