"""Experiments and plug-ins with their descriptions and parameters, for `streamgauge list`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from streamgauge import plugins
from streamgauge.errors import StreamgaugeError
from streamgauge.experiments.planning.files import builtin_names, read_experiment
from streamgauge.experiments.planning.loads import GIVEN_BY_THE_LOAD
from streamgauge.units import format_duration

_NOT_FOR_FILES = frozenset({"oracle_is"})


@dataclass(frozen=True)
class Parameter:
    """A setting that an entry takes."""

    name: str
    required: bool
    default: object
    """As it is written in an experiment file."""
    about: str = ""


@dataclass(frozen=True)
class Entry:
    """A name that an experiment file can use."""

    name: str
    about: str
    parameters: tuple[Parameter, ...] = ()
    broken: str = ""
    """Why it cannot be used, if so."""


def experiments() -> list[Entry]:
    return [
        _whole_or_broken(name, lambda name: Entry(name, read_experiment(name)[0].about))
        for name in builtin_names()
    ]


def installed(group: str) -> list[Entry]:
    """The plug-ins of a group, also those of other packages."""

    def describe(name: str) -> Entry:
        found = plugins.load(group, name, key=group)
        documentation = inspect.getdoc(found) or ""
        about = documentation.partition("\n\n")[0].replace("\n", " ").strip()
        if group == "services":
            return Entry(name, about)
        has_fields = isinstance(found, type) and issubclass(found, BaseModel)
        return Entry(name, about, tuple(of_model(found) if has_fields else of_signature(found)))

    return [_whole_or_broken(name, describe) for name in plugins.names(group)]


def _whole_or_broken(name: str, describe: Callable[[str], Entry]) -> Entry:
    """One bad plug-in must not hide the others."""
    try:
        return describe(name)
    except StreamgaugeError as error:
        return Entry(name, "", broken=error.cause.partition(": ")[2] or error.cause)
    except Exception as error:
        return Entry(name, "", broken=f"{type(error).__name__}: {error}")


def of_model(model: type[BaseModel]) -> list[Parameter]:
    """The fields of a model, with defaults in human units."""
    defaults = model.model_construct().model_dump(mode="json", warnings=False)
    return [
        Parameter(field.alias or name, field.is_required(), defaults.get(name), _about(field))
        for name, field in model.model_fields.items()
        if name not in _NOT_FOR_FILES
    ]


def _about(field: FieldInfo) -> str:
    choices = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    listed = " | ".join(str(choice) for choice in choices)
    return ": ".join(filter(None, (field.description, listed)))


def of_signature(function: Callable[..., Any]) -> list[Parameter]:
    """The parameters of a function; one that ends in `_us` is written as a duration."""
    parameters = []
    for name, parameter in inspect.signature(function).parameters.items():
        is_variable = parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        if is_variable or name in GIVEN_BY_THE_LOAD:
            continue
        required = parameter.default is parameter.empty
        default = None if required else parameter.default
        if name.endswith("_us") and isinstance(default, int):
            default = format_duration(default)
        elif isinstance(default, tuple):
            default = list(default)
        parameters.append(Parameter(name.removesuffix("_us"), required, default))
    return parameters
