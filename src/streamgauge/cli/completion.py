"""What the shell completes: names of experiments, runs, kinds and their entries."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

KINDS = (
    "experiments",
    "queries",
    "channels",
    "systems",
    "policies",
    "schedules",
    "services",
    "faults",
)
RUNS = "runs"


def experiments(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    """Those built in; the shell adds files."""
    from streamgauge.experiments.planning.files import builtin_names

    # The shell forgets the names before this item.
    return [CompletionItem(typed, type="file"), *_beginning(typed, builtin_names())]


def runs(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
    """The newest first; the shell adds folders."""
    return [CompletionItem(typed, type="dir"), *_beginning(typed, _run_names(context))]


def kinds(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    return _beginning(typed, (*KINDS, RUNS))


def names(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
    """Of the kind that was typed before."""
    from streamgauge import plugins
    from streamgauge.experiments.planning.files import builtin_names

    kind = context.params.get("kind")
    if kind == RUNS:
        return _beginning(typed, _run_names(context))
    known = builtin_names() if kind == "experiments" else plugins.names(str(kind))
    return _beginning(typed, known)


def _run_names(context: click.Context) -> list[str]:
    from streamgauge.cli.stored_runs import run_paths

    folder = context.params.get("runs_dir") or Path(RUNS)
    return [path.name for path in reversed(run_paths(folder))]


def _beginning(typed: str, known: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(name) for name in known if name.startswith(typed)]
