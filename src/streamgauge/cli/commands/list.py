"""`streamgauge list`: experiments, plug-ins and their parameters, and the runs so far."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.text import Text

from streamgauge.cli import completion, options
from streamgauge.cli.completion import KINDS, RUNS
from streamgauge.cli.terminal import QUICK_STAMP, Session
from streamgauge.errors import UsageError
from streamgauge.hints import did_you_mean

if TYPE_CHECKING:
    from streamgauge.cli.catalogue import Entry
    from streamgauge.cli.stored_runs import StoredRun

Named = TypeVar("Named", "Entry", "StoredRun")


@click.command("list")
@click.argument("kind", required=False, metavar="[KIND]", shell_complete=completion.kinds)
@click.argument("name", required=False, metavar="[NAME]", shell_complete=completion.names)
@options.runs_dir
@options.as_json
@click.pass_obj
def command(
    session: Session, kind: str | None, name: str | None, runs_dir: Path, as_json: bool
) -> None:
    """Show experiments, queries, systems and the like, or past runs.

    KIND is experiments, queries, channels, systems, policies, schedules, services, faults or
    runs. Without it everything but the runs is listed by name; with it parameters and their
    defaults are shown too, and with NAME those of one entry.
    """
    from streamgauge.cli.catalogue import experiments, installed

    known = (*KINDS, RUNS)
    if kind is not None and kind not in known:
        fix = did_you_mean(kind, known, f"choose one of {', '.join(known)}")
        raise UsageError(f"there are no `{kind}` to list", fix=fix)
    if kind == RUNS:
        _list_runs(session, runs_dir, name, as_json)
        return
    entries = {
        one: _only(name, experiments() if one == "experiments" else installed(one), one)
        for one in ((kind,) if kind else KINDS)
    }
    if as_json:
        listed = {one: [asdict(entry) for entry in found] for one, found in entries.items()}
        session.say_json(listed[kind] if kind else listed)
        return
    for number, (one, found) in enumerate(entries.items()):
        if number:
            session.say()
        session.say((one, "bold"))
        if kind is None:
            session.say_table((Text(f"  {entry.name}", "cyan"), _about(entry)) for entry in found)
        else:
            _show_details(session, found)
    if kind == "systems" and name is None:
        _show_support(session)


def _only(name: str | None, found: list[Named], kind: str) -> list[Named]:
    """All, or the one with that name."""
    named = [one for one in found if name in (None, one.name)]
    if name is not None and not named:
        known = [one.name for one in found]
        fix = did_you_mean(name, known, f"`streamgauge list {kind}` shows them")
        raise UsageError(f"there is no `{name}` among the {kind}", fix=fix)
    return named


def _about(entry: Entry) -> Text:
    return Text(f"✗ {entry.broken}", "red") if entry.broken else Text(entry.about)


def _show_details(session: Session, entries: list[Entry]) -> None:
    if not entries:
        session.say("  none")
    for entry in entries:
        session.say("  ", (entry.name, "cyan"), "  ", _about(entry))
        rows = []
        for one in entry.parameters:
            default = "–" if one.default is None else str(one.default)
            shown = "required" if one.required else default
            rows.append((f"      {one.name}", shown, Text(one.about, "dim")))
        if rows:
            session.say_table(rows, "      parameter", "default", "")


def _show_support(session: Session) -> None:
    """The capabilities of each system; the reasons for each no are below the table."""
    from streamgauge.systems.support import support_matrix

    entries = support_matrix()
    systems = list(dict.fromkeys(entry.system for entry in entries))
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for entry in entries:
        row = cells.setdefault((entry.sort, entry.name), {})
        row[entry.system] = entry.capability.support.value
    rows = [
        (f"  {sort} {name}", *(row.get(system, "–") for system in systems))
        for (sort, name), row in cells.items()
    ]
    session.heading("support")
    session.say_table(rows, "  ", *systems)
    for entry in entries:
        if not entry.capability:
            support, reason = entry.capability.support.value, entry.capability.reason
            session.say(f"  {entry.system}, {entry.sort} {entry.name}: {support}: {reason}")


def _list_runs(session: Session, runs_dir: Path, name: str | None, as_json: bool) -> None:
    from streamgauge.cli.stored_runs import stored_runs

    runs = _only(name, stored_runs(runs_dir), RUNS)
    if as_json:
        session.say_json([_run_fields(run) for run in runs])
    elif not runs:
        session.say(f"no runs in {runs_dir}; `streamgauge run quickstart` makes one")
    else:
        headings = ("run", "outcome", "results", "sustained", "offered", "p99 (event time)", "")
        session.say_table([_run_cells(run) for run in runs], *headings)


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


def _run_cells(run: StoredRun) -> list[str | Text]:
    from streamgauge import writing
    from streamgauge.cli.results import answer_text, outcome_text, verdict_text
    from streamgauge.measure.outcome import outcome_of

    summary = run.summary
    if summary is None:
        return [run.name, run.status]
    return [
        run.name,
        outcome_text(outcome_of(summary)),
        verdict_text(summary.verdict),
        answer_text(summary.sustained),
        writing.or_nothing(summary.offered_per_s, writing.rate),
        writing.or_nothing(summary.latency_ms.event_time.p99, writing.duration),
        Text(QUICK_STAMP if summary.quick else "", "yellow"),
    ]
