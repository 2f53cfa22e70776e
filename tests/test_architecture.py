"""Rules about the source as a whole: import order, one launcher, no names of systems and channels
outside their folders, a docstring in every module."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import streamgauge

SOURCE = Path(streamgauge.__file__).parent
MODULES = sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))

LEVELS: list[set[str]] = [
    {"version", "errors", "causes", "units", "hints", "models", "writing", "plugins", "parts"}
    | {"references"},
    {"dual"},
    {"processes"},
    {"compute"},
    {"events"},
    {"driver"},
    {"queries"},
    {"channels"},
    {"measure"},
    {"services"},
    {"systems"},
    {"disturb"},
    {"report"},
    {"compare"},
    {"experiments.planning"},
    {"experiments.running", "experiments.summarising"},
    {"experiments"},
    {"cli"},
]
"""A module imports from its own level and from those above it in this list."""

OF_THE_RUNTIME = {"dual", "errors", "models"}
"""All that the dual-paradigm runtime may import: it can be used without the station."""

BUILT_ON = {"systems/spark": "systems/dual/"}
"""A system that is a runtime on another one."""

PARTS = {
    kind: sorted(path.parent.name for path in (SOURCE / kind).glob("*/__init__.py"))
    for kind in ("systems", "channels")
}


@cache
def tree(module: str) -> ast.Module:
    return ast.parse((SOURCE / module).read_text())


def imports(tree: ast.Module) -> Iterator[str]:
    """Modules of streamgauge that are imported anywhere in a module, also only for type checks."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            # `from streamgauge import errors` imports a module, too.
            whole = node.module == "streamgauge"
            names = [f"streamgauge.{alias.name}" for alias in node.names] if whole else []
            names = names or [str(node.module)]
        else:
            continue
        yield from (name for name in names if name.startswith("streamgauge."))


def level(dotted: str) -> int:
    """Position in the order of a module such as `measure.limits.evidence`."""
    words = dotted.split(".")
    for length in (2, 1):
        package = ".".join(words[:length])
        for number, packages in enumerate(LEVELS):
            if package in packages:
                return number
    raise AssertionError(f"`{dotted}` has no place in LEVELS")


def against_the_order(module: str, tree: ast.Module) -> set[str]:
    own = level(module.removesuffix(".py").replace("/", "."))
    return {name for name in imports(tree) if level(name.removeprefix("streamgauge.")) > own}


def of_the_station(tree: ast.Module) -> set[str]:
    return {name for name in imports(tree) if name.split(".")[1] not in OF_THE_RUNTIME}


def foreign_names(module: str, tree: ast.Module) -> set[str]:
    """Systems and channels that a module names although it belongs to none of them."""
    found = set()
    for kind, parts in PARTS.items():
        for part in parts:
            # How a system works with a channel is in the system's folder.
            fits = kind == "channels" and re.fullmatch(r"systems/\w+/.+", module)
            built_on = module.startswith(BUILT_ON.get(f"{kind}/{part}", "-"))
            if not module.startswith(f"{kind}/{part}/") and not fits and not built_on:
                found |= named(tree, kind, part)
    return found


def named(tree: ast.Module, kind: str, part: str) -> set[str]:
    path = f"{kind}.{part}"
    in_text = re.compile(rf"\b{kind}[./]{part}\b")
    class_name = f"{part.title()}{kind.removesuffix('s').title()}"
    found = {path for name in imports(tree) if in_text.search(name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= {part} if node.value == part else set()
            found |= {path} if in_text.search(node.value) else set()
        elif class_name in (getattr(node, "id", None), getattr(node, "attr", None)):
            found.add(class_name)
    return found


def process_starts(tree: ast.Module) -> set[str]:
    """Ways to start a process other than a short `subprocess.run`."""
    starts = re.compile(r"Popen|fork(pty)?|posix_spawnp?|spawn[lv]p?e?|multiprocessing|system")
    found = set()
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names = [node.attr] if node.value.id in ("subprocess", "os") else []
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [str(node.module), *(alias.name for alias in node.names)]
        found |= {name for name in names if starts.fullmatch(name)}
    return found


def per_module(found: dict[str, set[str]]) -> dict[str, set[str]]:
    return {module: names for module, names in found.items() if names}


def test_packages_import_only_from_those_before_them() -> None:
    # The public names of the top package come from everywhere.
    modules = [module for module in MODULES if module != "__init__.py"]
    found = per_module({module: against_the_order(module, tree(module)) for module in modules})
    assert found == {}


def test_the_dual_paradigm_runtime_imports_nothing_of_the_station() -> None:
    modules = [module for module in MODULES if module.startswith("dual/")]
    assert modules
    assert per_module({module: of_the_station(tree(module)) for module in modules}) == {}


def test_only_the_launcher_starts_processes() -> None:
    found = per_module({module: process_starts(tree(module)) for module in MODULES})
    assert found == {"processes/launcher.py": {"Popen"}}


def test_no_system_or_channel_is_named_outside_its_folder() -> None:
    # The runtime is no part of the station: it reads and writes topics whatever the channel.
    apart = ("cli/", "dual/")
    modules = [module for module in MODULES if not module.startswith(apart)]
    found = per_module({module: foreign_names(module, tree(module)) for module in modules})
    # Every system has a program, which faults can be done to.
    assert found == {"processes/targets.py": {"program"}}


def test_every_module_has_a_docstring() -> None:
    assert [module for module in MODULES if not ast.get_docstring(tree(module))] == []


@pytest.mark.parametrize(
    "text",
    [
        "import streamgauge.cli.app",
        "from streamgauge.cli.app import main",
        "from streamgauge import cli",
        "def late():\n    from streamgauge.experiments.api import run",
        "if TYPE_CHECKING:\n    from streamgauge.systems.base import System",
    ],
)
def test_an_import_against_the_order_is_found_wherever_it_stands(text: str) -> None:
    assert against_the_order("measure/latency.py", ast.parse(text))
    assert not against_the_order("cli/app.py", ast.parse(text))


def test_an_import_of_the_station_is_found() -> None:
    text = "from streamgauge.models import StrictModel\nfrom streamgauge.units import parse_share"
    assert of_the_station(ast.parse(text)) == {"streamgauge.units"}


@pytest.mark.parametrize(
    "text",
    [
        "from streamgauge.systems.spark.system import SparkSystem",
        "isinstance(system, base.SparkSystem)",
        'system = "spark"',
        'argv = ["-m", "streamgauge.systems.spark.program"]',
    ],
)
def test_the_name_of_a_system_is_found(text: str) -> None:
    assert foreign_names("report/html.py", ast.parse(text))
    assert not foreign_names("systems/spark/direct.py", ast.parse(text))


def test_a_system_may_name_a_channel_in_its_own_folder_only() -> None:
    text = "from streamgauge.channels.direct.protocol import client"
    assert not foreign_names("systems/spark/direct.py", ast.parse(text))
    assert foreign_names("systems/base.py", ast.parse(text)) == {"channels.direct"}


def test_spark_as_a_tool_of_ours_may_be_named() -> None:
    text = "from pyspark.sql import SparkSession\nspark = SparkSession.builder.master('local')"
    assert not foreign_names("measure/calculate.py", ast.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "subprocess.Popen(['ls'])",
        "from subprocess import Popen",
        "os.fork()",
        "import multiprocessing",
        "from multiprocessing import Process",
    ],
)
def test_a_second_way_to_start_a_process_is_found(text: str) -> None:
    assert process_starts(ast.parse(text))
    assert not process_starts(ast.parse("subprocess.run(['ls'], check=True)"))
