"""The tables of orders, their lines, and the production orders that belong to the lines.

All of them are made per order, so that any range of orders can be made by itself. The table that
the benchmark calls ORDER is `orders` here, because the former is a reserved word of SQL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from streamgauge.events.factory.business import (
    MOMENT,
    Business,
    Table,
    constant,
    decimal,
    decimals,
    integer,
    moment,
    text,
)

LEAST_LINES, MOST_LINES = 5, 15
_SLOTS = 16
"""Random numbers kept for the lines of an order, so that a line's do not depend on others."""
_QUANTITY = 5


class Lines(NamedTuple):
    """The order lines of a range of orders, a value for each line."""

    order: NDArray[np.int64]
    """The number of the order, from 0 on."""
    number: NDArray[np.int64]
    """The number of the line in its order, from 1 on."""

    def whole(
        self, business: Business, column: str, low: int, high: int, first: int, last: int
    ) -> NDArray[np.int64]:
        drawn = business.whole(column, first * _SLOTS, last * _SLOTS, low, high)
        chosen: NDArray[np.int64] = drawn[self.slots(first)]
        return chosen

    def slots(self, first: int) -> NDArray[np.int64]:
        slots: NDArray[np.int64] = (self.order - first) * _SLOTS + self.number
        return slots


def order_lines(business: Business, first: int, last: int) -> Lines:
    """The lines of the orders [first, last): five to fifteen each."""
    counts = _line_counts(business, first, last)
    begins = np.cumsum(counts) - counts
    order = np.repeat(np.arange(first, last), counts)
    return Lines(order, np.arange(counts.sum()) - np.repeat(begins, counts) + 1)


def _line_counts(business: Business, first: int, last: int) -> NDArray[np.int64]:
    return business.whole("orders.o_ol_cnt", first, last, LEAST_LINES, MOST_LINES)


def _delivered(business: Business, orders: NDArray[np.int64]) -> NDArray[np.bool_]:
    local = orders % business.per_district
    delivered: NDArray[np.bool_] = local < business.per_district - business.undelivered
    return delivered


def _customer_ids(business: Business, first: int, last: int) -> NDArray[np.int64]:
    """Every customer of a district has one order, in random order."""
    size = business.per_district
    found = []
    for district in range(first // size, (last - 1) // size + 1):
        begin = district * size
        drawn = business.draw("orders.o_c_id", begin, begin + size)
        customers = begin + np.argsort(drawn, kind="stable")
        found.append(customers[max(first - begin, 0) : last - begin])
    return business.ids(np.concatenate(found))


def _orders(business: Business, first: int, last: int) -> list[pa.Array]:
    numbers = np.arange(first, last)
    carriers = business.whole("orders.o_carrier_id", first, last, 1, 10)
    return [
        pa.array(business.ids(numbers)),
        pa.array(_customer_ids(business, first, last)),
        business.now(last - first),
        pa.array(carriers, mask=~_delivered(business, numbers)),
        pa.array(_line_counts(business, first, last)),
        constant(1, pa.int32(), last - first),
    ]


def _items_of(business: Business, lines: Lines, first: int, last: int) -> pa.Array:
    return pa.array(lines.whole(business, "order_line.ol_i_id", 1, business.items, first, last))


def _order_lines(business: Business, first: int, last: int) -> list[pa.Array]:
    lines = order_lines(business, first, last)
    count = len(lines.order)
    delivered = _delivered(business, lines.order)
    amount = lines.whole(business, "order_line.ol_amount", 10, 10_000, first, last)
    warehouse = lines.order // (business.districts * business.per_district) + 1
    places = business.text("order_line.ol_dist_info", first * _SLOTS, last * _SLOTS, 24, 24)
    return [
        pa.array(business.ids(lines.order)),
        pa.array(lines.number),
        _items_of(business, lines, first, last),
        pa.array(warehouse),
        pc.if_else(pa.array(delivered), business.now(count), pa.scalar(None, MOMENT)),
        constant(_QUANTITY, pa.int32(), count),
        decimals(np.where(delivered, amount, 0), 6, 2),
        places.take(pa.array(lines.slots(first))),
    ]


def _production_orders(business: Business, first: int, last: int) -> list[pa.Array]:
    lines = order_lines(business, first, last)
    return [
        pa.array(business.ids(lines.order)),
        pa.array(lines.number),
        business.now(len(lines.order)),
    ]


def _production_order_lines(business: Business, first: int, last: int) -> list[pa.Array]:
    """One step for each line: what was ordered, at some workplace."""
    lines = order_lines(business, first, last)
    count = len(lines.order)
    workplace = lines.whole(
        business, "production_order_line.pol_wp_id", 0, business.workplaces - 1, first, last
    )
    return [
        pa.array(business.ids(lines.order)),
        pa.array(lines.number),
        constant(1, pa.int32(), count),
        _items_of(business, lines, first, last),
        constant(_QUANTITY, pa.int32(), count),
        pa.array(workplace),
        pa.nulls(count, MOMENT),
        pa.nulls(count, MOMENT),
    ]


def _units(business: Business) -> int:
    return business.orders


ORDERS = Table(
    name="orders",
    columns=(
        integer("o_id"),
        integer("o_c_id"),
        moment("o_entry_d"),
        integer("o_carrier_id"),
        integer("o_ol_cnt"),
        integer("o_all_local"),
    ),
    key=("o_id",),
    units=_units,
    make=_orders,
)
ORDER_LINE = Table(
    name="order_line",
    columns=(
        integer("ol_o_id"),
        integer("ol_number"),
        integer("ol_i_id"),
        integer("ol_supply_w_id"),
        moment("ol_delivery_d"),
        integer("ol_quantity"),
        decimal("ol_amount", 6, 2),
        text("ol_dist_info", 24),
    ),
    key=("ol_o_id", "ol_number"),
    units=_units,
    make=_order_lines,
)
PRODUCTION_ORDER = Table(
    name="production_order",
    columns=(integer("po_o_id"), integer("po_ol_number"), moment("po_date")),
    key=("po_o_id", "po_ol_number"),
    units=_units,
    make=_production_orders,
)
PRODUCTION_ORDER_LINE = Table(
    name="production_order_line",
    columns=(
        integer("pol_o_id"),
        integer("pol_ol_number"),
        integer("pol_number"),
        integer("pol_i_id"),
        integer("pol_quantity"),
        integer("pol_wp_id"),
        moment("pol_start_ts"),
        moment("pol_end_ts"),
    ),
    key=("pol_o_id", "pol_ol_number", "pol_number"),
    units=_units,
    make=_production_order_lines,
    changes=True,
)
