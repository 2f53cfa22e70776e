"""Finds systems, channels, queries, policies, schedules and faults by name.

A name is that of an entry point (any installed package may add one), or `file.py:object` or
`module:object` for something of the user's own.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import lru_cache
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from streamgauge import causes
from streamgauge.errors import ExperimentError
from streamgauge.hints import did_you_mean

GROUPS = ("queries", "channels", "systems", "policies", "schedules", "services", "faults")


def names(group: str) -> list[str]:
    """The installed names, in alphabetical order."""
    return sorted(_installed(group, tuple(sys.path)).names)


def load(group: str, name: str, *, key: str, base: Path | None = None) -> Any:
    """The object behind a name; `key` is the setting that holds the name, for the error message."""
    if ":" in name:
        return _load_own(name, key=key, base=base or Path.cwd())
    for point in _installed(group, tuple(sys.path)).select(name=name):
        try:
            return point.load()
        except (Exception, SystemExit) as error:
            raise ExperimentError(
                key,
                f"`{name}` could not be loaded: {type(error).__name__}: {error}",
                fix=f"repair or remove the package that provides it ({point.value})",
            ) from error
    known = names(group)
    fix = did_you_mean(name, known, f"choose one of: {', '.join(known)}")
    raise ExperimentError(key, f"there is no `{name}` among the {group}", fix=fix)


@lru_cache
def _installed(group: str, _: tuple[str, ...]) -> EntryPoints:
    """Searched for once on each path: a study with a thousand cases asks thousands of times."""
    return entry_points(group=f"streamgauge.{group}")


def load_path(path: str) -> Any:
    """The object behind `module:object`, for paths that are not the user's."""
    module, _, attribute = path.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _load_own(name: str, *, key: str, base: Path) -> Any:
    location, _, attribute = name.rpartition(":")
    try:
        module = _module(location, base)
    except (Exception, SystemExit) as error:
        # A file that calls sys.exit must not end the command as if all were well.
        raise _unloadable(error, key, location, base) from error
    if not hasattr(module, attribute):
        public = sorted(name for name in vars(module) if not name.startswith("_"))
        fix = did_you_mean(attribute, public, f"define `{attribute}` in it")
        raise ExperimentError(key, f"`{location}` has no `{attribute}`", fix=fix)
    return getattr(module, attribute)


def _unloadable(error: BaseException, key: str, location: str, base: Path) -> ExperimentError:
    """Names the line at fault, unless there is no such file or module at all."""
    # No path has a NUL in it.
    line = None if "\0" in location else causes.line_of(error, str((base / location).resolve()))
    if line is None:
        fix = "write `file.py:name`, relative to the experiment file, or `package.module:name`"
        return ExperimentError(key, f"cannot load `{location}`: {error}", fix=fix)
    if isinstance(error, ExperimentError):
        return ExperimentError(key, f"{line} {error.problem}", fix=error.fix)
    return ExperimentError(key, f"{line} {causes.cause_of(error)}", fix=causes.advice_on(error))


def _module(location: str, base: Path) -> ModuleType:
    if not location.endswith(".py"):
        return importlib.import_module(location)
    path = (base / location).resolve()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"no file {path}")
    module = importlib.util.module_from_spec(spec)
    # Registered under its own name so that functions of the file can be pickled to Spark's workers.
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
