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


LONGEST_TEXT = 1_000_000
MOST_READ = 100_000
"""Characters of keys and values; what an alias stands for counts again."""
DEEPEST = 20
LARGEST = 1 << 64
"""No setting takes a larger whole number, and Python does not print one of any length."""


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
        key = key.strip()
        put(data, key, _scalar(value))
        varied = data.get("vary")
        if key != "vary" and isinstance(varied, dict) and key in varied:
            # One value was asked for; it would have no effect beside the list.
            data["vary"] = {name: one for name, one in varied.items() if name != key}
    return validated(Experiment, data), base


def _text(source: str) -> tuple[str, Path, str]:
    path, known = Path(source), builtin_names()
    try:
        # A folder of the same name does not hide a built-in experiment.
        if source in known and not path.is_file():
            return (BUILT_IN / f"{source}.yaml").read_text(), Path.cwd(), source
        if path.suffix in (".yaml", ".yml") or path.exists():
            with path.open(encoding="utf-8") as file:
                text = file.read(LONGEST_TEXT + 1)
            if len(text) > LONGEST_TEXT:
                raise ValueError(f"it has more than {LONGEST_TEXT:,} characters")
            return text, path.resolve().parent, path.stem
    except FileNotFoundError:
        fix = "`streamgauge list experiments` shows those built in, `streamgauge new` makes one"
        raise UsageError(f"there is no experiment file {source}", fix=fix) from None
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {source}: {error}", fix="give a YAML file") from None
    fix = did_you_mean(source, known, f"choose one of: {', '.join(known)}")
    raise UsageError(f"there is no experiment `{source}`", fix=fix)


class _Loader(yaml.SafeLoader):
    """Bounds what is read, also what aliases repeat.

    Refuses a key that a mapping has twice, of which PyYAML would silently use the last.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0
        self._read = 0
        self._sizes: dict[int, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        is_alias = self.check_event(yaml.AliasEvent)
        before = self._read
        self._depth += 1
        self._require(self._depth <= DEEPEST, f"more than {DEEPEST} levels of nesting")
        node = super().compose_node(parent, index)
        assert node is not None
        self._depth -= 1
        if is_alias:
            self._require(id(node) in self._sizes, "an alias within what it stands for")
            self._read += self._sizes[id(node)]
        else:
            self._read += 1 + (len(node.value) if isinstance(node, yaml.ScalarNode) else 0)
            self._sizes[id(node)] = self._read - before
        self._require(self._read <= MOST_READ, f"more than {MOST_READ:,} characters of settings")
        return node

    def _require(self, condition: bool, otherwise: str) -> None:
        if not condition:
            raise yaml.MarkedYAMLError(problem=otherwise, problem_mark=self.get_mark())

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key_node.tag == "tag:yaml.org,2002:merge" or not isinstance(key, Hashable):
                continue
            if key in seen:
                problem = f"is there twice (line {key_node.start_mark.line + 1})"
                raise ExperimentError(str(key), problem, fix="remove one")
            seen.add(key)
        return super().construct_mapping(node, deep)

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        number = super().construct_yaml_int(node)
        if abs(number) > LARGEST:
            raise ValueError(f"the number in line {node.start_mark.line + 1} is too large")
        return number


_WRONG_TAG = (ValueError, LookupError, AttributeError)
"""What PyYAML raises for a value that is none of its kind, such as `!!int x` or 2024-13-01."""
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)


def _parse(text: str, source: str) -> dict[str, Any]:
    try:
        data = yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" in line {mark.line + 1}" if mark else ""
        parts = (getattr(error, "context", None), getattr(error, "problem", None))
        problem = ", ".join(filter(None, parts)) or "it is not YAML"
        raise ExperimentError(
            source, f"cannot be read{line}: {problem}", fix="correct it"
        ) from None
    except _WRONG_TAG as error:
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
    if len(keys) > DEEPEST:
        raise ExperimentError(path, "is no path of a setting", fix="write one such as `load.rate`")
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
    except (yaml.YAMLError, *_WRONG_TAG):
        return text
