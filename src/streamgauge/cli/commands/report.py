"""`streamgauge report`: writes the HTML report of a run again."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from streamgauge.cli import completion, options
from streamgauge.cli.terminal import Session, written
from streamgauge.errors import UsageError


@click.command("report")
@click.argument("run", required=False, shell_complete=completion.runs)
@options.runs_dir
@click.option("--open", "open_it", is_flag=True, help="Show it in the web browser.")
@click.pass_obj
def command(session: Session, run: str | None, runs_dir: Path, open_it: bool) -> None:
    """Write the HTML report of a run again, by default of the latest.

    RUN is the path of a run directory or its name, as `streamgauge list runs` shows it.
    """
    from streamgauge.experiments.running.run_directory import LATEST, RunDirectory
    from streamgauge.measure.summary import StudySummary
    from streamgauge.report.html import write_report
    from streamgauge.report.study import write_study_report

    if run is None and not (runs_dir / LATEST).exists():
        raise UsageError(
            f"there is no run in {runs_dir} yet",
            fix="`streamgauge run quickstart` makes one; --runs-dir names another folder",
        )
    directory = RunDirectory.open(str(runs_dir / LATEST) if run is None else run, runs_dir)
    summary, series = directory.read()
    fix = "make the run directory writable, or copy it to a place that is"
    with written(directory.report, fix):
        if isinstance(summary, StudySummary):
            write_study_report(summary, directory.path, directory.report)
        else:
            write_report(summary, series, directory.report)
    session.stamp_quick(summary.quick)
    session.say(("report: ", "bold"), str(directory.report))
    if open_it and not webbrowser.open(directory.report.as_uri()):
        session.note(("no web browser was found; ", "yellow"), "open the file in one yourself")
