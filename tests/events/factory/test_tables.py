"""The business data: the rules of the benchmark, and the same rows in whatever parts."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.errors import ExperimentError
from streamgauge.events.factory.business import Business, Table
from streamgauge.events.factory.csv_text import csv_of
from streamgauge.events.factory.customers import last_names
from streamgauge.events.factory.tables import TABLES

NOW_US = 1_700_000_000_000_000
SMALL = Business(
    seed=1, scale=2, now_us=NOW_US, items=500, districts=3, per_district=40, undelivered=12
)
BY_NAME = {table.name: table for table in TABLES}


def rows(table: str, business: Business = SMALL) -> dict[str, list[Any]]:
    one = BY_NAME[table]
    columns: dict[str, list[Any]] = one.batch(business, 0, one.units(business)).to_pydict()
    return columns


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
@settings(max_examples=20, deadline=None)
@given(cuts=st.lists(st.integers(0, 1_000), max_size=4), seed=st.integers(0, 2**63))
def test_any_part_of_a_table_can_be_made_by_itself(
    table: Table, cuts: list[int], seed: int
) -> None:
    business = Business(seed, 1, NOW_US, 60, 2, 30, 9)
    units = table.units(business)
    borders = sorted({0, units, *(cut % units for cut in cuts)})
    parts = [table.batch(business, first, last) for first, last in pairwise(borders)]
    whole = table.batch(business, 0, units)
    assert pa.Table.from_batches(parts).combine_chunks().to_batches() == [whole]


def test_one_seed_gives_the_same_bytes() -> None:
    digest = xxhash.xxh3_64()
    for table in TABLES:
        digest.update(csv_of(table.batch(SMALL, 0, table.units(SMALL))))
    assert digest.hexdigest() == "326655bf8861fcfa"


def test_the_full_size_is_that_of_the_benchmark() -> None:
    business = Business(seed=1, scale=3, now_us=NOW_US)
    assert {table.name: table.units(business) for table in TABLES} == {
        "item": 100_000,
        "workplace": 31,
        "customer": 90_000,
        "orders": 90_000,
        "order_line": 90_000,
        "production_order": 90_000,
        "production_order_line": 90_000,
    }
    lines = rows("orders", Business(seed=1, scale=1, now_us=NOW_US))["o_ol_cnt"]
    assert abs(sum(lines) - 300_000) < 3_000
    assert {min(lines), max(lines)} == {5, 15}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_the_primary_key_is_unique(table: Table) -> None:
    columns = rows(table.name)
    keys = list(zip(*(columns[name] for name in table.key), strict=True))
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_texts_and_decimals_fit_their_types(table: Table) -> None:
    batch = table.batch(SMALL, 0, table.units(SMALL))
    for column in table.columns:
        if column.sql.startswith("varchar"):
            longest = pc.max(pc.utf8_length(batch[column.name])).as_py()
            assert longest <= int(column.sql[8:-1])


def test_items() -> None:
    found = rows("item")
    assert found["i_id"] == list(range(1, 501))
    assert {14, 24} == {min(map(len, found["i_name"])), max(map(len, found["i_name"]))}
    assert {26, 50} == {min(map(len, found["i_data"])), max(map(len, found["i_data"]))}
    assert all(1 <= price <= 100 for price in found["i_price"])
    assert 30 <= sum("original" in data for data in found["i_data"]) <= 75


def test_workplaces_one_and_two_are_never_and_always_down() -> None:
    found = rows("workplace")
    assert found["wp_id"] == list(range(21))
    spans = [
        end - start
        for start, end in zip(found["wp_downtime_start"], found["wp_downtime_end"], strict=True)
    ]
    assert spans[1] == timedelta(0)
    assert spans[2] == timedelta(days=46)
    assert set(spans) == {timedelta(0), timedelta(days=46)}
    many = rows("workplace", Business(seed=1, scale=400, now_us=NOW_US))
    down = sum(a != b for a, b in zip(*list(many.values())[2:], strict=True))
    assert abs(down / 4_001 - 0.4) < 0.03


def test_customers() -> None:
    found = rows("customer")
    assert found["c_id"][:2] == [1_010_001, 1_010_002]
    assert found["c_id"][-1] == 2_030_040
    assert found["c_last"][:2] == ["BARBARBAR", "BARBAROUGHT"]
    assert {len(one) for one in found["c_zip"]} == {9}
    assert {len(one) for one in found["c_phone"]} == {16}
    assert set(found["c_credit"]) == {"GC", "BC"}
    assert {float(one) for one in found["c_balance"]} == {-10.0}
    assert all(0 <= one <= 0.5 for one in found["c_discount"])
    assert all(300 <= len(one) <= 500 for one in found["c_data"])


def test_last_names_are_those_of_tpc_c() -> None:
    assert last_names()[371].as_py() == "PRICALLYOUGHT"
    business = Business(seed=5, scale=1, now_us=NOW_US)
    names = BY_NAME["customer"].batch(business, 0, 3_000)["c_last"].to_pylist()
    assert len(set(names[:1_000])) == 1_000
    assert set(names[1_000:]) <= set(names[:1_000])


def test_every_customer_of_a_district_has_one_order_and_the_join_works() -> None:
    customers, orders = rows("customer")["c_id"], rows("orders")["o_c_id"]
    assert orders[:40] != customers[:40]
    for first in range(0, 240, 40):
        assert sorted(orders[first : first + 40]) == customers[first : first + 40]


def test_the_newest_orders_are_not_delivered() -> None:
    orders, lines = rows("orders"), rows("order_line")
    new = {
        number
        for place, number in enumerate(orders["o_id"])
        if orders["o_carrier_id"][place] is None
    }
    assert len(new) == 2 * 3 * 12
    assert all(number % 10_000 > 28 for number in new)
    for order, date, amount in zip(
        lines["ol_o_id"], lines["ol_delivery_d"], lines["ol_amount"], strict=True
    ):
        assert (order in new) == (date is None) == (amount == 0)


def test_every_order_line_has_a_production_order_and_a_line_of_it() -> None:
    orders, lines = rows("orders"), rows("order_line")
    keys = list(zip(lines["ol_o_id"], lines["ol_number"], strict=True))
    counted = [
        (order, number)
        for order, count in zip(orders["o_id"], orders["o_ol_cnt"], strict=True)
        for number in range(1, count + 1)
    ]
    assert keys == counted
    production, steps = rows("production_order"), rows("production_order_line")
    assert list(zip(production["po_o_id"], production["po_ol_number"], strict=True)) == keys
    assert list(zip(steps["pol_o_id"], steps["pol_ol_number"], strict=True)) == keys
    assert set(steps["pol_number"]) == {1}
    assert set(steps["pol_wp_id"]) == set(range(21))
    assert steps["pol_i_id"] == lines["ol_i_id"]
    assert set(steps["pol_start_ts"] + steps["pol_end_ts"]) == {None}


@pytest.mark.parametrize("scale", [0, -1, 1_001])
def test_an_impossible_scale_is_refused(scale: int) -> None:
    with pytest.raises(ExperimentError, match="warehouses"):
        Business(seed=1, scale=scale, now_us=NOW_US)
