"""Turns what pydantic finds wrong into an error that names the key and the nearest right one."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from streamgauge.errors import ExperimentError

Model = TypeVar("Model", bound=BaseModel)


def validated(model: type[Model], data: Mapping[str, Any], prefix: str = "") -> Model:
    """The model, or an error about the first thing that is wrong with the data."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise explained(error, model, prefix) from None


def explained(error: ValidationError, model: type[BaseModel], prefix: str = "") -> ExperimentError:
    """The most telling of pydantic's complaints: an unknown key before a bad value."""
    details = sorted(error.errors(), key=lambda d: d["type"] != "extra_forbidden")[0]
    # The places of a tuple and the alternatives of a union are no keys of the file.
    path = [str(part) for part in details["loc"] if part not in _TYPE_NAMES]
    while path and path[-1].isdigit():
        path.pop()
    key = ".".join([prefix, *path] if prefix else path) or "experiment"
    section, field = _field(model, path)
    if details["type"] == "extra_forbidden":
        return unknown_key(key, path[-1] if path else key, known_keys(section))
    if details["type"] == "missing" and str(details["loc"][-1]) == (path or [""])[-1]:
        return ExperimentError(key, "is missing", fix=f"add `{path[-1]}:`")
    return ExperimentError(key, _problem(details), fix=_fix(field))


_TYPE_NAMES = ("str", "int", "float", "bool")


def _problem(details: ErrorDetails) -> str:
    """Pydantic's words where they are ours or plain, other words where they are about types."""
    kind, given = details["type"], details.get("input")
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return f"must be a section with keys of its own, not {given!r}"
    if kind in ("tuple_type", "list_type", "missing", "too_long", "too_short"):
        return f"must be a list of the right length, not {given!r}"
    bound = next(iter((details.get("ctx") or {}).values()), None)
    words = {
        "greater_than": f"must be more than {bound}",
        "greater_than_equal": f"must be at least {bound}",
        "less_than": f"must be less than {bound}",
        "less_than_equal": f"must be at most {bound}",
    }
    message = words.get(kind) or details["msg"].removeprefix("Value error, ")
    if not isinstance(given, dict | list) and repr(given) not in message:
        message = f"{message} (it is {given!r})"
    return message


def _fix(field: FieldInfo | None) -> str:
    """What the setting is and what it would be by itself."""
    if field is None:
        return "correct this setting"
    about = f" ({field.description})" if field.description else ""
    if field.is_required():
        return f"give it a right value{about}"
    return f"correct it{about}, or leave it out"


def _field(model: type[BaseModel], path: list[str]) -> tuple[type[BaseModel], FieldInfo | None]:
    """The section and the setting that a path leads to, as far as it leads."""
    field = None
    for part in path:
        inner = field.annotation if field else None
        named = get_args(inner)[1] if get_origin(inner) is dict else None
        if isinstance(named, type) and issubclass(named, BaseModel):
            # This part is a name that the user chose; the settings are in the section below it.
            model, field = named, None
            continue
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            model = inner
        elif field is not None:
            break
        field = model.model_fields.get(part)
    return model, field


def unknown_key(key: str, name: str, known: list[str]) -> ExperimentError:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    others = f"known here: {', '.join(known)}" if known else "it takes no parameters"
    return ExperimentError(key, "unknown key", fix=f"did you mean `{near[0]}`?" if near else others)


def known_keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]
