"""Production times: everything enters once and leaves once, later."""

from __future__ import annotations

from collections import Counter

import pytest
import xxhash

from streamgauge.events.factory.business import Business
from streamgauge.events.factory.orders import order_lines
from streamgauge.events.factory.production import lines_of, production_lines


@pytest.mark.parametrize("seed", [1, 2])
def test_every_line_of_a_production_order_enters_once_and_leaves_once_later(seed: int) -> None:
    business = Business(seed=seed, scale=1, now_us=0, districts=2, per_district=50)
    stream = [line.split("\t") for line in lines_of(business)["line"].to_pylist()]
    lines = order_lines(business, 0, business.orders)
    keys = set(zip(business.ids(lines.order).tolist(), lines.number.tolist(), strict=True))
    entered: set[tuple[int, int]] = set()
    left: set[tuple[int, int]] = set()
    for order, line, number, is_end in stream:
        assert number == "1"
        product = (int(order), int(line))
        if is_end == "0":
            assert product not in entered
            entered.add(product)
        else:
            assert product in entered - left
            left.add(product)
    assert entered == left == keys


def test_orders_are_mixed_and_both_kinds_come_throughout() -> None:
    stream = [line.split("\t") for line in production_lines(seed=1, scale=1)["line"].to_pylist()]
    assert abs(len(stream) - 600_000) < 6_000
    assert len({order for order, *_ in stream[:1_000]}) > 900
    for begin in range(50_000, len(stream) - 50_000, 50_000):
        kinds = Counter(is_end for *_, is_end in stream[begin : begin + 1_000])
        assert min(kinds["0"], kinds["1"]) > 400


def test_the_first_rows_are_those_of_the_whole() -> None:
    whole = production_lines(seed=1, scale=1)["line"].to_pylist()
    assert production_lines(seed=1, scale=1, rows=500)["line"].to_pylist() == whole[:500]
    assert xxhash.xxh3_64_hexdigest("\n".join(whole).encode()) == "9e9a72458cb9975f"
