"""The table of customers, with the last names of TPC-C."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from streamgauge.events.factory.business import (
    Business,
    Table,
    constant,
    decimal,
    decimals,
    integer,
    moment,
    text,
)
from streamgauge.events.factory.texts import DIGITS, LETTERS

_SYLLABLES = ("BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING")
_NAMES = 1_000


@lru_cache(maxsize=1)
def last_names() -> pa.Array:
    """The names 0 to 999: a syllable for each of the three digits."""
    digits = ((number // 100, number // 10 % 10, number % 10) for number in range(_NAMES))
    return pa.array(["".join(_SYLLABLES[one] for one in name) for name in digits])


def nurand(
    business: Business, column: str, first: int, last: int, spread: int, low: int, high: int
) -> NDArray[np.int64]:
    """Non-uniform random numbers of TPC-C, from low to high; the spread is its constant A."""
    shift = business.whole(f"{column}.constant", 0, 1, 0, spread)[0]
    either = business.whole(f"{column}.either", first, last, 0, spread)
    other = business.whole(column, first, last, low, high)
    numbers: NDArray[np.int64] = ((either | other) + shift) % (high - low + 1) + low
    return numbers


def _last_name(business: Business, first: int, last: int) -> pa.Array:
    """The first thousand customers of a district have all names, the others popular ones."""
    local = np.arange(first, last) % business.per_district
    popular = nurand(business, "customer.c_last", first, last, 255, 0, _NAMES - 1)
    return last_names().take(pa.array(np.where(local < _NAMES, local, popular)))


def _customers(business: Business, first: int, last: int) -> list[pa.Array]:
    count = last - first
    zips = business.text("customer.c_zip", first, last, 4, 4, DIGITS)
    bad = pa.array(business.whole("customer.c_credit", first, last, 1, 10) == 1)
    discount = business.whole("customer.c_discount", first, last, 0, 5_000)

    def same(number: int) -> NDArray[np.int64]:
        return np.full(count, number, dtype=np.int64)

    return [
        pa.array(business.ids(np.arange(first, last))),
        business.text("customer.c_first", first, last, 8, 16),
        constant("OE", pa.string(), count),
        _last_name(business, first, last),
        business.text("customer.c_street_1", first, last, 10, 20),
        business.text("customer.c_street_2", first, last, 10, 20),
        business.text("customer.c_city", first, last, 10, 20),
        business.text("customer.c_state", first, last, 2, 2, LETTERS),
        pc.binary_join_element_wise(zips, pa.scalar("11111"), ""),
        business.text("customer.c_phone", first, last, 16, 16, DIGITS),
        business.now(count),
        pc.if_else(bad, "BC", "GC"),
        decimals(same(50_000_00), 12, 2),
        decimals(discount, 4, 4),
        decimals(same(-10_00), 12, 2),
        decimals(same(10_00), 12, 2),
        pa.array(same(1)),
        pa.array(same(0)),
        business.text("customer.c_data", first, last, 300, 500),
    ]


CUSTOMER = Table(
    name="customer",
    columns=(
        integer("c_id"),
        text("c_first", 16),
        text("c_middle", 2),
        text("c_last", 16),
        text("c_street_1", 20),
        text("c_street_2", 20),
        text("c_city", 20),
        text("c_state", 2),
        text("c_zip", 9),
        text("c_phone", 16),
        moment("c_since"),
        text("c_credit", 2),
        decimal("c_credit_lim", 12, 2),
        decimal("c_discount", 4, 4),
        decimal("c_balance", 12, 2),
        decimal("c_ytd_payment", 12, 2),
        integer("c_payment_cnt"),
        integer("c_delivery_cnt"),
        text("c_data", 500),
    ),
    key=("c_id",),
    units=lambda business: business.orders,
    make=_customers,
)
