"""The line of an experiment file that an error is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import yaml

from streamgauge.errors import ExperimentError

LONGEST_TEXT = 20_000
"""Of a longer file no line is named: to look for it would take seconds."""


@contextmanager
def naming_lines(
    source: str, settings: Sequence[str] = (), *, quick: bool = False
) -> Iterator[None]:
    """An error about a setting of that file names its line."""
    try:
        yield
    except ExperimentError as error:
        changed = [setting.partition("=")[0].strip() for setting in settings]
        line = _line_in(source, error.key, changed, quick=quick)
        if line is None:
            raise
        problem = f"{error.problem} (line {line})"
        raise ExperimentError(error.key, problem, fix=error.fix) from error


def line_of(text: str, key: str) -> int | None:
    """The line of a setting such as `load.rate` or `faults.2.at`, counted from 1.

    A key that is missing has the line of its section.
    """
    return _line_below(yaml.compose(text, Loader=yaml.SafeLoader), key)


def _line_below(node: yaml.Node | None, key: str) -> int | None:
    line = None
    for word in key.split("."):
        if isinstance(node, yaml.MappingNode):
            pairs = {name.value: (name, value) for name, value in node.value}
            if word not in pairs:
                break
            name, node = pairs[word]
            line = name.start_mark.line + 1
        elif isinstance(node, yaml.SequenceNode) and word.isdigit() and int(word) < len(node.value):
            node = node.value[int(word)]
            line = node.start_mark.line + 1
        else:
            break
    return line


def _line_in(source: str, key: str, changed: list[str], *, quick: bool) -> int | None:
    """None for a built-in experiment, and for a setting that the command line has replaced."""
    path = Path(source)
    if path.suffix not in (".yaml", ".yml") or not path.is_file():
        return None
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(LONGEST_TEXT + 1)
        if len(text) > LONGEST_TEXT:
            return None
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        return None
    if quick and isinstance(root, yaml.MappingNode):
        changed += [
            name.value
            for section, values in root.value
            if section.value == "quick" and isinstance(values, yaml.MappingNode)
            for name, _ in values.value
        ]
    if any(key == one or key.startswith(f"{one}.") for one in changed):
        return None
    return _line_below(root, key)
