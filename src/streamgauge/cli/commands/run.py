"""`streamgauge run`: runs an experiment and says what came out."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamgauge.cli import options
from streamgauge.cli.terminal import QUICK_STAMP, Session
from streamgauge.errors import StreamgaugeError

if TYPE_CHECKING:
    from streamgauge.experiments.plan import Plan
    from streamgauge.experiments.run_directory import RunDirectory


@click.command("run")
@click.argument("experiment")
@options.settings
@options.quick
@options.as_json
@options.runs_dir
@click.option("--dry-run", is_flag=True, help="Print the resolved plan and start nothing.")
@click.pass_obj
def command(
    session: Session,
    experiment: str,
    settings: tuple[str, ...],
    quick: bool,
    as_json: bool,
    runs_dir: Path,
    dry_run: bool,
) -> int:
    """Run an experiment: a file, or the name of a built-in one.

    Progress goes to standard error, the result to standard output; with --json that is the
    summary and nothing else. The exit code says how it went, see `streamgauge --help`.
    """
    from streamgauge.experiments.api import repeat_command
    from streamgauge.experiments.load import read_experiment
    from streamgauge.experiments.outcome import exit_code
    from streamgauge.experiments.plan import make_plan

    session.stamp_quick(quick)
    # A user's file may print when it is loaded; standard output is for the result.
    with redirect_stdout(sys.stderr):
        loaded, base = read_experiment(experiment, settings, quick=quick)
        plan = make_plan(loaded, base)
    if dry_run:
        _show_plan(session, plan, quick=quick, as_json=as_json)
        return 0
    repeat = repeat_command(experiment, list(settings), quick=quick)
    directory = _execute(session, plan, runs_dir, repeat, quick=quick, as_json=as_json)
    _show_result(session, directory, as_json=as_json)
    return exit_code(directory.read_summary())


def _execute(
    session: Session, plan: Plan, runs_dir: Path, repeat: str, *, quick: bool, as_json: bool
) -> RunDirectory:
    from streamgauge.cli.progress import watcher
    from streamgauge.experiments.run_directory import RunDirectory
    from streamgauge.experiments.runner import execute

    observer = watcher(session)
    try:
        with redirect_stdout(sys.stderr), observer.shown():
            return execute(plan, runs_dir, observer, command=repeat, quick=quick)
    except StreamgaugeError as error:
        if error.run is not None:
            # What was measured before is worth showing; the error and its exit code follow.
            _show_result(session, RunDirectory(error.run), as_json=as_json)
        raise


def _show_result(session: Session, directory: RunDirectory, *, as_json: bool) -> None:
    from streamgauge.cli.results import show

    if not directory.summary.exists():
        return
    summary = directory.read_summary()
    if as_json:
        click.echo(summary.model_dump_json(indent=2))
    else:
        show(session, summary, directory.report)


def _show_plan(session: Session, plan: Plan, *, quick: bool, as_json: bool) -> None:
    import yaml

    from streamgauge.cli.resolved import resolved
    from streamgauge.report import units

    experiment = resolved(plan)
    if as_json:
        session.say_json(
            {
                "experiment": experiment,
                "events": plan.events,
                "estimated_s": plan.estimated_us / 1e6,
                "quick": quick,
            }
        )
        return
    if quick:
        click.echo(f"# {QUICK_STAMP}")
    click.echo(yaml.safe_dump(experiment, sort_keys=False, allow_unicode=True).rstrip())
    click.echo(f"# events: {units.count(plan.events)}")
    click.echo(f"# estimated duration: {units.duration(plan.estimated_us / 1_000)}")
