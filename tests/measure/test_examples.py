from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from streamgauge.measure.examples import in_words

KEY = {"window": {"start": datetime(2026, 1, 2, 3, 4, 5), "end": datetime(2026, 1, 2, 3, 4, 6)}}
ONE = {"price": 10.5, "latest": datetime(2026, 1, 2, 3, 4, 5, 984_600)}
OTHER = {**ONE, "price": 10.75}
NAME = "window 2026-01-02 03:04:05 to 2026-01-02 03:04:06"
WHOLE = "price 10.5, latest 2026-01-02 03:04:05.984600"


@pytest.mark.parametrize(
    ("faults", "expected", "actual", "text"),
    [
        (["wrong"], [ONE], [OTHER], "price 10.75 instead of 10.5"),
        (["missing"], [ONE], [], f"nothing arrived, expected was {WHOLE}"),
        (["extra"], [], [ONE], f"nothing was expected, {WHOLE} arrived"),
        (["duplicate"], [ONE], [ONE, ONE], "arrived 2 times instead of once"),
        (
            ["duplicate", "wrong"],
            [ONE],
            [ONE, OTHER],
            "price 10.5 and price 10.75 instead of price 10.5, arrived 2 times instead of once",
        ),
    ],
)
def test_a_bad_result_in_words(
    faults: list[str], expected: list[Any], actual: list[Any], text: str
) -> None:
    words = in_words(faults, KEY, expected, actual, 1e-9)
    assert words == f"{' and '.join(faults)}: {NAME}: {text}"


def test_values_that_count_as_equal_are_not_shown_as_different() -> None:
    left, right = {"a": 1.0, "b": 1}, {"a": 1.0 + 1e-12, "b": None}
    assert in_words(["wrong"], {}, [left], [right], 1e-9) == (
        "wrong: the only result: b nothing instead of 1"
    )
