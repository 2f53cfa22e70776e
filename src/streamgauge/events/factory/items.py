"""The table of items, and that of workplaces with their planned downtimes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from streamgauge.events.factory.business import (
    MOMENT,
    Business,
    Table,
    decimal,
    decimals,
    integer,
    moment,
    text,
)
from streamgauge.events.factory.texts import characters, joined

_ORIGINAL = b"original"
NEVER_DOWN, ALWAYS_DOWN = 1, 2
"""The workplaces of the two sensor streams."""
DOWN_US = 23 * 86_400 * 1_000_000
"""A downtime begins so long before the import, and ends so long after it."""


def _items(business: Business, first: int, last: int) -> list[pa.Array]:
    price = business.whole("item.i_price", first, last, 100, 10_000)
    return [
        pa.array(np.arange(first + 1, last + 1)),
        pa.array(business.whole("item.i_im_id", first, last, 1, 10_000)),
        business.text("item.i_name", first, last, 14, 24),
        decimals(price, 5, 2),
        _item_data(business, first, last),
    ]


def _item_data(business: Business, first: int, last: int) -> pa.Array:
    """Texts; one in ten has the word "original" somewhere."""
    rows, lengths = characters(business.seed, "item.i_data", first, last, length=(26, 50))
    chosen = np.flatnonzero(business.whole("item.original", first, last, 0, 9) == 0)
    places = business.draw("item.original_place", first, last)[chosen] % (
        lengths[chosen] - len(_ORIGINAL) + 1
    ).astype(np.uint64)
    columns = places.astype(np.int64)[:, None] + np.arange(len(_ORIGINAL))
    rows[chosen[:, None], columns] = np.frombuffer(_ORIGINAL, dtype=np.uint8)
    return joined(rows, lengths)


def _workplaces(business: Business, first: int, last: int) -> list[pa.Array]:
    """A workplace without downtime has one that ends when it begins."""
    numbers = np.arange(first, last)
    down = business.whole("workplace.down", first, last, 1, 10) <= 4
    down = (down | (numbers == ALWAYS_DOWN)) & (numbers != NEVER_DOWN)
    around = np.where(down, DOWN_US, 0)
    return [
        pa.array(numbers),
        pa.array(np.zeros(len(numbers), dtype=np.int64)),
        pa.array(business.now_us - around, type=MOMENT),
        pa.array(business.now_us + around, type=MOMENT),
    ]


ITEM = Table(
    name="item",
    columns=(
        integer("i_id"),
        integer("i_im_id"),
        text("i_name", 24),
        decimal("i_price", 5, 2),
        text("i_data", 50),
    ),
    key=("i_id",),
    units=lambda business: business.items,
    make=_items,
    per_part=25_000,
)
WORKPLACE = Table(
    name="workplace",
    columns=(
        integer("wp_id"),
        integer("wp_dt_id"),
        moment("wp_downtime_start"),
        moment("wp_downtime_end"),
    ),
    key=("wp_id", "wp_dt_id"),
    units=lambda business: business.workplaces,
    make=_workplaces,
)
