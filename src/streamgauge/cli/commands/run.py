"""`streamgauge run`: runs an experiment and prints its result."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamgauge.cli import completion, options
from streamgauge.cli.terminal import QUICK_STAMP, Session
from streamgauge.errors import StreamgaugeError, UsageError

if TYPE_CHECKING:
    from streamgauge.experiments.planning.study import Study
    from streamgauge.experiments.running.log import Subscriber
    from streamgauge.experiments.running.run_directory import RunDirectory


@click.command("run")
@click.argument("experiment", required=False, shell_complete=completion.experiments)
@options.settings
@options.quick
@options.as_json
@options.runs_dir
@click.option("--dry-run", is_flag=True, help="Print the resolved plan and start nothing.")
@click.option(
    "--resume",
    metavar="RUN",
    help="Go on with a sweep or search that was interrupted.",
    shell_complete=completion.runs,
)
@click.pass_obj
def command(
    session: Session,
    experiment: str | None,
    settings: tuple[str, ...],
    quick: bool,
    as_json: bool,
    runs_dir: Path,
    dry_run: bool,
    resume: str | None,
) -> int:
    """Run an experiment: a file, or the name of a built-in one.

    Progress goes to standard error, the result to standard output; with --json that is the
    summary and nothing else. `streamgauge --help` explains the exit codes.
    """
    from streamgauge.experiments.api import repeat_command
    from streamgauge.experiments.planning.warnings import warnings
    from streamgauge.experiments.running import runner
    from streamgauge.measure.outcome import outcome_of

    if resume is not None:
        if experiment is not None or settings or quick or dry_run:
            raise UsageError(
                "--resume goes on with a run as it was begun, and takes no other settings",
                fix=f"`streamgauge run --resume {resume}`; --json and --runs-dir may be added",
            )
        begun = runner.begun(resume, runs_dir)
        session.stamp_quick(begun.origin.quick)
        directory = _watched(session, begun.proceed, as_json=as_json)
    elif experiment is None:
        raise UsageError(
            "EXPERIMENT is missing: a file, or the name of a built-in one",
            fix="`streamgauge run --help` shows how, `streamgauge list experiments` which",
        )
    else:
        session.stamp_quick(quick)
        study = options.read_study(experiment, settings, quick=quick)
        if dry_run:
            _show_plan(session, study, quick=quick, as_json=as_json)
            return 0
        for text in warnings(study):
            session.note(("warning: ", "bold yellow"), text)
        if not study.is_single:
            session.note(_extent(study))
        repeat = repeat_command(experiment, list(settings), quick=quick)

        def execute(subscriber: Subscriber) -> RunDirectory:
            return runner.execute(study, runs_dir, subscriber, command=repeat, quick=quick)

        directory = _watched(session, execute, as_json=as_json)
    _show_result(session, directory, as_json=as_json)
    return outcome_of(directory.read_summary()).exit_code


def _extent(study: Study) -> str:
    from streamgauge import writing

    searches = sum(group.searched for group in study.groups)
    trials = f"{len(study.cases) * study.experiment.repeat} trial(s)"
    work = f"{searches} search(es) and {trials}" if searches else trials
    return f"{work}, about {writing.duration(study.estimated_us / 1_000)} in all"


def _watched(
    session: Session, work: Callable[[Subscriber], RunDirectory], *, as_json: bool
) -> RunDirectory:
    from streamgauge.cli.progress import watcher
    from streamgauge.experiments.running.run_directory import RunDirectory

    display = watcher(session)
    try:
        with redirect_stdout(sys.stderr), display.shown():
            return work(display)
    except StreamgaugeError as error:
        # Of a mistake of the user's there is nothing to show but the line at fault.
        if error.run is not None and (as_json or not isinstance(error, UsageError)):
            # The part that was measured is shown; the error and its exit code follow.
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


def _show_plan(session: Session, study: Study, *, quick: bool, as_json: bool) -> None:
    import yaml

    from streamgauge import writing
    from streamgauge.cli.resolved import resolved

    experiment = resolved(study)
    events = study.first_plan.events if study.is_single else None
    if as_json:
        session.say_json(
            {
                "experiment": experiment,
                "events": events,
                "cases": [case.varied for case in study.cases],
                "estimated_s": study.estimated_us / 1e6,
                "quick": quick,
            }
        )
        return
    if quick:
        click.echo(f"# {QUICK_STAMP}")
    click.echo(yaml.safe_dump(experiment, sort_keys=False, allow_unicode=True), nl=False)
    if events is not None:
        comments = [f"events: {writing.count(events)}"]
    else:
        cases = [f"case: {case.varied or 'the only one'}" for case in study.cases]
        comments = [_extent(study), *cases]
    comments.append(f"estimated duration: {writing.duration(study.estimated_us / 1_000)}")
    click.echo("\n".join(f"# {line}" for line in comments))
