"""The database of the business data, whatever DBMS it is.

Queries, validation and the import use this interface only. Another DBMS is one more module with a
subclass, and its scheme in `ADAPTERS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import urlsplit

import pyarrow as pa

from streamgauge.errors import ExperimentError
from streamgauge.events.factory.business import Table
from streamgauge.hints import did_you_mean
from streamgauge.plugins import load_path
from streamgauge.references import revealed

ADAPTERS = {
    "postgresql": "streamgauge.queries.espbench.postgresql:PostgreSQLDatabase",
    "postgres": "streamgauge.queries.espbench.postgresql:PostgreSQLDatabase",
}
"""By the scheme of the address: `module:class`."""

DOWNTIMES = pa.schema(
    [
        pa.field("workplace", pa.int32()),
        pa.field("start", pa.timestamp("us", tz="UTC")),
        pa.field("end", pa.timestamp("us", tz="UTC")),
    ]
)
PERSISTED = pa.schema(
    [
        pa.field("o_id", pa.int32()),
        pa.field("ol_number", pa.int32()),
        pa.field("pol_number", pa.int32()),
        pa.field("is_end", pa.int32()),
        pa.field("time_us", pa.int64()),
    ]
)


class BusinessDatabase(ABC):
    """One connection to the database; it is opened by the first use, and used by one thread."""

    def __init__(self, address: str) -> None:
        self._address = address

    def __enter__(self) -> BusinessDatabase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Ends the connection; another use opens a new one."""

    @abstractmethod
    def check(self) -> None:
        """Fails if the database does not answer."""

    @abstractmethod
    def create(self, tables: Sequence[Table]) -> None:
        """Makes empty tables with primary keys only; tables of the same names are dropped."""

    @abstractmethod
    def copy(self, table: Table, batches: Iterable[pa.RecordBatch]) -> None:
        """Adds rows, all of them or none; does nothing if they are there already.

        So a task that is run a second time makes no difference.
        """

    @abstractmethod
    def count(self, table: Table) -> int:
        """The number of rows."""

    @abstractmethod
    def loaded(self, tables: Sequence[Table]) -> None:
        """Called after the import: brings the tables into the state of a database at work."""

    @abstractmethod
    def downtimes(self) -> pa.Table:
        """The planned downtimes of the workplaces, in the schema `DOWNTIMES`."""

    @abstractmethod
    def set_downtime(self, workplace: int, start_us: int, end_us: int) -> None:
        """Changes the planned downtime of a workplace; microseconds since 1970."""

    @abstractmethod
    def persist(self, rows: pa.Table) -> None:
        """Sets the start or the end of production order lines to the database's current time.

        The columns are `o_id`, `ol_number`, `pol_number` and `is_end` (0 or 1). One transaction. A
        time that is set already stays, so the same rows can be given again; lines that do not
        exist are left out.
        """

    @abstractmethod
    def reset(self) -> None:
        """Removes all times that were persisted."""

    @abstractmethod
    def persisted_count(self, *, exact: bool = False) -> int:
        """How many times are set; cheap enough to be asked every second.

        While rows are written the answer may be somewhat low. It is exact when nothing was
        committed since the call before, and when that is demanded.
        """

    @abstractmethod
    def persisted(self) -> Iterator[pa.RecordBatch]:
        """A row in the schema `PERSISTED` for every time that is set."""


def open_database(address: str) -> BusinessDatabase:
    """The adapter for an address such as `postgresql://user@host:5432/name`.

    The address may refer to a secret, as in `${env:NAME}`.
    """
    address = revealed(address)
    scheme = urlsplit(address).scheme
    if scheme not in ADAPTERS:
        known = f"give an address that begins with {' or '.join(f'{one}://' for one in ADAPTERS)}"
        raise ExperimentError(
            "database",
            f"there is no adapter for a database with the scheme `{scheme}`",
            fix=did_you_mean(scheme, ADAPTERS, known),
        )
    database: BusinessDatabase = load_path(ADAPTERS[scheme])(address)
    return database
