"""The stream of production times: products that enter workplaces and leave them, as lines of text.

A line is `o_id`, `ol_number`, `pol_number` and `pt_is_end` with tabs between them: 0 enters, 1
leaves. Every line of a production order enters once, and leaves once, later.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from streamgauge.events.factory.business import Business
from streamgauge.events.factory.draws import below, draw
from streamgauge.events.factory.orders import order_lines

ENTERS, LEAVES = 0, 1
_LONGEST_STAY = 20_000
"""Products that enter at most before one that is in a workplace leaves."""


def production_lines(*, seed: int, scale: int, rows: int | None = None) -> pa.Table:
    """The whole stream in a column `line`, or its first rows."""
    return lines_of(Business(seed, scale, now_us=0), rows)


def lines_of(business: Business, rows: int | None = None) -> pa.Table:
    """The stream of a factory; the products are mixed at random."""
    lines = order_lines(business, 0, business.orders)
    product, is_end = _sequence(business.seed, len(lines.order))
    product, is_end = product[:rows], is_end[:rows]
    columns = (business.ids(lines.order[product]), lines.number[product])
    texts = [pa.array(column).cast(pa.string()) for column in columns]
    ends = pc.if_else(pa.array(is_end), f"1\t{LEAVES}", f"1\t{ENTERS}")
    return pa.table({"line": pc.binary_join_element_wise(*texts, ends, "\t")})


def _sequence(seed: int, products: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The products in the order of the stream, and whether each leaves."""
    entering = np.argsort(draw(seed, "production.enters", 0, products), kind="stable")
    stay = 1 + below(draw(seed, "production.stay", 0, products), min(_LONGEST_STAY, products))
    place = np.arange(products)
    # Who enters at a place comes before who leaves there: it entered earlier.
    times = np.concatenate([2 * place, 2 * (place + stay) - 1])
    order = np.argsort(times, kind="stable")
    return entering[order % products], order >= products
