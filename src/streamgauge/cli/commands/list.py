"""`streamgauge list`: what there is to choose from, and the runs so far."""

from __future__ import annotations

import difflib
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table
from rich.text import Text

from streamgauge.cli import options
from streamgauge.cli.terminal import Session, plain_table
from streamgauge.errors import UsageError

if TYPE_CHECKING:
    from streamgauge.cli.catalogue import Entry, Parameter
    from streamgauge.cli.stored_runs import StoredRun

KINDS = ("experiments", "queries", "channels", "systems", "policies", "schedules")
RUNS = "runs"


@click.command("list")
@click.argument("kind", required=False, metavar="[KIND]")
@click.argument("name", required=False, metavar="[NAME]")
@options.runs_dir
@options.as_json
@click.pass_obj
def command(
    session: Session, kind: str | None, name: str | None, runs_dir: Path, as_json: bool
) -> None:
    """Show experiments, queries, systems and the like, or past runs.

    KIND is experiments, queries, channels, systems, policies, schedules or runs. Without it
    everything but the runs is listed by name; with it parameters and their defaults are shown too,
    and with NAME those of one entry.
    """
    if kind is not None and kind not in (*KINDS, RUNS):
        raise _unknown(kind)
    if kind == RUNS:
        _list_runs(session, runs_dir, name, as_json)
        return
    entries = {one: _entries(one, name) for one in ((kind,) if kind else KINDS)}
    if as_json:
        listed = {one: [asdict(entry) for entry in found] for one, found in entries.items()}
        session.say_json(listed[kind] if kind else listed)
        return
    for number, (one, found) in enumerate(entries.items()):
        if number:
            session.say()
        _show(session, one, found, details=kind is not None)
    if kind == "systems" and name is None:
        _show_support(session)


def _unknown(kind: str) -> UsageError:
    near = difflib.get_close_matches(kind, (*KINDS, RUNS), n=1)
    return UsageError(
        f"there are no `{kind}` to list",
        fix=f"did you mean `{near[0]}`?" if near else f"choose one of {', '.join((*KINDS, RUNS))}",
    )


def _entries(kind: str, name: str | None) -> list[Entry]:
    from streamgauge.cli import catalogue

    if kind == "experiments":
        found = catalogue.experiments()
    else:
        found = catalogue.installed(kind.replace("-", "_"))
    if name is None:
        return found
    return [_only(name, {entry.name: entry for entry in found}, kind)]


def _only(name: str, known: dict[str, Any], kind: str) -> Any:
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1)
    raise UsageError(
        f"there is no `{name}` among the {kind.replace('-', ' ')}",
        fix=f"did you mean `{near[0]}`?" if near else f"`streamgauge list {kind}` shows them",
    )


def _show(session: Session, kind: str, entries: list[Entry], *, details: bool) -> None:
    session.say((kind.replace("-", " "), "bold"))
    if not entries:
        session.say("  none")
    if not details:
        table = plain_table()
        table.show_header = False
        table.add_column()
        table.add_column()
        for entry in entries:
            table.add_row(Text(f"  {entry.name}", "cyan"), _about(entry))
        session.say_table(table)
        return
    for entry in entries:
        session.say("  ", (entry.name, "cyan"), "  ", _about(entry))
        if entry.parameters:
            session.say_table(_parameters(entry.parameters))


def _show_support(session: Session) -> None:
    """Which system can do what; the reasons for each no are below the table."""
    from streamgauge.systems.support import support_matrix

    entries = support_matrix()
    systems = list(dict.fromkeys(entry.system for entry in entries))
    cells = {(entry.sort, entry.name, entry.system): entry.capability for entry in entries}
    session.say()
    session.say(("support", "bold"))
    table = plain_table("  ", *systems)
    for sort, name in dict.fromkeys((entry.sort, entry.name) for entry in entries):
        found = (cells.get((sort, name, system)) for system in systems)
        table.add_row(
            f"  {sort} {name}", *("–" if one is None else one.support.value for one in found)
        )
    session.say_table(table)
    for entry in entries:
        if not entry.capability:
            support, reason = entry.capability.support.value, entry.capability.reason
            session.say(f"  {entry.system}, {entry.sort} {entry.name}: {support}: {reason}")


def _about(entry: Entry) -> Text:
    if entry.broken:
        return Text(f"✗ {entry.broken}", "red")
    return Text(entry.about)


def _parameters(parameters: tuple[Parameter, ...]) -> Table:
    table = plain_table("      parameter", "default", "")
    for one in parameters:
        default = "required" if one.required else _written(one.default)
        table.add_row(Text(f"      {one.name}"), Text(default), Text(one.about, "dim"))
    return table


def _written(default: object) -> str:
    if default is None:
        return "–"
    return default if isinstance(default, str) else str(default)


def _list_runs(session: Session, runs_dir: Path, name: str | None, as_json: bool) -> None:
    from streamgauge.cli.stored_runs import stored_runs

    runs = stored_runs(runs_dir)
    if name is not None:
        runs = [_only(name, {run.name: run for run in runs}, RUNS)]
    if as_json:
        session.say_json([_run_fields(run) for run in runs])
        return
    if not runs:
        session.say(f"no runs in {runs_dir}; `streamgauge run quickstart` makes one")
        return
    table = plain_table("run", "status", "verdict", "sustained", "offered", "p99 (event time)", "")
    for run in runs:
        table.add_row(*_run_cells(run))
    session.say_table(table)


def _run_fields(run: StoredRun) -> dict[str, Any]:
    summary = run.summary
    return {
        "run": run.name,
        "path": str(run.directory.path),
        "name": summary.name if summary else None,
        "status": run.status,
        "verdict": summary.verdict.value if summary else None,
        "sustained": summary.sustained if summary else None,
        "offered_per_s": summary.offered_per_s if summary else None,
        "event_time_p99_ms": summary.latency_ms.event_time.p99 if summary else None,
        "quick": summary.quick if summary else None,
    }


def _run_cells(run: StoredRun) -> list[Text]:
    from streamgauge import writing
    from streamgauge.cli.results import VERDICT_STYLES, answer_text
    from streamgauge.cli.terminal import QUICK_STAMP

    if run.summary is None:
        return [Text(run.name), Text(run.status)]
    summary = run.summary
    verdict = summary.verdict
    offered, p99 = summary.offered_per_s, summary.latency_ms.event_time.p99
    return [
        Text(run.name),
        Text(run.status),
        Text(f"{verdict.mark} {verdict.value}", VERDICT_STYLES[verdict]),
        answer_text(summary.sustained),
        Text(writing.NOTHING if offered is None else writing.rate(offered)),
        Text(writing.NOTHING if p99 is None else writing.duration(p99)),
        Text(QUICK_STAMP if summary.quick else "", "yellow"),
    ]
