"""A user's own query: a function from DataFrame to DataFrame, and the events that it reads.

    @query(events=event_spec(sensor=Keys(size=100)), keys=["window", "sensor"])
    def my_query(events, *, window="5 seconds"): ...

Without an oracle of the user's, results are compared with the same function run as a batch.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pydantic import ConfigDict, Field

from streamgauge.compute.tasks import spread
from streamgauge.errors import ExperimentError
from streamgauge.events.sources import EventSource, Source
from streamgauge.events.spec import ARRIVAL, LATEST_EVENT_TIME, DataSet
from streamgauge.models import StrictModel
from streamgauge.queries.base import Input, OutputMode, Query, ResultShape, Service, Stream, Table
from streamgauge.queries.functions import (
    SPARK_WINDOW_END,
    Call,
    Function,
    check_result,
    file_of,
    last_line,
)
from streamgauge.queries.replay import Replay, Slice

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PLAIN = (str, int, float)
"""Types of defaults that a report shows."""
SAME_FUNCTION = "the same function run as a batch, not an independent oracle"
BY_THE_USER = "given by the user"


@dataclass(eq=False)
class OwnQuery:
    """A decorated function; it can be called like the function."""

    function: Function
    inputs: Mapping[str, Input]
    shape: ResultShape
    output_mode: OutputMode
    oracle_function: Function | None = None

    def __post_init__(self) -> None:
        self.__name__ = self.function.__name__
        self.__doc__ = self.function.__doc__

    def __call__(self, *streams: DataFrame, **parameters: Any) -> DataFrame:
        result: DataFrame = self.function(*streams, **parameters)
        return result

    def oracle(self, function: Function) -> Function:
        """Decorates the function that computes the right results from batch DataFrames."""
        self.oracle_function = function
        return function

    def with_parameters(self, **parameters: Any) -> BoundQuery:
        """The query with the settings of the `workload` section, as the function takes them."""
        call = Call(self.function, self.inputs)
        call.check()
        parameters = call.settings(parameters)
        if self.oracle_function is not None:
            Call(self.oracle_function, self.inputs).check(parameters)
        return BoundQuery(own=self, parameters=parameters, output_mode=self.output_mode)


def key_columns(keys: Sequence[str]) -> tuple[str, ...]:
    """A single text would be one key per letter."""
    if isinstance(keys, str):
        problem = f"`keys` is a text, not a list of columns: {keys!r}"
        raise ExperimentError("workload.query", problem, fix=f'write keys=["{keys}"]')
    return tuple(keys)


def as_data_set(events: DataSet | Source) -> DataSet:
    """A single source is the stream `events`."""
    if isinstance(events, EventSource):
        return DataSet(streams={"events": events})
    return events


def query(
    *,
    events: DataSet | Source,
    keys: Sequence[str],
    inputs: Mapping[str, Table | Service] | None = None,
    closes: str | None = None,
    output_mode: OutputMode = "append",
    input_time: str = LATEST_EVENT_TIME,
    output_time: str = ARRIVAL,
) -> Callable[[Function], OwnQuery]:
    """Makes a query of a function that runs on Spark.

    The function takes `events`, its streams, as positional arguments, and `inputs`, tables and
    services, as keyword-only arguments. `keys` identify a result. `closes` is the column with the
    time at which a result is final (a column `window` made by Spark is recognised). `input_time`
    and `output_time` are the columns with the two times that make the latency of a result.
    """
    streams = {name: Stream(source) for name, source in as_data_set(events).streams.items()}
    shape = ResultShape(
        keys=key_columns(keys),
        closes=closes or SPARK_WINDOW_END,
        input_time=input_time,
        output_time=output_time,
    )

    def decorate(function: Function) -> OwnQuery:
        return OwnQuery(function, {**streams, **(inputs or {})}, shape, output_mode)

    return decorate


class BoundQuery(Query):
    """A user's function with its parameters: an implementation for Spark."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    own: OwnQuery
    parameters: dict[str, Any] = Field(default={})

    @property
    def oracle_is(self) -> str:
        return SAME_FUNCTION if self.own.oracle_function is None else BY_THE_USER

    def settings(self) -> dict[str, Any]:
        given = inspect.signature(self.own.function).parameters.values()
        defaults = {one.name: one.default for one in given if isinstance(one.default, _PLAIN)}
        return {"output_mode": self.output_mode, **defaults, **self.parameters}

    @property
    def inputs(self) -> Mapping[str, Input]:
        return self.own.inputs

    @property
    def shape(self) -> ResultShape:
        return self.own.shape

    def on_spark(self, **inputs: Any) -> DataFrame:
        return self._called(self.own.function, inputs)

    def _called(self, function: Function, inputs: dict[str, Any]) -> DataFrame:
        """Streams are positional arguments, all other inputs are keyword arguments."""
        streams = [inputs.pop(name) for name in self.streams]
        durations = Call(function, self.inputs).durations
        try:
            result = function(*streams, **inputs, **{**durations, **self.parameters})
        except (Exception, SystemExit) as error:
            raise self.explained(error) from error
        check_result(result, function, self.shape, times=function is self.own.function)
        return result  # type: ignore[no-any-return]

    @property
    def file(self) -> str:
        return file_of(self.own.function)

    @property
    def result_line(self) -> str:
        return last_line(self.own.function)

    def expected(self, spark: SparkSession, replay: Replay) -> DataFrame:
        streams = {name: batch_of(spark, replay, name) for name in self.streams}
        inputs = {**streams, **self.fixed_inputs(spark.createDataFrame)}
        return self._called(self.own.oracle_function or self.own.function, inputs)


def batch_of(spark: SparkSession, replay: Replay, stream: str) -> DataFrame:
    """A stream of a finished run as a batch."""

    def make(slices: Iterator[Slice]) -> Iterator[pa.RecordBatch]:
        for part in slices:
            yield replay.batch(part)

    return spread(spark, replay.slices(stream), make, replay.load.streams[stream].source.schema)


class QueryConfig(StrictModel):
    """A query by name, with what is needed to make it again in another process."""

    name: str
    parameters: dict[str, Any] = Field(default={})
    base: str = "."
    output_mode: OutputMode | None = None
    """Instead of the query's own."""
    services: dict[str, str] = Field(default={})
    """Addresses by the names of the inputs, with references instead of secrets."""
