"""The README and the pages of docs/: their code blocks run, their commands and names exist.

- Every ```python block compiles. The blocks after a comment `<!-- run -->` are executed, page by
  page in one namespace, in an empty folder. A block that begins with the path of a file as its
  docstring becomes that file and is imported. `streamgauge.run` takes the simulated system and a
  short load, so that a page can show an experiment of ordinary length.
- Every ```yaml block with `workload` and `load` is a whole experiment and is planned; of the others
  the keys are checked.
- Every `streamgauge` and `make` line of a ```sh or ```console block is parsed and not run.
"""

from __future__ import annotations

import importlib
import re
import shlex
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

import streamgauge
from streamgauge.cli.app import commands
from streamgauge.experiments.planning.files import read_experiment
from streamgauge.experiments.planning.model import Experiment
from streamgauge.experiments.planning.study import make_study

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
SOURCE = Path(streamgauge.__file__).parent
QUICK = {"system": "simulated", "duration": "6 s"}

_BLOCK = re.compile(
    r"(?P<run><!-- run -->\n+)?^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^ *```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A code block of a page."""

    page: Path
    line: int
    language: str
    text: str
    run: bool

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"

    @property
    def file(self) -> Path | None:
        """The file that a Python block shows, when its docstring names one."""
        found = re.match(r'"""([\w/]+\.py)"""', self.text)
        return Path(found[1]) if found else None


def read_blocks(page: Path, text: str) -> Iterator[Block]:
    for found in _BLOCK.finditer(text):
        line = text.count("\n", 0, found.start("text"))
        code = textwrap.dedent(found["text"])
        yield Block(page, line, found["language"], code, found["run"] is not None)


BLOCKS = [block for page in PAGES for block in read_blocks(page, page.read_text())]
PYTHON = [block for block in BLOCKS if block.language == "python"]
YAML = [block for block in BLOCKS if block.language == "yaml"]
SHELL = [block for block in BLOCKS if block.language in ("sh", "console")]


def prose(page: Path) -> str:
    """A page without its blocks."""
    return _BLOCK.sub("", page.read_text())


def inline_code(page: Path) -> list[str]:
    return re.findall(r"`([^`\n]+)`", prose(page))


def command_lines(text: str) -> list[list[str]]:
    """The words of each line, without a prompt and without comments."""
    lines = text.replace("\\\n", " ").splitlines()
    words = (shlex.split(line.removeprefix("$ "), comments=True) for line in lines)
    return [line for line in words if line]


def check_command(words: list[str]) -> None:
    """Fails when a line calls a command, an option, a setting or a target that does not exist."""
    program, *arguments = words
    if program == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        unknown = [word for word in arguments if "=" not in word and word not in targets]
        assert not unknown, f"the Makefile has no target {unknown}"
    if program != "streamgauge":
        return
    name, *arguments = arguments
    command = commands.get_command(click.Context(commands), name)
    assert command is not None, f"there is no command `{name}`"
    given = command.make_context(name, arguments).params
    experiment = given.get("experiment")
    if experiment and not experiment.endswith(".yaml") and experiment != "EXPERIMENT":
        make_study(*read_experiment(experiment, given["settings"], quick=given["quick"]))


def name(page: Path) -> str:
    return page.name


def packages(modules: list[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules}


def short_run(experiment: str, settings: Any = None, **options: Any) -> streamgauge.Result:
    return streamgauge.experiments.api.run(
        experiment, settings={**(settings or {}), **QUICK}, **options
    )


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_a_python_block_compiles(block: Block) -> None:
    compile(block.text, str(block), "exec")


@pytest.mark.parametrize("page", sorted({block.page for block in PYTHON if block.run}), ids=name)
def test_the_marked_python_blocks_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(streamgauge, "run", short_run)
    marked = [block for block in PYTHON if block.page == page and block.run]
    files = {path: block for block in marked if (path := block.file)}
    for path, block in files.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(block.text)
    modules = [".".join(path.with_suffix("").parts) for path in files]
    for module in modules:
        importlib.import_module(module)
    # Another page may show a file of the same package.
    for module in {name for name in sys.modules if name.partition(".")[0] in packages(modules)}:
        del sys.modules[module]
    namespace: dict[str, Any] = {}
    for block in marked:
        if block.file is None:
            exec(compile("\n" * block.line + block.text, str(page), "exec"), namespace)


@pytest.mark.parametrize("block", YAML, ids=str)
def test_a_yaml_block_is_an_experiment_or_a_part_of_one(block: Block, tmp_path: Path) -> None:
    content = yaml.safe_load(block.text)
    if {"workload", "load"} <= set(content):
        path = tmp_path / "experiment.yaml"
        path.write_text(block.text)
        make_study(*read_experiment(str(path)))
    else:
        assert set(content) <= set(Experiment.model_fields)


@pytest.mark.parametrize("block", SHELL, ids=str)
def test_the_commands_of_a_shell_block_exist(block: Block) -> None:
    for words in command_lines(block.text):
        check_command(words)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_names_in_the_text_exist(page: Path) -> None:
    unknown = []
    for code in inline_code(page):
        if found := re.match(r"(streamgauge|make) ([a-z][\w-]*)", code):
            try:
                check_command([found[1], found[2]])
            except click.UsageError:
                pass
            except AssertionError:
                unknown.append(code)
        elif re.fullmatch(r"streamgauge(\.\w+)+", code) and not is_name(code):
            unknown.append(code)
        elif re.fullmatch(r"[\w/-]+\.(py|yaml|md|js|toml)", code) and "/" in code:
            places = (ROOT, ROOT / "src", SOURCE, SOURCE / "experiments")
            if not any((place / code).exists() for place in places):
                unknown.append(code)
        elif re.fullmatch(r"(?!my_)\w+\.py", code) and not any(SOURCE.rglob(code)):
            unknown.append(code)
    assert unknown == []


def is_name(dotted: str) -> bool:
    """Is it a module, something in a module, or a group of entry points?"""
    words = dotted.split(".")
    if f'entry-points."{dotted}"' in (ROOT / "pyproject.toml").read_text():
        return True
    for length in range(len(words), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(words[:length]))
        except ImportError:
            continue
        for word in words[length:]:
            if not hasattr(found, word):
                return False
            found = getattr(found, word)
        return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_links_lead_somewhere(page: Path) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        path, _, anchor = target.partition("#")
        if "://" in path:
            continue
        other = page.parent / path if path else page
        if not other.exists() or (anchor and anchor not in anchors(other)):
            broken.append(target)
    assert broken == []


def anchors(page: Path) -> set[str]:
    """Of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in plain}
