"""A query: named inputs, the shape of its results, an oracle, and one implementation per kind of
system."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr

from streamgauge.compute.failures import explained
from streamgauge.driver.config import Clock
from streamgauge.errors import ExperimentError, StreamgaugeError
from streamgauge.events.sources import Source
from streamgauge.events.spec import ARRIVAL, LATEST_EVENT_TIME
from streamgauge.models import StrictModel
from streamgauge.queries.replay import Replay
from streamgauge.references import revealed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OutputMode = Literal["append", "update"]
_IMPLEMENTATION = "on_"
EVENT = "_event"
"""A number for each input event, in the batches that `Query.prefixes` gets."""


@dataclass(frozen=True)
class Stream:
    """An input that the driver offers during the load."""

    source: Source
    clock: Clock = "schedule"
    """Whose time is the event time; that of a broker needs a channel that has one."""


@dataclass(frozen=True)
class Table:
    """An input that does not change: an Arrow table, or a function that makes one."""

    rows: pa.Table | Callable[[], pa.Table]

    def read(self) -> pa.Table:
        return self.rows() if callable(self.rows) else self.rows


@dataclass(frozen=True)
class Service:
    """An input that the query asks over the network; its address is given under `services`."""

    kind: str | None = None
    """Without an address, a service of this kind, such as `postgresql`, is started for the run."""
    prepare: Callable[[str], None] | None = None
    """Called with the address of a service that streamgauge started, once before the load: fills a
    database, for example. A service that stands between runs may be filled already."""
    reset: Callable[[str], None] | None = None
    """Called before every load: undoes what the load before has done to the service."""
    prepare_given: bool = False
    """Whether a service whose address was given is prepared, too."""


@dataclass(frozen=True)
class OptionalService(Service):
    """One that the query does without: it is never started, and used where its address is given."""

    check: Callable[[str], None] = lambda _: None
    """Called with the address as it is written, before anything starts; ExperimentError: it cannot
    be used."""


Input = Stream | Table | Service


class ResultShape(StrictModel):
    """How results are compared, and which two times make their latency."""

    keys: tuple[str, ...]
    """Columns that identify a result; the others, except the sink's, are its values."""
    closes: str | None = None
    """Column with the time at which a result is final. In append mode a result is expected when
    the input has reached that time; without such a column every result is."""
    input_time: str = LATEST_EVENT_TIME
    """Column with the time of the last input of a result."""
    output_time: str = ARRIVAL
    """Column with the time of the output; by default the time at which the sink received it."""
    single: bool = False
    """Whether a result comes once, also in update mode: the result of a single event, say."""
    in_order: str | None = None
    """Column by which the results in a partition of a topic must be in order; default: any."""
    text: str | None = None
    """Column that is the whole message where results are messages; default: all columns, as JSON.
    `Query.parsed` reads it again."""
    per_event: float | None = Field(default=None, gt=0)
    """How many results an event makes on average, if results do not tell the time of their input:
    the backlog is then judged by their number."""


class StoredResults(ABC):
    """Results that are rows of a table of a service, instead of messages."""

    @abstractmethod
    def store(self, batch: DataFrame, number: int) -> None:
        """Writes a batch of results on Spark; a batch that comes again changes nothing."""

    @abstractmethod
    def count(self, *, exact: bool = False) -> int:
        """The number of results so far; asked twice a second, then it may be somewhat low."""

    @abstractmethod
    def rows(self) -> Iterator[pa.RecordBatch]:
        """All results, with the columns of the shape."""


class Mirror(ABC):
    """The last value of each result in a service, besides the messages."""

    @abstractmethod
    def apply(self, results: Iterable[bytes]) -> None:
        """Takes over messages in the order of their topic. Those that come again, with all that
        came after them, change nothing in the end."""

    @abstractmethod
    def rows(self) -> Iterator[pa.RecordBatch]:
        """What the service holds: keys and values of the results, without their times."""


class Query(StrictModel):
    """A query with its parameters, which are the fields of the subclass.

    The implementation for a kind of system is a method: `on_spark(**inputs)` takes every input by
    its name, in the form of that kind of system, and returns the results. It has no source, sink,
    trigger or watermark: the event time of a stream has a watermark already.
    """

    in_batches_only: ClassVar[str] = ""
    """Why a system that handles every record on its own cannot run it; empty: it can."""

    stores_rows: ClassVar[bool] = False
    """Whether the results are rows of a table of a service, instead of messages."""
    mirror_service: ClassVar[str] = ""
    """The optional service that gets the last value of each result, too; empty: none."""
    results_are_the_log: ClassVar[bool] = False
    """Whether the results are what the broker has of the input. There is no system then, and the
    run measures the senders and the broker: to fall short of the rate is a result, not a fault."""
    functions: ClassVar[tuple[str, ...]] = ()
    """Functions of a stream processing system that it tests, for a table of coverage: windowing,
    transformation, aggregation, filter, join with historical data, machine learning."""

    output_mode: OutputMode = "append"
    _base: Path = PrivateAttr(default=Path())
    _services: dict[str, str] = PrivateAttr(default={})

    def placed(self, base: Path, services: Mapping[str, str]) -> Query:
        """The same query with the folder of its files and the addresses of its services."""
        placed = self.model_copy()
        placed._base = base
        placed._services = dict(services)
        return placed

    @property
    def oracle_is(self) -> str:
        """What results are compared with, for the report."""
        raise NotImplementedError

    @property
    def compares_values(self) -> bool:
        """Whether the expected results have values; if not, results are only counted by key."""
        return True

    @property
    def inputs(self) -> Mapping[str, Input]:
        """What the query reads, by name."""
        raise NotImplementedError

    @property
    def shape(self) -> ResultShape:
        raise NotImplementedError

    def settings(self) -> dict[str, Any]:
        """All parameters with their defaults, for the report."""
        return self.model_dump(mode="json")

    @property
    def alignment_us(self) -> int:
        """The load begins at a multiple of this, so that a repeated run has the same windows."""
        return 1_000_000

    @property
    def streams(self) -> dict[str, Source]:
        """What the driver offers."""
        streams = {name: one for name, one in self.inputs.items() if isinstance(one, Stream)}
        return {name: one.source.located(self._base) for name, one in streams.items()}

    @property
    def sends_updates(self) -> bool:
        """Whether a result may come again with another value."""
        return self.output_mode == "update" and not self.shape.single

    @property
    def clocks(self) -> dict[str, Clock]:
        """Whose time is the event time of each stream."""
        return {name: one.clock for name, one in self.inputs.items() if isinstance(one, Stream)}

    @property
    def services(self) -> dict[str, Service]:
        """The services whose addresses the query needs."""
        return {name: one for name, one in self.inputs.items() if isinstance(one, Service)}

    def fixed_inputs(self, table: Callable[[pa.Table], Any]) -> dict[str, Any]:
        """All inputs but the streams: tables in the system's form, and addresses of services."""
        inputs = self.inputs.items()
        tables = {name: table(one.read()) for name, one in inputs if isinstance(one, Table)}
        given = [name for name in self.services if name in self._services]
        return {**tables, **{name: revealed(self._services[name]) for name in given}}

    @property
    def stored(self) -> StoredResults:
        """How rows are written and read."""
        raise NotImplementedError

    @property
    def mirrored_in(self) -> str:
        """The service that holds the last value of each result in this run; empty: none."""
        return self.mirror_service if self.mirror_service in self._services else ""

    def mirror(self, name: str) -> Mirror:
        """How that service is written and read; `name` is that of the trial alone."""
        raise NotImplementedError

    def parsed(self, messages: DataFrame) -> DataFrame:
        """The columns of results whose message is a text of its own form, and those of the sink."""
        raise NotImplementedError

    @property
    def kinds(self) -> list[str]:
        """The kinds of system for which there is an implementation."""
        found = [name for name in dir(type(self)) if name.startswith(_IMPLEMENTATION)]
        return [name.removeprefix(_IMPLEMENTATION) for name in found]

    def implementation(self, kind: str) -> Callable[..., Any]:
        """The implementation for a kind of system; takes the inputs by name."""
        if kind not in self.kinds:
            raise ExperimentError(
                "workload.query",
                f"the query has no implementation for this system, which needs one for `{kind}`",
                fix=f"use a system that runs one of: {', '.join(self.kinds) or 'none'}",
            )
        found: Callable[..., Any] = getattr(self, _IMPLEMENTATION + kind)
        return found

    @property
    def file(self) -> str | None:
        """The file of a query that is not ours."""
        ours = type(self).__module__.startswith("streamgauge.")
        return None if ours else inspect.getfile(type(self))

    @property
    def result_line(self) -> str | None:
        """Where a user's function makes its result: at fault if Spark refuses the whole query."""
        return None

    def explained(self, error: BaseException) -> StreamgaugeError:
        """What failed in the query or its oracle, with the line at fault if it is not ours."""
        return explained(error, self.file)

    def prefixes(self, **streams: DataFrame) -> DataFrame | None:  # noqa: ARG002
        """For every input event the result that the input up to its event time gives.

        The columns of the results, and `EVENT` of the input. None: the query does not define it,
        so visibility latency and the updates of a result cannot be checked.
        """
        return None

    def makes_result(self, stream: str, events: pa.RecordBatch) -> NDArray[np.bool_] | None:  # noqa: ARG002
        """Which events make a result each, for a query to which few events matter.

        None: that is not known. Then all that came after the last result counts as backlog.
        """
        return None

    def expected(self, spark: SparkSession, replay: Replay) -> DataFrame:
        """The right results for the input that was offered, computed in another way."""
        raise NotImplementedError
