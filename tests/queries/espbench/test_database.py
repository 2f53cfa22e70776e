"""The database of the business data, on a real PostgreSQL."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from streamgauge.errors import ComponentError, ExperimentError
from streamgauge.events.factory.csv_text import csv_of
from streamgauge.events.factory.orders import PRODUCTION_ORDER_LINE
from streamgauge.events.factory.production import lines_of
from streamgauge.events.factory.tables import TABLES
from streamgauge.queries.espbench.database import PERSISTED, BusinessDatabase, open_database
from streamgauge.references import revealed

from .conftest import NOW_US, SMALL

# One server for all of them.
pytestmark = pytest.mark.xdist_group("business database")
KEYS = PERSISTED.names[:4]


def production() -> pa.Table:
    """The whole stream of production times, as rows."""
    lines = [line.split("\t") for line in lines_of(SMALL)["line"].to_pylist()]
    columns = [pa.array([int(value) for value in one]) for one in zip(*lines, strict=True)]
    return pa.Table.from_arrays(columns, KEYS)


def persisted(database: BusinessDatabase) -> pa.Table:
    table = pa.Table.from_batches(database.persisted(), PERSISTED)
    return table.sort_by([(name, "ascending") for name in KEYS])


def keys(table: pa.Table) -> list[tuple[int, ...]]:
    columns = [table[name].to_pylist() for name in KEYS]
    return sorted(zip(*columns, strict=True))


def test_all_rows_arrive_as_they_were_made(database: BusinessDatabase, server: str) -> None:
    with psycopg.connect(revealed(server)) as connection:
        connection.execute("SET timezone = 'UTC'")
        for table in TABLES:
            made = table.batch(SMALL, 0, table.units(SMALL))
            assert database.count(table) == made.num_rows
            query = f"SELECT * FROM {table.name} ORDER BY {', '.join(table.key)}"
            rows = connection.execute(query.encode()).fetchall()
            columns = [
                pa.array(values, field.type)
                for values, field in zip(zip(*rows, strict=True), made.schema, strict=True)
            ]
            assert pa.record_batch(columns, schema=made.schema).equals(made), table.name


def test_tables_have_a_primary_key_and_nothing_more(
    database: BusinessDatabase, server: str
) -> None:
    with psycopg.connect(revealed(server)) as connection:
        query = "SELECT indexname FROM pg_indexes WHERE schemaname = 'public'"
        found = {name for (name,) in connection.execute(query).fetchall()}
    assert found == {f"{table.name}_pkey" for table in TABLES}
    database.reset()
    with psycopg.connect(revealed(server)) as connection:
        assert len(connection.execute(query).fetchall()) == len(TABLES)


def test_the_same_part_copied_again_makes_no_difference(database: BusinessDatabase) -> None:
    before = database.count(PRODUCTION_ORDER_LINE)
    database.copy(PRODUCTION_ORDER_LINE, [PRODUCTION_ORDER_LINE.batch(SMALL, 0, 7)])
    assert database.count(PRODUCTION_ORDER_LINE) == before


def test_a_copy_that_breaks_off_leaves_nothing(database: BusinessDatabase) -> None:
    database.create(TABLES)

    def broken() -> object:
        yield PRODUCTION_ORDER_LINE.batch(SMALL, 0, 7)
        raise RuntimeError("the maker broke")

    with pytest.raises(RuntimeError, match="broke"):
        database.copy(PRODUCTION_ORDER_LINE, broken())  # type: ignore[arg-type]
    assert database.count(PRODUCTION_ORDER_LINE) == 0
    database.copy(PRODUCTION_ORDER_LINE, [PRODUCTION_ORDER_LINE.batch(SMALL, 0, 7)])
    assert database.count(PRODUCTION_ORDER_LINE) > 0


def test_a_downtime_can_be_read_and_changed(database: BusinessDatabase) -> None:
    before = database.downtimes()
    assert before["workplace"].to_pylist() == list(range(11))
    assert before["start"][1] == before["end"][1]
    assert before["start"][2].as_py() < before["end"][2].as_py()
    database.set_downtime(1, NOW_US - 5, NOW_US + 7)
    after = database.downtimes()
    assert after["start"].cast(pa.int64())[1].as_py() == NOW_US - 5
    assert after["end"].cast(pa.int64())[1].as_py() == NOW_US + 7
    assert after.slice(2) == before.slice(2)


def test_starts_and_ends_are_persisted_with_the_time_of_the_database(
    database: BusinessDatabase,
) -> None:
    rows = production()
    begin_us = time.time_ns() // 1_000
    half = rows.num_rows // 2
    database.persist(rows.slice(0, half))
    assert keys(persisted(database)) == keys(rows.slice(0, half))
    database.persist(rows.slice(half))
    found = persisted(database)
    assert keys(found) == keys(rows)
    times = found["time_us"]
    assert begin_us <= pc.min(times).as_py() <= pc.max(times).as_py() <= time.time_ns() // 1_000


def test_the_first_write_wins(database: BusinessDatabase) -> None:
    rows = production().slice(0, 300)
    database.persist(rows)
    first = persisted(database)
    database.persist(pa.concat_tables([rows, rows]))
    assert persisted(database) == first


def test_a_start_given_again_with_its_end_stays(database: BusinessDatabase) -> None:
    start = production().slice(0, 1)
    end = start.set_column(3, "is_end", pa.array([1]))
    database.persist(start)
    first = persisted(database)
    database.persist(pa.concat_tables([start, end]))
    both = persisted(database)
    assert both.num_rows == 2
    assert both.slice(0, 1) == first
    database.persist(pa.concat_tables([start, end]))
    assert persisted(database) == both


def test_a_row_given_twice_in_one_batch_and_unknown_lines_do_no_harm(
    database: BusinessDatabase,
) -> None:
    row = production().slice(0, 1)
    unknown = pa.table({name: pa.array([9]) for name in KEYS[:3]} | {"is_end": pa.array([0])})
    database.persist(pa.concat_tables([row, row, unknown]))
    assert keys(persisted(database)) == keys(row)
    database.persist(row.slice(1))


def test_writers_of_the_same_lines_at_once_lose_nothing(
    database: BusinessDatabase, server: str
) -> None:
    rows = production()
    count = 4

    def write(part: int) -> None:
        with open_database(server) as own:
            mine = pa.array([place for place in range(rows.num_rows) if place % count == part])
            taken = rows.take(mine)
            for begin in range(0, taken.num_rows, 50):
                own.persist(taken.slice(begin, 50))

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(write, range(count)))
    assert keys(persisted(database)) == keys(rows)


def test_the_count_is_exact_as_soon_as_nothing_is_written(
    database: BusinessDatabase, server: str
) -> None:
    rows = production()
    assert database.persisted_count() == 0
    with open_database(server) as writer:
        for begin in range(0, 300, 50):
            writer.persist(rows.slice(begin, 50))
            assert database.persisted_count() <= begin + 50
            if begin % 100:
                assert database.persisted_count() == begin + 50
        writer.persist(rows.slice(300, 1))
        assert database.persisted_count(exact=True) == 301


def test_a_long_transaction_is_counted_when_it_ends_last(
    database: BusinessDatabase, server: str
) -> None:
    rows = production()
    order, line, number, _ = (rows[name][0].as_py() for name in KEYS)
    with psycopg.connect(revealed(server)) as slow:
        slow.execute(
            "UPDATE production_order_line SET pol_end_ts = now()"
            " WHERE (pol_o_id, pol_ol_number, pol_number) = (%s, %s, %s)",
            [order, line, number],
        )
        database.persist(rows.slice(1, 10))
        assert database.persisted_count() == 10
        assert database.persisted_count() == 10
        slow.commit()
        database.persisted_count()
        assert database.persisted_count() == 11


def test_a_reset_removes_all_times_and_keeps_the_lines(database: BusinessDatabase) -> None:
    rows = production()
    before = database.count(PRODUCTION_ORDER_LINE)
    database.persist(rows)
    database.reset()
    assert database.persisted_count() == 0
    assert list(database.persisted()) == []
    assert database.count(PRODUCTION_ORDER_LINE) == before
    database.persist(rows)
    assert keys(persisted(database)) == keys(rows)


def test_a_database_without_the_tables_says_how_to_fill_it(
    database: BusinessDatabase, server: str
) -> None:
    with psycopg.connect(revealed(server), autocommit=True) as connection:
        connection.execute("DROP TABLE production_order_line")
    with pytest.raises(ComponentError, match="no business data") as refused:
        database.persisted_count()
    assert "streamgauge data espbench" in refused.value.fix


@pytest.mark.parametrize(
    ("address", "problem"),
    [("mysql://here/db", "`mysql`"), ("postgresq://here", "`postgresq`"), ("here", "``")],
)
def test_an_address_without_adapter_is_refused(address: str, problem: str) -> None:
    with pytest.raises(ExperimentError, match=problem) as refused:
        open_database(address)
    assert "postgresql" in refused.value.fix


def test_a_database_that_does_not_answer_is_an_error_without_the_password() -> None:
    with (
        open_database("postgresql://user:sesame@127.0.0.1:1/none") as database,
        pytest.raises(ComponentError) as refused,
    ):
        database.downtimes()
    assert "sesame" not in str(refused.value)


def test_times_and_nulls_have_their_form_in_csv() -> None:
    batch = PRODUCTION_ORDER_LINE.batch(SMALL, 0, 1).slice(0, 1)
    assert csv_of(batch).to_pybytes().endswith(b",,\n")
