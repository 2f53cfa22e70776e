"""Where the columns of a stream come from: random numbers, a file, or a table that is made.

Every source is a pure function of seed, driver instance and sequence number.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import xxhash
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from streamgauge.errors import ExperimentError
from streamgauge.events.columns import Column
from streamgauge.events.columns.objects import fields_of
from streamgauge.events.numbers import BLOCK, InstanceShare
from streamgauge.events.rereading import LinesOnDisk
from streamgauge.models import StrictModel
from streamgauge.plugins import load_path

if TYPE_CHECKING:
    from typing_extensions import Self

EVENT_TIME = "event_time"
"""The column with the scheduled time of an event; every stream has it."""
_EVENT_TIME_FIELD = pa.field(EVENT_TIME, pa.timestamp("us", tz="UTC"), nullable=False)
NUMBER = "id"
"""The column with the number of an event in its stream, if the stream has one."""
LINE = "line"
"""The column of a text."""
_NUMBER_FIELD = pa.field(NUMBER, pa.int64(), nullable=False)

Drawn = list[NDArray[Any]]
"""Whole numbers that decide the values of events: a row for each event in every array."""


class EventSource(StrictModel):
    """What a stream of events is made from."""

    reads: tuple[str, ...] | None = None
    """The columns that the query reads; no other is made. None: all."""

    def reading(self, names: Sequence[str] | None) -> Self:
        """The same events with these columns only."""
        return type(self)(**{**dict(self), "reads": names})

    def located(self, base: Path) -> Self:  # noqa: ARG002
        """The same events with the absolute path of their file, if they come from one."""
        return self

    @property
    def length(self) -> int | None:
        """The number of events after which the stream ends; None: it has no end."""
        return None

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """The event time and the columns that are read."""

    @property
    @abstractmethod
    def random_columns(self) -> int:
        """How many columns of random numbers it may use; the next one is for the disorder."""

    @property
    def meaning(self) -> dict[str, Any]:
        """What its numbers stand for; a part of the hash of the input."""
        return self.model_dump(mode="json", exclude={"kind"})

    @abstractmethod
    def draw(self, share: InstanceShare, block: int, low: int, high: int) -> Drawn:
        """The numbers behind the places [low, high) of one block; these bytes are hashed."""

    @abstractmethod
    def decode(self, drawn: Drawn) -> list[pa.Array]:
        """The values that the system receives, in the order of the schema."""


class StreamSpec(EventSource):
    """Columns of random values."""

    kind: Literal["columns"] = "columns"
    columns: Mapping[str, Column] = Field(min_length=1)

    @field_validator("columns")
    @classmethod
    def _no_event_time(cls, columns: Mapping[str, Column]) -> Mapping[str, Column]:
        if EVENT_TIME in columns:
            raise ValueError(f"a column cannot be called {EVENT_TIME}: every event has it already")
        return columns

    @model_validator(mode="after")
    def _known_columns(self) -> StreamSpec:
        for name in self.reads or ():
            if name not in self.columns:
                known = ", ".join(self.columns)
                raise ValueError(f"the query reads {name!r}, the stream has {known}")
        return self

    @property
    def made(self) -> dict[str, Column]:
        """The columns that are read."""
        columns = self.columns.items()
        return {name: one for name, one in columns if self.reads is None or name in self.reads}

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([_EVENT_TIME_FIELD, *fields_of(self.made)])

    @property
    def random_columns(self) -> int:
        return sum(leaf.numbers for one in self.columns.values() for leaf in one.leaves)

    def draw(self, share: InstanceShare, block: int, low: int, high: int) -> Drawn:
        drawn, place = [], 0
        for name, column in self.columns.items():
            for leaf in column.leaves:
                if self.reads is None or name in self.reads:
                    random = share.random(block, place, low, high, leaf.numbers)
                    drawn.append(leaf.moved(leaf.draw(random), block * BLOCK + low))
                place += leaf.numbers
        return drawn

    def decode(self, drawn: Drawn) -> list[pa.Array]:
        left = iter(drawn)
        return [column.build(left) for column in self.made.values()]


class _TableSource(EventSource):
    """The rows of a table, in order across the driver instances of a stream, again and again."""

    numbered: bool = False
    """Adds a column `id`: the number of the event in its stream, from 0 on."""
    ends: bool = False
    """The stream ends with the last row, instead of beginning again."""

    @property
    @abstractmethod
    def table(self) -> pa.Table:
        """All rows, in memory."""

    @property
    def length(self) -> int | None:
        return self.table.num_rows if self.ends else None

    @property
    def schema(self) -> pa.Schema:
        numbers = [_NUMBER_FIELD] if self.numbered else []
        return pa.schema([_EVENT_TIME_FIELD, *numbers, *self.table.schema])

    @property
    def random_columns(self) -> int:
        return 0

    def draw(self, share: InstanceShare, block: int, low: int, high: int) -> Drawn:
        own = np.arange(block * BLOCK + low, block * BLOCK + high, dtype=np.int64)
        numbers = own * share.parts + share.part
        return [numbers if self.numbered else numbers % self.table.num_rows]

    def decode(self, drawn: Drawn) -> list[pa.Array]:
        columns = self.rows(drawn[0] % self.table.num_rows)
        return [pa.array(drawn[0]), *columns] if self.numbered else columns

    def rows(self, numbers: NDArray[np.int64]) -> list[pa.Array]:
        """The columns of the rows with these numbers."""
        taken = self.table.take(pa.array(numbers))
        return [column.combine_chunks() for column in taken.columns]


class _FileSource(_TableSource):
    """The rows of a file."""

    kind: Literal["text", "recorded"]
    path: str
    content_hash: str = ""
    """Of the file; empty until the path is absolute."""

    def located(self, base: Path) -> Self:
        path = (base / self.path).resolve()
        return self.model_copy(update={"path": str(path), "content_hash": _content_hash(path)})

    @property
    def meaning(self) -> dict[str, Any]:
        return {"kind": self.kind, "content_hash": self.content_hash, "reads": self.reads}

    @property
    def table(self) -> pa.Table:
        return _table(self.kind, self.path, self.content_hash, self.reads)


class TextSource(_FileSource):
    """The lines of a text file, in one column `line`."""

    kind: Literal["text"] = "text"


class RecordedSource(_FileSource):
    """The rows of a Parquet or CSV file, with its columns."""

    kind: Literal["recorded"] = "recorded"


class MadeSource(_TableSource):
    """The rows of a table that a function makes, the same for the same parameters."""

    kind: Literal["made"] = "made"
    function: str
    """`module:function`; it takes the parameters by name and returns an Arrow table."""
    parameters: dict[str, int | float | str] = Field(default={})
    in_memory: bool = True
    """If not, the lines are written to a file, and each block is read from it again."""

    @property
    def meaning(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude={"kind", "in_memory"})

    @property
    def table(self) -> pa.Table:
        return _made_table(*self._key)

    @property
    def _key(self) -> tuple[str, tuple[tuple[str, Any], ...], tuple[str, ...] | None]:
        return self.function, tuple(sorted(self.parameters.items())), self.reads

    def rows(self, numbers: NDArray[np.int64]) -> list[pa.Array]:
        return super().rows(numbers) if self.in_memory else [_lines(*self._key).read(numbers)]


Source = Annotated[
    StreamSpec | TextSource | RecordedSource | MadeSource, Field(discriminator="kind")
]


def text(path: str | Path) -> TextSource:
    """The lines of a text file as events; the path is relative to the experiment file."""
    return TextSource(path=str(path))


def recorded(path: str | Path, columns: Sequence[str] | None = None) -> RecordedSource:
    """The rows of a Parquet or CSV file as events; the path is relative to the experiment file."""
    return RecordedSource(path=str(path)).reading(columns)


def _content_hash(path: Path) -> str:
    try:
        found = path.stat()
        return _hash_file(path, found.st_mtime_ns, found.st_size)
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from None


@lru_cache(maxsize=16)
def _hash_file(path: Path, modified_ns: int, size: int) -> str:  # noqa: ARG001
    """The file is read again only when it has changed."""
    return xxhash.xxh3_128_hexdigest(path.read_bytes())


@lru_cache(maxsize=4)
def _made_table(
    function: str, parameters: tuple[tuple[str, Any], ...], reads: tuple[str, ...] | None
) -> pa.Table:
    """Made once per process."""
    table: pa.Table = load_path(function)(**dict(parameters)).combine_chunks()
    return table if reads is None else table.select(list(reads))


@lru_cache(maxsize=4)
def _lines(
    function: str, parameters: tuple[tuple[str, Any], ...], reads: tuple[str, ...] | None
) -> LinesOnDisk:
    """Written once per process."""
    return LinesOnDisk(_made_table(function, parameters, reads)[LINE])


@lru_cache(maxsize=4)
def _table(kind: str, path: str, content_hash: str, reads: tuple[str, ...] | None) -> pa.Table:
    """The whole file in memory, once per process."""
    if _content_hash(Path(path)) != content_hash:
        raise _unreadable(path, "its content has changed since the load was planned")
    try:
        table = _text_table(path) if kind == "text" else _recorded_table(path)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise _unreadable(path, str(error).splitlines()[0]) from None
    if reads is not None:
        missing = [name for name in reads if name not in table.column_names]
        if missing:
            known = ", ".join(table.column_names)
            raise _unreadable(path, f"it has no column {', '.join(missing)}; it has {known}")
        table = table.select(list(reads))
    if EVENT_TIME in table.column_names:
        raise _unreadable(
            path,
            f"it has a column {EVENT_TIME}, the name of the scheduled time of an event",
            fix="rename it, or name the columns to read: recorded(path, columns=[…])",
        )
    if not table.num_rows:
        raise _unreadable(path, "it has no rows")
    return table


def _text_table(path: str) -> pa.Table:
    with Path(path).open(encoding="utf-8") as file:
        lines = [line.removesuffix("\n") for line in file]
    return pa.table({LINE: pa.array(lines, type=pa.string())})


def _recorded_table(path: str) -> pa.Table:
    read = pyarrow.csv.read_csv if path.lower().endswith(".csv") else pyarrow.parquet.read_table
    table: pa.Table = read(path).replace_schema_metadata(None)
    fields = [pa.field(one.name, _plain(one.type), one.nullable) for one in table.schema]
    return table.cast(pa.schema(fields)).combine_chunks()


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type in which a value is sent; Spark has neither dictionaries nor nanoseconds."""
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    return pa.timestamp("us", tz=kind.tz) if pa.types.is_timestamp(kind) else kind


def _unreadable(path: str | Path, problem: str, *, fix: str = "") -> ExperimentError:
    return ExperimentError(
        "workload.query",
        f"the events cannot be read from {path}: {problem}",
        fix=fix or "give a file that can be read; its path is relative to the experiment file",
    )
