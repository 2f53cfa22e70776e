"""The business data in PostgreSQL: set-based statements, and COPY for everything that is much."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import psycopg
import pyarrow as pa
import pyarrow.csv
from psycopg import errors, sql

from streamgauge.errors import ComponentError
from streamgauge.events.factory.business import Table
from streamgauge.events.factory.csv_text import csv_of
from streamgauge.events.factory.orders import PRODUCTION_ORDER_LINE
from streamgauge.queries.espbench.database import DOWNTIMES, PERSISTED, BusinessDatabase

if TYPE_CHECKING:
    from psycopg.sql import Composed

_HALF_FULL = sql.SQL("WITH (fillfactor = 50)")
"""Leaves room for the next version of every row on its page, so an update changes no index."""
_STAGE = "CREATE TEMPORARY TABLE stage (o_id int, ol_number int, pol_number int, is_end int)"
_PERSIST = """
    UPDATE production_order_line AS line SET
        pol_start_ts = CASE WHEN starts AND pol_start_ts IS NULL
            THEN clock_timestamp() ELSE pol_start_ts END,
        pol_end_ts = CASE WHEN ends AND pol_end_ts IS NULL
            THEN clock_timestamp() ELSE pol_end_ts END
    FROM (
        SELECT o_id, ol_number, pol_number,
            bool_or(is_end = 0) AS starts, bool_or(is_end = 1) AS ends
        FROM stage GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ) AS given
    WHERE (pol_o_id, line.pol_ol_number, line.pol_number) = (o_id, ol_number, given.pol_number)
        AND (starts AND pol_start_ts IS NULL OR ends AND pol_end_ts IS NULL)
"""
"""Lines are locked in the order of their keys, so that two writers do not wait for each other."""
_ROW_BY_ROW = "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off"
"""The planner knows nothing about the temporary table and might read the whole of the other."""
_COUNT = "SELECT count(pol_start_ts) + count(pol_end_ts) FROM production_order_line"
_ACTIVITY = """
    SELECT pg_current_snapshot()::text,
        coalesce(pg_stat_get_tuples_updated('production_order_line'::regclass), 0)
"""
"""Which transactions are over, and how many rows were updated since the table was made.

The latter is cheap, late by a second, and too low: an update may set both times of a line.
"""
_PERSISTED = """
    COPY (
        SELECT pol_o_id, pol_ol_number, pol_number, is_end,
            (extract(epoch FROM time) * 1000000)::bigint
        FROM production_order_line,
            LATERAL (VALUES (0, pol_start_ts), (1, pol_end_ts)) AS times (is_end, time)
        WHERE time IS NOT NULL
    ) TO STDOUT WITH (FORMAT csv)
"""
_BLOCK_BYTES = 4_000_000
_TRIES = 3
_ASKED_BETWEEN_COUNTS = 10
"""Even in a database that is never quiet, every so many calls the times are really counted."""
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class _Count:
    """What is known about the number of times that are set."""

    change: str = ""
    """Which transactions were over at the last call."""
    number: int = 0
    """What the last call answered."""
    asked: int = 0
    is_exact: bool = False


class PostgreSQLDatabase(BusinessDatabase):
    """PostgreSQL 13 or newer."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self._open: psycopg.Connection | None = None
        self._count = _Count()

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def check(self) -> None:
        with self._explained() as connection:
            connection.execute("SELECT 1")

    def create(self, tables: Sequence[Table]) -> None:
        with self._transaction() as connection:
            for table in tables:
                drop = sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(table.name))
                connection.execute(drop)
                connection.execute(_definition(table, table.name))

    def copy(self, table: Table, batches: Iterable[pa.RecordBatch]) -> None:
        target = sql.SQL("COPY {} FROM STDIN WITH (FORMAT csv)").format(sql.Identifier(table.name))
        with self._transaction() as connection:
            try:
                with connection.transaction(), connection.cursor().copy(target) as copy:
                    for batch in batches:
                        copy.write(csv_of(batch))
            except errors.UniqueViolation:
                return

    def count(self, table: Table) -> int:
        query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table.name))
        with self._transaction() as connection:
            return int(_row(connection, query)[0])

    def loaded(self, tables: Sequence[Table]) -> None:
        with self._explained() as connection:
            for table in tables:
                # Otherwise the server does it in the background, while a query is measured.
                connection.execute(
                    sql.SQL("VACUUM (ANALYZE) {}").format(sql.Identifier(table.name))
                )

    def downtimes(self) -> pa.Table:
        query = "SELECT wp_id, wp_downtime_start, wp_downtime_end FROM workplace ORDER BY 1"
        with self._explained() as connection:
            rows = connection.execute(query).fetchall()
        columns = list(zip(*rows, strict=True)) or [(), (), ()]
        arrays = [pa.array(one, field.type) for one, field in zip(columns, DOWNTIMES, strict=True)]
        return pa.Table.from_arrays(arrays, schema=DOWNTIMES)

    def set_downtime(self, workplace: int, start_us: int, end_us: int) -> None:
        window = [_EPOCH + timedelta(microseconds=time) for time in (start_us, end_us)]
        with self._explained() as connection:
            connection.execute(
                "INSERT INTO workplace VALUES (%s, 0, %s, %s) ON CONFLICT (wp_id, wp_dt_id)"
                " DO UPDATE SET wp_downtime_start = EXCLUDED.wp_downtime_start,"
                " wp_downtime_end = EXCLUDED.wp_downtime_end",
                [workplace, *window],
            )

    def persist(self, rows: pa.Table) -> None:
        if not rows.num_rows:
            return
        names = PERSISTED.names[:4]
        staged = [csv_of(batch) for batch in rows.select(names).to_batches()]

        def write() -> None:
            with self._transaction() as connection:
                connection.execute(f"{_STAGE} ON COMMIT DROP")
                with connection.cursor().copy("COPY stage FROM STDIN WITH (FORMAT csv)") as copy:
                    for block in staged:
                        copy.write(block)
                connection.execute(_ROW_BY_ROW)
                connection.execute(_PERSIST)

        _again_after_a_deadlock(write)

    def reset(self) -> None:
        table = PRODUCTION_ORDER_LINE
        old = sql.Identifier(table.name)
        kept = [column.name for column in table.columns if not column.name.endswith("_ts")]
        columns = sql.SQL(", ").join(map(sql.Identifier, kept))
        with self._transaction() as connection:
            connection.execute(_definition(table, "fresh", key=False))
            connection.execute(
                sql.SQL("INSERT INTO fresh ({0}) SELECT {0} FROM {1} ORDER BY {2}").format(
                    columns, old, sql.SQL(", ").join(map(sql.Identifier, table.key))
                )
            )
            connection.execute(sql.SQL("DROP TABLE {}").format(old))
            connection.execute(sql.SQL("ALTER TABLE fresh RENAME TO {}").format(old))
            connection.execute(sql.SQL("ALTER TABLE {} ADD {}").format(old, _key(table)))
        self._count = _Count()
        self.loaded([table])

    def persisted_count(self, *, exact: bool = False) -> int:
        """Counting reads the whole table, so it waits for a call that finds nothing new."""
        with self._explained() as connection:
            change, updates = _row(connection, _ACTIVITY)
            last, asked = self._count, self._count.asked + 1
            quiet = change == last.change
            if last.is_exact and quiet and not exact:
                return last.number
            exact = exact or quiet or asked % _ASKED_BETWEEN_COUNTS == 1
            if exact:
                with connection.transaction():
                    connection.execute("SET LOCAL max_parallel_workers_per_gather = 0")
                    number = int(_row(connection, _COUNT)[0])
            else:
                number = max(last.number, updates)
            self._count = _Count(change, number, asked, exact)
            return number

    def persisted(self) -> Iterator[pa.RecordBatch]:
        with self._transaction() as connection, connection.cursor().copy(_PERSISTED) as copy:
            rest = bytearray()
            for block in copy:
                rest += block
                if len(rest) >= _BLOCK_BYTES:
                    # A block of PostgreSQL ends with a row.
                    yield from _parsed(rest)
                    rest = bytearray()
            yield from _parsed(rest)

    @contextmanager
    def _transaction(self) -> Iterator[psycopg.Connection]:
        with self._explained() as connection, connection.transaction():
            yield connection

    @contextmanager
    def _explained(self) -> Iterator[psycopg.Connection]:
        """The connection; what the database refuses becomes an error with a fix."""
        try:
            if self._open is None or self._open.closed:
                self._open = psycopg.connect(self._address, autocommit=True, connect_timeout=10)
            yield self._open
        except errors.DeadlockDetected:
            raise
        except errors.UndefinedTable as error:
            cause = f"the database has no business data: {_said(error)}"
            raise ComponentError(
                cause, fix="import it: `streamgauge data espbench --database ADDRESS`"
            ) from error
        except psycopg.Error as error:
            raise ComponentError(
                f"the database does not do what it should: {_said(error)}",
                fix="check that it runs, its address, the rights of the user and its space",
            ) from error


def _said(error: psycopg.Error) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _row(connection: psycopg.Connection, query: str | Composed) -> tuple[Any, ...]:
    row: tuple[Any, ...] | None = connection.execute(query).fetchone()
    assert row is not None
    return row


def _definition(table: Table, name: str, *, key: bool = True) -> Composed:
    columns = [
        sql.SQL("{} {}").format(sql.Identifier(one.name), sql.SQL(one.sql)) for one in table.columns
    ]
    parts = sql.SQL(", ").join([*columns, *([_key(table)] if key else [])])
    room = _HALF_FULL if table.changes else sql.SQL("")
    return sql.SQL("CREATE TABLE {} ({}) {}").format(sql.Identifier(name), parts, room)


def _key(table: Table) -> Composed:
    names = sql.SQL(", ").join(map(sql.Identifier, table.key))
    return sql.SQL("PRIMARY KEY ({})").format(names)


def _parsed(text: bytearray) -> Iterator[pa.RecordBatch]:
    if not text:
        return
    names = PERSISTED.names
    found = pyarrow.csv.read_csv(
        pa.py_buffer(bytes(text)),
        pyarrow.csv.ReadOptions(column_names=names, block_size=2 * _BLOCK_BYTES),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types={field.name: field.type for field in PERSISTED}
        ),
    )
    yield from found.combine_chunks().to_batches()


def _again_after_a_deadlock(work: Callable[[], None]) -> None:
    for _ in range(_TRIES - 1):
        try:
            return work()
        except errors.DeadlockDetected:
            continue
    try:
        return work()
    except errors.DeadlockDetected as error:
        raise ComponentError(
            f"writers of the same lines have blocked each other {_TRIES} times: {_said(error)}",
            fix="let one writer at a time write a production order line",
        ) from error
