"""Sizes in human units."""

from __future__ import annotations

import pytest

from streamgauge.units import parse_bytes


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (0, 0),
        ("17", 17),
        ("1 B", 1),
        ("5 MB", 5_000_000),
        ("1.5kB", 1_500),
        ("4 KiB", 4_096),
        ("2 GiB", 2 << 30),
        ("1_000 TB", 10**15),
    ],
)
def test_a_size_is_read(text: object, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["5 mb", "1.5 B", "-1 MB", "MB", True, None, "1 MB/s"])
def test_what_is_no_size_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match=r"unit|size|whole number of bytes"):
        parse_bytes(text)
