"""streamgauge: the gauging station for data streams.

The public names are loaded when they are first used, so that small processes start quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from streamgauge.version import __version__

if TYPE_CHECKING:
    from streamgauge.errors import StreamgaugeError
    from streamgauge.events.columns import Choice, Keys, Real, Whole
    from streamgauge.events.sources import StreamSpec, recorded, text
    from streamgauge.events.spec import DataSet, event_spec
    from streamgauge.experiments.api import Result, resume, run
    from streamgauge.queries.base import Service, Table
    from streamgauge.queries.own import query

_HOMES = {
    "Choice": "streamgauge.events.columns",
    "DataSet": "streamgauge.events.spec",
    "Keys": "streamgauge.events.columns",
    "Real": "streamgauge.events.columns",
    "Result": "streamgauge.experiments.api",
    "Service": "streamgauge.queries.base",
    "StreamSpec": "streamgauge.events.sources",
    "StreamgaugeError": "streamgauge.errors",
    "Table": "streamgauge.queries.base",
    "Whole": "streamgauge.events.columns",
    "event_spec": "streamgauge.events.spec",
    "query": "streamgauge.queries.own",
    "recorded": "streamgauge.events.sources",
    "resume": "streamgauge.experiments.api",
    "run": "streamgauge.experiments.api",
    "text": "streamgauge.events.sources",
}

__all__ = [
    "Choice",
    "DataSet",
    "Keys",
    "Real",
    "Result",
    "Service",
    "StreamSpec",
    "StreamgaugeError",
    "Table",
    "Whole",
    "__version__",
    "event_spec",
    "query",
    "recorded",
    "resume",
    "run",
    "text",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'streamgauge' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
