"""`streamgauge new`: an experiment file, and a query or a program of the user's, to be changed."""

from __future__ import annotations

import keyword
import re
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template

import click

from streamgauge.cli.terminal import Session, written
from streamgauge.errors import UsageError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_QUERY = {
    ".py": ("query.py.template", "the query and its events"),
    ".yaml": ("experiment.yaml.template", "the experiment"),
}
_PROGRAM = {
    "_job.py": ("program/job.py.template", "the program"),
    ".py": ("program/results.py.template", "its events and results"),
    ".yaml": ("program/experiment.yaml.template", "the experiment"),
}
"""By the ending of a file: its template, and what it is."""


@click.command("new")
@click.argument("name")
@click.option("--program", is_flag=True, help="For a program that reads and writes Kafka topics.")
@click.option("--force", is_flag=True, help="Overwrite files that exist.")
@click.pass_obj
def command(session: Session, name: str, program: bool, force: bool) -> None:
    """Make NAME.py and NAME.yaml here, to measure a query of your own.

    NAME becomes the name of a Python function. With --program the files describe a program of your
    own instead of a query for Spark, and NAME_job.py is an example of one.
    """
    folder = Path.cwd()
    check_name(name, folder)
    made = _PROGRAM if program else _QUERY
    paths = {folder / f"{name}{suffix}": template for suffix, (template, _) in made.items()}
    existing = [path.name for path in paths if path.exists()]
    if existing and not force:
        raise UsageError(
            f"{' and '.join(existing)} {'exists' if len(existing) == 1 else 'exist'} already",
            fix="choose another name, or overwrite with --force",
        )
    for path, template in paths.items():
        text = (files("streamgauge.cli") / "templates" / template).read_text(encoding="utf-8")
        with written(path, fix="go to a folder where you may write"):
            path.write_text(Template(text).substitute(name=name), encoding="utf-8")
    *others, last = (f"{name}{suffix}, {what}" for suffix, (_, what) in made.items())
    session.say(f"made {', '.join(others)}, and {last}")
    session.heading("next:", "")
    session.say("  change them as you like; they work as they are")
    for command_line, what in (
        (f"streamgauge validate {name}.yaml", "checks them"),
        (f"streamgauge run {name}.yaml --quick", "a first try"),
        (f"streamgauge run {name}.yaml", "the real run, with a report"),
    ):
        session.say("  ", (f"{command_line:<{len(name) + 34}}", "cyan"), f"  {what}")


def check_name(name: str, folder: Path) -> None:
    """Refuses a name that cannot be the name of a function, a module and an experiment."""
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        better = re.sub(r"\W+", "_", re.sub(r"\.(py|ya?ml)$", "", name), flags=re.ASCII).strip("_")
        usable = name.isascii() and _NAME.fullmatch(better) and not keyword.iskeyword(better)
        raise UsageError(
            f"`{name}` cannot be the name of a Python function",
            fix=f"did you mean `{better}`?"
            if usable
            else "use letters, digits and _, beginning with a letter, such as `my_query`",
        )
    spec = find_spec(name)
    if spec is not None and spec.origin != str(folder / f"{name}.py"):
        raise UsageError(
            f"`{name}` is the name of a Python module, which {name}.py would hide",
            fix=f"choose another name, such as `my_{name}`",
        )
