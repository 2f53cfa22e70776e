"""A user's own query: a function from DataFrame to DataFrame, and the events that it reads.

    @query(events=event_spec(sensor=Keys(size=100)), keys=["window", "sensor"])
    def my_query(events, *, window="5 seconds"): ...

Without an oracle of the user's, results are compared with the same function run as a batch.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from streamgauge.compute.tasks import spread
from streamgauge.driver.sink import LATEST_EVENT_TIME
from streamgauge.errors import ExperimentError
from streamgauge.events.spec import DataSet
from streamgauge.queries.base import OutputMode, Query, ResultShape
from streamgauge.queries.replay import Replay, Slice

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Function = Callable[..., Any]
SAME_FUNCTION = "the same function run as a batch, not an independent oracle"


class OwnQuery:
    """What the decorator makes of a function; call it like the function."""

    def __init__(
        self,
        function: Function,
        data_set: DataSet,
        keys: Sequence[str],
        closes: str | None,
        output_mode: OutputMode,
    ) -> None:
        self.function = function
        self.data_set = data_set
        self.keys = tuple(keys)
        self.closes = closes
        self.output_mode = output_mode
        self.oracle_function: Function | None = None
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    def __call__(self, *streams: DataFrame, **parameters: Any) -> DataFrame:
        result: DataFrame = self.function(*streams, **parameters)
        return result

    def oracle(self, function: Function) -> Function:
        """Decorates the function that finds the right results from batch DataFrames."""
        self.oracle_function = function
        return function

    def with_parameters(self, **parameters: Any) -> BoundQuery:
        """The query with the settings of the `workload` section; unknown ones are refused."""
        known = [
            name
            for name, parameter in inspect.signature(self.function).parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        ]
        for name in parameters:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                allowed = ", ".join(known) or "none"
                raise ExperimentError(
                    f"workload.{name}",
                    f"`{self.__name__}` has no such parameter",
                    fix=f"did you mean `{near[0]}`?"
                    if near
                    else f"keyword-only parameters of the function are allowed here: {allowed}",
                )
        return BoundQuery(own=self, parameters=parameters, output_mode=self.output_mode)


def query(
    *,
    events: DataSet,
    keys: Sequence[str],
    closes: str | None = None,
    output_mode: OutputMode = "append",
) -> Callable[[Function], OwnQuery]:
    """Makes a query of a function.

    `keys` are the columns that identify a result. `closes` is the column with the time at which a
    result is final (a column `window` of Spark's is recognised by itself).
    """

    def decorate(function: Function) -> OwnQuery:
        return OwnQuery(function, events, keys, closes, output_mode)

    return decorate


class BoundQuery(Query):
    """A user's query as the station runs it."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    own: OwnQuery
    parameters: dict[str, Any] = Field(default={})

    @property
    def oracle_is(self) -> str:
        return SAME_FUNCTION if self.own.oracle_function is None else "given by the user"

    def settings(self) -> dict[str, Any]:
        return {"output_mode": self.output_mode, **self.parameters}

    @property
    def data_set(self) -> DataSet:
        return self.own.data_set

    @property
    def shape(self) -> ResultShape:
        return ResultShape(keys=self.own.keys, closes=self.own.closes or "window.end")

    def define(self, *streams: DataFrame) -> DataFrame:
        result = self.own(*streams, **self.parameters)
        missing = [
            name for name in (*self.own.keys, LATEST_EVENT_TIME) if name not in result.columns
        ]
        if missing:
            raise ExperimentError(
                "workload.query",
                f"the result of `{self.own.__name__}` has no column {', '.join(missing)}; "
                f"it has {', '.join(result.columns)}",
                fix=f'add it, such as F.max("event_time").alias("{LATEST_EVENT_TIME}")',
            )
        return result

    def expected(self, spark: SparkSession, replay: Replay) -> DataFrame:
        streams = [batch_of(spark, replay, name) for name in self.streams]
        if self.own.oracle_function is not None:
            result: DataFrame = self.own.oracle_function(*streams, **self.parameters)
            return result
        return self.define(*streams)


def batch_of(spark: SparkSession, replay: Replay, stream: str) -> DataFrame:
    """A stream of a finished run as a batch."""

    def make(slices: Iterator[Slice]) -> Iterator[pa.RecordBatch]:
        for part in slices:
            yield replay.batch(part)

    return spread(spark, replay.slices(stream), make, replay.load.streams[stream].schema)


class QueryConfig(BaseModel):
    """Which query with which parameters; enough to make it again in another process."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    parameters: dict[str, Any] = {}
    base: str = "."
