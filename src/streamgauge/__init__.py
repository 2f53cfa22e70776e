"""streamgauge: the gauging station for data streams.

The public names are loaded when they are first used, so that small processes start quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from streamgauge.version import __version__

if TYPE_CHECKING:
    from streamgauge.errors import StreamgaugeError
    from streamgauge.events.columns import (
        Choice,
        Flag,
        Json,
        Keys,
        Object,
        Real,
        Time,
        Uuid,
        Whole,
        Words,
    )
    from streamgauge.events.sources import StreamSpec, recorded, text
    from streamgauge.events.spec import DataSet, event_spec
    from streamgauge.experiments.api import Result, resume, run
    from streamgauge.queries.base import Service, Table
    from streamgauge.queries.own import query
    from streamgauge.queries.results import results

_NAMES = {
    "errors": ("StreamgaugeError",),
    "events.columns": (
        "Choice",
        "Flag",
        "Json",
        "Keys",
        "Object",
        "Real",
        "Time",
        "Uuid",
        "Whole",
        "Words",
    ),
    "events.sources": ("StreamSpec", "recorded", "text"),
    "events.spec": ("DataSet", "event_spec"),
    "experiments.api": ("Result", "resume", "run"),
    "queries.base": ("Service", "Table"),
    "queries.own": ("query",),
    "queries.results": ("results",),
}
"""The public names, by module."""

__all__ = [
    "Choice",
    "DataSet",
    "Flag",
    "Json",
    "Keys",
    "Object",
    "Real",
    "Result",
    "Service",
    "StreamSpec",
    "StreamgaugeError",
    "Table",
    "Time",
    "Uuid",
    "Whole",
    "Words",
    "__version__",
    "event_spec",
    "query",
    "recorded",
    "results",
    "resume",
    "run",
    "text",
]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    for module, names in _NAMES.items():
        if name in names:
            value = getattr(import_module(f"streamgauge.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'streamgauge' has no attribute {name!r}")
