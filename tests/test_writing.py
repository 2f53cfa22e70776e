from __future__ import annotations

import math

import pytest

from streamgauge import writing


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "0 ms"),
        (0.124, "0.12 ms"),
        (3.44, "3.4 ms"),
        (12.3, "12 ms"),
        (999.4, "999 ms"),
        (999.7, "1.00 s"),
        (1234, "1.23 s"),
        (9996, "10.0 s"),
        (59_940, "59.9 s"),
        (59_960, "1 min 00 s"),
        (75_000, "1 min 15 s"),
        (3_720_000, "1 h 02 min"),
        (-1500, "−1.50 s"),
        (math.nan, "–"),
    ],
)
def test_durations(milliseconds: float, text: str) -> None:
    assert writing.duration(milliseconds) == text


@pytest.mark.parametrize(
    ("per_s", "text"),
    [(100_000, "100,000/s"), (99_873.4, "99,873/s"), (0.5, "0.5000/s"), (2, "2/s")],
)
def test_rates(per_s: float, text: str) -> None:
    assert writing.rate(per_s) == text


@pytest.mark.parametrize(
    ("value", "text"), [(99.87, "99.9 %"), (142.3, "142 %"), (0.8, "0.8 %"), (math.inf, "–")]
)
def test_percentages(value: float, text: str) -> None:
    assert writing.percent(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.9, "0.9 MB"), (61.5, "62 MB"), (999.6, "1.00 GB"), (2288, "2.29 GB")]
)
def test_megabytes(value: float, text: str) -> None:
    assert writing.megabytes(value) == text


def test_numbers_of_unknown_kind_keep_what_matters() -> None:
    assert [writing.number(value) for value in (7, 12_345.6, 803.26, 2.5, 0.01234)] == [
        "7",
        "12,346",
        "803.3",
        "2.50",
        "0.0123",
    ]
