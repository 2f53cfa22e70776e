"""Reads an experiment file or a built-in experiment, with the changes of `--set` and `--quick`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from streamgauge.errors import ExperimentError, UsageError
from streamgauge.experiments.planning.model import Experiment
from streamgauge.experiments.planning.validation import validated
from streamgauge.hints import did_you_mean

EXPERIMENTS = files("streamgauge.experiments")
BUILT_IN = EXPERIMENTS / "builtin"
QUICK_DEFAULTS: dict[str, Any] = {"duration": "10 s", "warm_up": "25 %"}
FREE_KEYS = "conf"
"""The names below this key may contain dots: `system.conf.spark.sql.shuffle.partitions`."""


def builtin_names() -> list[str]:
    return sorted(Path(entry.name).stem for entry in BUILT_IN.iterdir() if ".yaml" in entry.name)


def read_experiment(
    source: str, settings: Sequence[str] = (), *, quick: bool = False
) -> tuple[Experiment, Path]:
    """The experiment, and the folder that its relative paths start from."""
    text, base, default_name = _text(source)
    defaults = _parse((EXPERIMENTS / "defaults.yaml").read_text(), "defaults.yaml")
    data = {**defaults, **_parse(text, source)}
    data.setdefault("name", default_name)
    if isinstance(data["channel"], dict):
        data["channel"] = {"name": defaults["channel"], **data["channel"]}
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
    # A folder of the same name does not hide a built-in experiment.
    if source in known and not path.is_file():
        return (BUILT_IN / f"{source}.yaml").read_text(), Path.cwd(), source
    if path.suffix in (".yaml", ".yml") or path.exists():
        try:
            return path.read_text(), path.resolve().parent, path.stem
        except FileNotFoundError:
            fix = "`streamgauge list experiments` shows those built in, `streamgauge new` makes one"
            raise UsageError(f"there is no experiment file {source}", fix=fix) from None
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read {source}: {error}", fix="give a YAML file") from None
    fix = did_you_mean(source, known, f"choose one of: {', '.join(known)}")
    raise UsageError(f"there is no experiment `{source}`", fix=fix)


class _Loader(yaml.SafeLoader):
    """Refuses a key that a mapping has twice, of which PyYAML would silently use the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: list[Any] = []
        for key_node, _ in node.value:
            if key_node.tag != "tag:yaml.org,2002:merge":
                key = self.construct_object(key_node, deep=True)
                if key in seen:
                    problem = f"is there twice (line {key_node.start_mark.line + 1})"
                    raise ExperimentError(str(key), problem, fix="remove one")
                seen.append(key)
        return super().construct_mapping(node, deep)


def _parse(text: str, source: str) -> dict[str, Any]:
    try:
        data = yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" in line {mark.line + 1}" if mark else ""
        parts = (getattr(error, "context", None), getattr(error, "problem", None))
        problem = ", ".join(filter(None, parts)) or "cannot be read"
        raise ExperimentError(source, f"is not YAML{line}: {problem}", fix="correct it") from None
    except RecursionError:
        raise ExperimentError(source, "is nested too deeply", fix="flatten it") from None
    except ValueError as error:
        raise ExperimentError(source, f"cannot be read: {error}", fix="correct it") from None
    if not isinstance(data, dict):
        raise ExperimentError(source, "must be a mapping such as `name: …`", fix="see the docs")
    return {str(key): value for key, value in data.items()}


def put(data: dict[str, Any], path: str, value: Any) -> None:
    """Sets `load.rate`; a name without settings (`system: spark`) becomes a section first."""
    keys = path.split(".")
    if FREE_KEYS in keys[:-1]:
        split = keys.index(FREE_KEYS) + 1
        keys = [*keys[:split], ".".join(keys[split:])]
    section = data
    for depth, key in enumerate(keys[:-1], 1):
        found = section.get(key)
        if found is None or isinstance(found, str):
            found = {} if found is None else {"name": found}
        if not isinstance(found, dict):
            parent = ".".join(keys[:depth])
            raise ExperimentError(path, f"cannot be set, because `{parent}` is not a section")
        section[key] = found
        section = found
    section[keys[-1]] = value


def _scalar(text: str) -> Any:
    try:
        return yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, RecursionError, ValueError):
        return text
