"""Makes a query from the `workload` section of an experiment, in whatever process needs it."""

from __future__ import annotations

from pathlib import Path

from streamgauge import plugins
from streamgauge.errors import ExperimentError
from streamgauge.queries.base import Query
from streamgauge.queries.own import OwnQuery, QueryConfig


def build_query(config: QueryConfig) -> Query:
    """A built-in or installed query by its name, or the user's own from `file.py:function`."""
    found = plugins.load("queries", config.name, key="workload.query", base=Path(config.base))
    if isinstance(found, OwnQuery):
        return found.with_parameters(**config.parameters)
    if isinstance(found, type) and issubclass(found, Query):
        return found(**config.parameters)
    raise ExperimentError(
        "workload.query",
        f"`{config.name}` is not a query but a {type(found).__name__}",
        fix="decorate the function with @streamgauge.query(events=…, keys=[…])",
    )
