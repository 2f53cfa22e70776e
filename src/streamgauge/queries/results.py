"""What a program of the user's must answer: the events that it reads, the keys of its results, and
an oracle. The program itself is the implementation.

    results = streamgauge.results(events=event_spec(id=Uuid(), celsius=Real(…)), keys=["id"])

    @results.oracle
    def expected(events): ...

Without an oracle one result is expected for each event, and no value is compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, Field

from streamgauge.errors import ExperimentError
from streamgauge.events.sources import Source, StreamSpec
from streamgauge.events.spec import ARRIVAL, EVENT_TIME, LATEST_EVENT_TIME, DataSet
from streamgauge.queries.base import EVENT, OutputMode, Query, ResultShape, Stream
from streamgauge.queries.functions import Call, Function
from streamgauge.queries.own import BY_THE_USER, as_data_set, batch_of, key_columns
from streamgauge.queries.replay import Replay

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NO_ORACLE = "nothing: one result for each event was expected, and values were not compared"


@dataclass(eq=False)
class Results:
    """The description of a program's results."""

    inputs: Mapping[str, Stream]
    shape: ResultShape
    output_mode: OutputMode
    oracle_function: Function | None = None

    def oracle(self, function: Function) -> Function:
        """Decorates the function that computes the right results from batch DataFrames."""
        self.oracle_function = function
        return function

    def with_parameters(self, **parameters: Any) -> ProgramQuery:
        """With the settings of the `workload` section, which are parameters of the oracle."""
        shape, oracle = self.shape, self.oracle_function
        if oracle is not None:
            call = Call(oracle, self.inputs)
            call.check()
            parameters = call.settings(parameters)
        else:
            for name in parameters:
                problem = "there is no oracle, which could take it"
                raise ExperimentError(f"workload.{name}", problem, fix="leave it out")
            for name, stream in self.inputs.items():
                self._require_keys(name, stream.source)
            shape = shape.model_copy(update={"per_event": shape.per_event or 1.0})
        return ProgramQuery(
            own=self, result_shape=shape, parameters=parameters, output_mode=self.output_mode
        )

    def _require_keys(self, stream: str, source: Source) -> None:
        columns = source.columns if isinstance(source, StreamSpec) else self.shape.keys
        missing = [key for key in self.shape.keys if key not in columns]
        if missing or not self.shape.keys:
            lacking = f"`{stream}` has no column {', '.join(missing)}"
            raise ExperimentError(
                "workload.query",
                "without an oracle the event of a result is found by its keys, but "
                + (lacking if missing else "there are none"),
                fix="give columns of the events as keys, or an oracle: @results.oracle",
            )


def results(
    *,
    events: DataSet | Source,
    keys: Sequence[str],
    closes: str | None = None,
    output_mode: OutputMode = "append",
    input_time: str = LATEST_EVENT_TIME,
    output_time: str = ARRIVAL,
    per_event: float | None = None,
) -> Results:
    """Describes the results of a program, for the system `program`.

    `keys` identify a result. `input_time` is the column with the time of the last input of a
    result; if the results have none, it is found by the keys. `per_event` is how many results an
    event makes on average; it is needed if the results have no such time, because the backlog is
    then counted by the number of results. Without an oracle it is 1.
    """
    streams = {name: Stream(source) for name, source in as_data_set(events).streams.items()}
    shape = ResultShape(
        keys=key_columns(keys),
        closes=closes,
        input_time=input_time,
        output_time=output_time,
        per_event=per_event,
    )
    return Results(streams, shape, output_mode)


class ProgramQuery(Query):
    """The results of a program, with the parameters of the oracle."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    own: Results
    result_shape: ResultShape
    parameters: dict[str, Any] = Field(default={})

    @property
    def oracle_is(self) -> str:
        return BY_THE_USER if self.compares_values else NO_ORACLE

    @property
    def compares_values(self) -> bool:
        return self.own.oracle_function is not None

    def settings(self) -> dict[str, Any]:
        return {"output_mode": self.output_mode, **self.parameters}

    @property
    def inputs(self) -> Mapping[str, Stream]:
        return self.own.inputs

    @property
    def shape(self) -> ResultShape:
        return self.result_shape

    def on_program(self) -> None:
        """The program is the user's."""

    def expected(self, spark: SparkSession, replay: Replay) -> DataFrame:
        streams = [batch_of(spark, replay, name) for name in self.streams]
        if self.own.oracle_function is not None:
            found: DataFrame = self.own.oracle_function(*streams, **self.parameters)
            return found
        keys = [one.select(*self.shape.keys) for one in streams]
        return reduce(lambda left, right: left.unionByName(right), keys)

    def prefixes(self, **streams: DataFrame) -> DataFrame | None:
        """A result reflects the events with its keys, if the keys are columns of the events."""
        from pyspark.sql import functions as F  # noqa: N812

        (events, *others) = streams.values()
        keys = self.shape.keys
        if others or self.output_mode == "update" or not set(keys) <= set(events.columns):
            return None
        return events.select(*keys, F.col(EVENT_TIME).alias(self.shape.input_time), EVENT)
