"""Makes a query from the `workload` section of an experiment, in whatever process needs it."""

from __future__ import annotations

from pathlib import Path

from streamgauge import plugins
from streamgauge.errors import ExperimentError
from streamgauge.queries.base import Query
from streamgauge.queries.own import OwnQuery, QueryConfig


def build_query(config: QueryConfig) -> Query:
    """A built-in or installed query by its name, or the user's own from `file.py:function`."""
    base = Path(config.base)
    found = plugins.load("queries", config.name, key="workload.query", base=base)
    if isinstance(found, OwnQuery):
        return found.with_parameters(**config.parameters).placed(base, config.services)
    if isinstance(found, type) and issubclass(found, Query):
        return found(**config.parameters).placed(base, config.services)
    raise ExperimentError(
        "workload.query",
        f"`{config.name}` is not a query but a {type(found).__name__}",
        fix="decorate the function with @streamgauge.query(events=…, keys=[…])",
    )
