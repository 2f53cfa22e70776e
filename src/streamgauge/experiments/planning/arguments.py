"""Arguments of schedules and policies, from their sections of an experiment file."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from streamgauge.errors import ExperimentError
from streamgauge.experiments.planning.model import Named
from streamgauge.experiments.planning.validation import unknown_key
from streamgauge.units import parse_duration_us

GIVEN_BY_THE_LOAD = ("duration_us", "rate_per_s", "marks")
"""Arguments of schedules and policies that are no parameters of theirs."""


def arguments_of(factory: Any, named: Named, key: str, base: Path) -> dict[str, Any]:
    """Parameters by the names of the factory; one that ends in `_us` is written as a duration."""
    wanted = [
        name
        for name, parameter in inspect.signature(factory).parameters.items()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD and name not in GIVEN_BY_THE_LOAD
    ]
    by_word = {name.removesuffix("_us"): name for name in wanted}
    arguments: dict[str, Any] = {}
    for word, value in named.parameters.items():
        if word not in by_word:
            raise unknown_key(f"{key}.{word}", word, list(by_word))
        name = by_word[word]
        if name.endswith("_us"):
            try:
                value = parse_duration_us(value)
            except ValueError as error:
                raise ExperimentError(f"{key}.{word}", str(error)) from None
        elif name == "path":
            value = str(base / str(value))
        arguments[name] = value
    for word, name in by_word.items():
        required = inspect.signature(factory).parameters[name].default is inspect.Parameter.empty
        if required and name not in arguments:
            raise ExperimentError(f"{key}.{word}", "is missing", fix=f"add `{word}:`")
    return arguments
