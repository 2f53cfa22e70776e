"""Turns what pydantic finds wrong into an error that names the key and the nearest right one."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from streamgauge.errors import ExperimentError

Model = TypeVar("Model", bound=BaseModel)


def validated(model: type[Model], data: Mapping[str, Any], prefix: str = "") -> Model:
    """The model, or an error about the first thing that is wrong with the data."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise explained(error, known_keys(model), prefix) from None


def explained(error: ValidationError, known: list[str], prefix: str = "") -> ExperimentError:
    """The most telling of pydantic's complaints: an unknown key before a bad value."""
    details = sorted(error.errors(), key=lambda d: d["type"] != "extra_forbidden")[0]
    path = [str(part) for part in details["loc"]]
    key = ".".join([prefix, *path] if prefix else path) or "experiment"
    if details["type"] == "extra_forbidden":
        return unknown_key(key, path[-1] if path else key, known)
    if details["type"] == "missing":
        return ExperimentError(key, "is missing", fix=f"add `{path[-1] if path else key}:`")
    message = details["msg"].removeprefix("Value error, ")
    given = details.get("input")
    if not isinstance(given, dict | list) and repr(given) not in message:
        message = f"{message} (it is {given!r})"
    return ExperimentError(key, message[0].lower() + message[1:], fix="correct this setting")


def unknown_key(key: str, name: str, known: list[str]) -> ExperimentError:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    fix = f"did you mean `{near[0]}`?" if near else f"known here: {', '.join(known)}"
    return ExperimentError(key, "unknown key", fix=fix)


def known_keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]
