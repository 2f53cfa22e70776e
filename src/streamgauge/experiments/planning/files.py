"""Reads an experiment: a file or a built-in one, with the changes asked for on the command line."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from streamgauge.errors import ExperimentError, UsageError
from streamgauge.experiments.planning.model import Experiment
from streamgauge.experiments.planning.validation import validated

EXPERIMENTS = files("streamgauge.experiments")
BUILT_IN = EXPERIMENTS / "builtin"
QUICK_DEFAULTS: dict[str, Any] = {"duration": "10 s", "warm_up": "25 %"}
FREE_KEYS = "conf"
"""Below this key names have dots of their own: `system.conf.spark.sql.shuffle.partitions`."""


def builtin_names() -> list[str]:
    """The experiments that come with streamgauge."""
    return sorted(
        entry.name.removesuffix(".yaml") for entry in BUILT_IN.iterdir() if ".yaml" in entry.name
    )


def read_experiment(
    source: str, settings: Sequence[str] = (), *, quick: bool = False
) -> tuple[Experiment, Path]:
    """The experiment, and the folder that its relative paths start from."""
    text, base, default_name = _text(source)
    defaults = _parse((EXPERIMENTS / "defaults.yaml").read_text(), "defaults.yaml")
    data = {**defaults, **_parse(text, source)}
    data.setdefault("name", default_name)
    if quick:
        changes = data.get("quick") or {}
        if not isinstance(changes, dict):
            raise ExperimentError("quick", "must be a mapping of settings to values")
        for key, value in {**QUICK_DEFAULTS, **changes}.items():
            put(data, str(key), value)
    for setting in settings:
        key, sign, value = setting.partition("=")
        if not sign or not key.strip():
            raise UsageError(
                f"`--set {setting}` is not of the form key=value",
                fix="write for example `--set load.rate=200_000`",
            )
        put(data, key.strip(), _scalar(value))
    return validated(Experiment, data), base


def _text(source: str) -> tuple[str, Path, str]:
    path, known = Path(source), builtin_names()
    # A folder of that name, in which somebody keeps runs or queries, does not hide it.
    if source in known and not path.is_file():
        return (BUILT_IN / f"{source}.yaml").read_text(), Path.cwd(), source
    if path.suffix in (".yaml", ".yml") or path.exists():
        try:
            return path.read_text(), path.resolve().parent, path.stem
        except FileNotFoundError:
            raise UsageError(
                f"there is no experiment file {source}",
                fix="`streamgauge list experiments` shows the built-in ones, "
                "`streamgauge new` makes one",
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read {source}: {error}", fix="give a YAML file") from None
    near = difflib.get_close_matches(source, known, n=1)
    raise UsageError(
        f"there is no experiment `{source}`",
        fix=f"did you mean `{near[0]}`?" if near else f"choose one of: {', '.join(known)}",
    )


class _Loader(yaml.SafeLoader):
    """Refuses a key that stands twice in one mapping, which plain YAML would silently accept."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable) and key in seen:
                line = key_node.start_mark.line + 1
                raise ExperimentError(str(key), f"stands twice (line {line})", fix="remove one")
            if isinstance(key, Hashable):
                seen.add(key)
        return super().construct_mapping(node, deep)


def _parse(text: str, source: str) -> dict[str, Any]:
    try:
        data = yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f" in line {where.line + 1}" if where else ""
        words = (getattr(error, "context", None), getattr(error, "problem", None))
        problem = ", ".join(word for word in words if word) or "cannot be read"
        raise ExperimentError(source, f"is not YAML{line}: {problem}", fix="correct it") from None
    except RecursionError:
        raise ExperimentError(source, "is nested too deeply", fix="flatten it") from None
    except ValueError as error:
        raise ExperimentError(source, f"cannot be read: {error}", fix="correct it") from None
    if not isinstance(data, dict):
        raise ExperimentError(source, "must be a mapping such as `name: …`", fix="see the docs")
    return {str(key): value for key, value in data.items()}


def put(data: dict[str, Any], path: str, value: Any) -> None:
    """Sets `load.rate`; a name that stands alone (`system: spark`) becomes a mapping first."""
    *parents, last = _keys(path)
    place = data
    for index, parent in enumerate(parents):
        found = place.get(parent)
        if isinstance(found, str):
            found = {"name": found}
        if found is None:
            found = {}
        if not isinstance(found, dict):
            key = ".".join(parents[: index + 1])
            raise ExperimentError(path, f"cannot be set, because `{key}` is not a section")
        place[parent] = found
        place = found
    place[last] = value


def _keys(path: str) -> list[str]:
    keys = path.split(".")
    if FREE_KEYS in keys[:-1]:
        split = keys.index(FREE_KEYS) + 1
        keys = [*keys[:split], ".".join(keys[split:])]
    return keys


def _scalar(text: str) -> Any:
    try:
        return yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, RecursionError, ValueError):
        return text
