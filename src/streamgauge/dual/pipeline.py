"""A pipeline: the logic as a chain of named operations, each from a DataFrame to a DataFrame.

    pipeline = dual.Pipeline("views")

    @pipeline.operation
    def parse(records): ...

The first operation gets the rows of a topic (`key`, `value`, `timestamp`); the last one returns
`value`, and `key` where its results replace each other. No operation has a source, sink or trigger.
"""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from streamgauge.errors import StreamgaugeError, UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Apply = Callable[["DataFrame"], "DataFrame"]
_NAME = re.compile(r"[a-z][a-z0-9_-]*")


@dataclass(frozen=True)
class Operation:
    """One step of the logic."""

    name: str
    apply: Apply


class Pipeline:
    """Operations in the order in which records flow through them."""

    def __init__(self, name: str, operations: Iterable[Operation] = ()) -> None:
        self.name = _checked(name, "pipeline")
        self.operations: list[Operation] = []
        for one in operations:
            self.add(one.name, one.apply)

    def operation(self, function: Apply) -> Apply:
        """Decorates the next operation; its name is that of the function."""
        self.add(function.__name__, function)
        return function

    def add(self, name: str, apply: Apply) -> Pipeline:
        """Appends an operation."""
        if _checked(name, "operation") in self.names:
            raise StreamgaugeError(
                f"the pipeline `{self.name}` has two operations `{name}`", fix="rename one of them"
            )
        self.operations.append(Operation(name, apply))
        return self

    @property
    def names(self) -> list[str]:
        return [one.name for one in self.operations]


def load_pipeline(file: Path) -> Pipeline:
    """The pipeline that a Python file defines."""
    if not file.is_file():
        raise UsageError(f"there is no file {file}", fix="give a Python file with a pipeline")
    # Beside the file there may be modules that it imports.
    sys.path.insert(0, str(file.resolve().parent))
    try:
        defined = runpy.run_path(str(file))
    except Exception as error:
        cause = f"{file} cannot be loaded: {type(error).__name__}: {error}"
        raise UsageError(cause, fix="correct the file") from error
    found = [one for one in defined.values() if isinstance(one, Pipeline)]
    if len({id(one) for one in found}) != 1:
        raise UsageError(
            f"{file} defines {len(found)} pipelines", fix="define exactly one: dual.Pipeline(name)"
        )
    return found[0]


def _checked(name: str, what: str) -> str:
    if not _NAME.fullmatch(name):
        raise StreamgaugeError(
            f"`{name}` cannot be a name: {what}s of the runtime name topics and folders",
            fix="use lower-case letters, digits, - and _, and begin with a letter",
        )
    return name
