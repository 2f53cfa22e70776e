"""The dual-paradigm runtime: each operation runs as data stream or as operation stream.

It stands alone: it imports nothing of the station. The public names are loaded when they are first
used, because the decisions alone need no Spark.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streamgauge.dual.api import Running, run
    from streamgauge.dual.model.latency import Paradigm
    from streamgauge.dual.pipeline import Operation, Pipeline, load_pipeline
    from streamgauge.dual.settings import DualSettings

_NAMES = {
    "DualSettings": "settings",
    "Operation": "pipeline",
    "Paradigm": "model.latency",
    "Pipeline": "pipeline",
    "Running": "api",
    "load_pipeline": "pipeline",
    "run": "api",
}
__all__ = ["DualSettings", "Operation", "Paradigm", "Pipeline", "Running", "load_pipeline", "run"]


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'streamgauge.dual' has no attribute {name!r}")
    return getattr(import_module(f"streamgauge.dual.{_NAMES[name]}"), name)
