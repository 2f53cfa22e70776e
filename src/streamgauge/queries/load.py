"""Makes a query from the `workload` section of an experiment, in whatever process needs it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from streamgauge import plugins
from streamgauge.errors import ExperimentError
from streamgauge.queries.base import Query
from streamgauge.queries.own import OwnQuery, QueryConfig
from streamgauge.queries.results import Results


def build_query(config: QueryConfig) -> Query:
    """A built-in or installed query by its name, or the user's own from `file.py:name`."""
    query = _built(config)
    if config.output_mode is None:
        return query
    return query.model_copy(update={"output_mode": config.output_mode})


def _built(config: QueryConfig) -> Query:
    base = Path(config.base)
    if ":" not in config.name:
        found: Any = plugins.load("queries", config.name, key="workload.query")
    else:
        with _types_of_udfs():
            found = plugins.load("queries", config.name, key="workload.query", base=base)
    if isinstance(found, OwnQuery):
        _send_by_value(found)
    if isinstance(found, OwnQuery | Results):
        return found.with_parameters(**config.parameters).placed(base, config.services)
    if isinstance(found, type) and issubclass(found, Query):
        return found(**config.parameters).placed(base, config.services)
    raise ExperimentError(
        "workload.query",
        f"`{config.name}` is not a query but a {type(found).__name__}",
        fix="decorate the function with @streamgauge.query(events=…, keys=[…]), or describe the "
        "results of a program: streamgauge.results(events=…, keys=[…])",
    )


@contextmanager
def _types_of_udfs() -> Iterator[None]:
    """Lets a file with `@F.udf("double")` be read where there is no Spark to parse the type."""
    from pyspark import SparkContext
    from pyspark.sql.udf import UserDefinedFunction

    parsed = UserDefinedFunction.returnType
    if SparkContext._active_spark_context is None:
        unparsed = property(lambda udf: udf._returnType)
        UserDefinedFunction.returnType = unparsed  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        UserDefinedFunction.returnType = parsed  # type: ignore[method-assign]


def _send_by_value(own: OwnQuery) -> None:
    """A worker of Spark need not find the user's file, nor read it, to run a function of it."""
    from pyspark import cloudpickle

    module = sys.modules[own.function.__module__]
    cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
