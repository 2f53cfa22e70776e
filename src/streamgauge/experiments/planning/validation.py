"""Turns the errors of pydantic into one that names the key and the nearest right one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from streamgauge.errors import ExperimentError
from streamgauge.hints import did_you_mean

Model = TypeVar("Model", bound=BaseModel)
_TYPE_NAMES = ("str", "int", "float", "bool")
_BOUNDS = {
    "greater_than": "more than",
    "greater_than_equal": "at least",
    "less_than": "less than",
    "less_than_equal": "at most",
}


def validated(model: type[Model], data: Mapping[str, Any], prefix: str = "") -> Model:
    """The model, or an error about one setting that is wrong."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise explained(error, model, prefix) from None


def explained(error: ValidationError, model: type[BaseModel], prefix: str = "") -> ExperimentError:
    """The first error of pydantic; an unknown key comes before a wrong value."""
    details = min(error.errors(), key=lambda d: d["type"] != "extra_forbidden")
    # The places of a tuple and the alternatives of a union are not keys of the file.
    path = [str(part) for part in details["loc"] if part not in _TYPE_NAMES]
    while path and path[-1].isdigit():
        path.pop()
    key = ".".join([prefix, *path] if prefix else path) or "experiment"
    section, field = _setting(model, path)
    if details["type"] == "extra_forbidden":
        known = [field.alias or name for name, field in section.model_fields.items()]
        return unknown_key(key, path[-1] if path else key, known)
    if details["type"] == "missing" and str(details["loc"][-1]) == (path or [""])[-1]:
        return ExperimentError(key, "is missing", fix=f"add `{path[-1]}:`")
    return ExperimentError(key, _problem(details), fix=_fix(field))


def unknown_key(key: str, name: str, known: Sequence[str]) -> ExperimentError:
    others = f"known here: {', '.join(known)}" if known else "it takes no parameters"
    return ExperimentError(key, "unknown key", fix=did_you_mean(name, known, others, cutoff=0.5))


def _problem(details: ErrorDetails) -> str:
    """The message of pydantic, except where it is about Python types."""
    kind, given = details["type"], details.get("input")
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return f"must be a section with keys of its own, not {given!r}"
    if kind in ("tuple_type", "list_type", "missing", "too_long", "too_short"):
        return f"must be a list of the right length, not {given!r}"
    if kind in _BOUNDS:
        message = f"must be {_BOUNDS[kind]} {next(iter(details['ctx'].values()))}"
    else:
        message = details["msg"].removeprefix("Value error, ")
    if not isinstance(given, dict | list) and repr(given) not in message:
        message = f"{message} (it is {given!r})"
    return message


def _fix(field: FieldInfo | None) -> str:
    if field is None:
        return "correct this setting"
    about = f" ({field.description})" if field.description else ""
    if field.is_required():
        return f"give it a right value{about}"
    return f"correct it{about}, or leave it out"


def _setting(model: type[BaseModel], path: list[str]) -> tuple[type[BaseModel], FieldInfo | None]:
    """The section and the setting at a path, as far as the models have it."""
    field = None
    for part in path:
        inner = field.annotation if field else None
        named = get_args(inner)[1] if get_origin(inner) is dict else None
        if isinstance(named, type) and issubclass(named, BaseModel):
            # The user chose this part, such as a stream; the settings are in the section below it.
            model, field = named, None
            continue
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            model = inner
        elif field is not None:
            break
        field = model.model_fields.get(part)
    return model, field
