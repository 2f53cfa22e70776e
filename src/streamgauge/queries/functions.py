"""Checks of a user's function: the arguments it takes, and the columns it returns."""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from streamgauge.causes import place
from streamgauge.errors import ExperimentError
from streamgauge.events.spec import ARRIVAL
from streamgauge.hints import did_you_mean
from streamgauge.queries.base import Input, ResultShape, Stream
from streamgauge.units import parse_duration_us, spell_duration

Function = Callable[..., Any]
SPARK_WINDOW_END = "window.end"
_LONGEST_DECORATORS = 50
_TIMES = ("timestamp", "timestamp_ntz", "bigint", "int")
"""Types of a time: a timestamp, or a number of microseconds since 1970."""


@dataclass(frozen=True)
class Call:
    """How a function is called: streams by position, other inputs and parameters by name."""

    function: Function
    inputs: Mapping[str, Input]

    @cached_property
    def _arguments(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.function).parameters

    def _of(self, *kinds: Any) -> list[str]:
        return [name for name, one in self._arguments.items() if one.kind in kinds]

    @property
    def _by_name(self) -> list[str]:
        return self._of(inspect.Parameter.KEYWORD_ONLY)

    @property
    def durations(self) -> dict[str, str]:
        """The defaults of the parameters that are durations, in the words of Spark."""
        defaults = {name: self._arguments[name].default for name in self._by_name}
        return {name: spelt for name, one in defaults.items() if (spelt := _spelt(one)) is not None}

    def settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters as the function takes them; unknown and missing ones are refused."""
        known = [name for name in self._by_name if name not in self.inputs]
        function = f"`{self.function.__name__}`"
        for name in given:
            if name not in known:
                allowed = f"its keyword-only parameters are allowed: {', '.join(known) or 'none'}"
                fix = did_you_mean(name, known, allowed)
                raise ExperimentError(
                    f"workload.{name}", f"{function} has no such parameter", fix=fix
                )
        for name in known:
            if name not in given and self._arguments[name].default is inspect.Parameter.empty:
                raise ExperimentError(
                    f"workload.{name}",
                    f"is missing: {function} has no default for it",
                    fix="set it under `workload`, or give it a default in the function",
                )
        return {name: self._setting(name, value) for name, value in given.items()}

    def _setting(self, name: str, value: Any) -> Any:
        """A parameter whose default is a duration is one, in any of our notations."""
        if name not in self.durations:
            return value
        try:
            return spell_duration(parse_duration_us(value))
        except ValueError as error:
            fix = "write a duration with its unit, such as `5 s`"
            raise ExperimentError(f"workload.{name}", str(error), fix=fix) from None

    def check(self, parameters: Mapping[str, Any] | None = None) -> None:
        """Refuses a function that cannot be called with the inputs and these parameters."""
        streams = [name for name, one in self.inputs.items() if isinstance(one, Stream)]
        others = [name for name in self.inputs if name not in streams]
        positional = self._of(
            inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
        )
        if len(positional) < len(streams) and not self._of(inspect.Parameter.VAR_POSITIONAL):
            takes = f"takes {len(positional)} positional argument(s)"
            problem = f"{takes}, but the query has the stream(s) {', '.join(streams)}"
            raise self._refused(problem, "take one DataFrame per stream, before the `*`")
        if left := positional[len(streams) :]:
            problem = f"takes {', '.join(left)} by position, after the stream(s)"
            raise self._refused(problem, f"write `*, {left[0]}`: parameters are keyword-only")
        if not self._of(inspect.Parameter.VAR_KEYWORD):
            for name in (*others, *(parameters or {})):
                if name not in self._by_name:
                    problem = f"does not take `{name}`"
                    raise self._refused(problem, f"add it to the function: `*, {name}`")

    def _refused(self, problem: str, fix: str) -> ExperimentError:
        where = definition(self.function)
        return ExperimentError(
            "workload.query", f"{where} `{self.function.__name__}` {problem}", fix=fix
        )


def _spelt(default: Any) -> str | None:
    """Only a text with a unit is taken for a duration."""
    if not isinstance(default, str) or default.strip()[-1:].isdigit():
        return None
    try:
        return spell_duration(parse_duration_us(default))
    except ValueError:
        return None


def check_result(result: Any, function: Function, shape: ResultShape, *, times: bool) -> None:
    """Refuses what cannot be results; an oracle need not return the times of the latency."""
    for problem, fix in _faults(result, shape, times=times):
        where = f"{last_line(function)} `{function.__name__}`"
        raise ExperimentError("workload.query", f"{where} returns {problem}", fix=fix)


def _faults(result: Any, shape: ResultShape, *, times: bool) -> Iterator[tuple[str, str]]:
    """Each with its fix; the first tells most."""
    from pyspark.sql import DataFrame

    if not isinstance(result, DataFrame):
        kind = "None" if result is None else f"a {type(result).__name__}"
        yield (
            f"{kind}, not a DataFrame",
            "end it with a DataFrame: `return events.groupBy(…).agg(…)`",
        )
        return
    names, types = result.columns, dict(result.dtypes)
    has = f"it returns {', '.join(names)}"
    for name in shape.keys:
        if name not in types:
            fix = did_you_mean(name, names, "return it, or correct `keys` of the decorator")
            yield f"no column {name}, which is one of its keys; {has}", fix
    if twice := sorted({name for name in names if names.count(name) > 1}):
        yield f"the column {', '.join(twice)} more than once", "rename one of them, or drop it"
    closes = (shape.closes or SPARK_WINDOW_END).partition(".")[0]
    if shape.closes != SPARK_WINDOW_END and closes not in types:
        yield f"no column {closes}, which is in `closes`; {has}", "return it, or correct `closes`"
    # The sink adds the time of arrival.
    for name in (shape.input_time, shape.output_time) if times else ():
        fix = f'return the time of the last event: F.max("event_time").alias("{name}")'
        if name not in (*types, ARRIVAL):
            yield f"no column {name}, from which latency is counted; {has}", fix
        elif types.get(name, "bigint") not in _TIMES:
            yield f"{name} as {types[name]}, not as a timestamp", fix


def file_of(function: Function) -> str:
    return str(inspect.unwrap(function).__code__.co_filename)


def definition(function: Function) -> str:
    """`my_query.py:24`: the line of its `def`, below its decorators."""
    file, first = file_of(function), inspect.unwrap(function).__code__.co_firstlineno
    below = range(first, first + _LONGEST_DECORATORS)
    starts = (line for line in below if linecache.getline(file, line).lstrip().startswith("def "))
    return place(file, next(starts, first))


def last_line(function: Function) -> str:
    """The line of its last statement, which is the one with its result."""
    lines = [line for *_, line in inspect.unwrap(function).__code__.co_lines() if line is not None]
    return place(file_of(function), lines[-1])
