"""`streamgauge calculate`: latency and validity of a trial again."""

from __future__ import annotations

from pathlib import Path

import click

from streamgauge.cli import completion, options
from streamgauge.cli.terminal import Session


@click.command("calculate")
@click.argument("run", shell_complete=completion.runs)
@options.runs_dir
@options.as_json
@click.pass_obj
def command(session: Session, run: str, runs_dir: Path, as_json: bool) -> int:
    """Calculate latency and validity of a trial again, from the files of its run.

    RUN is the path of a run directory or its name; of a study, name one of its trials, such as
    RUN/trials/1. Nothing is sent and no system is started. Summary and report are written again.
    """
    from streamgauge.cli.results import show
    from streamgauge.experiments.running.recalculating import recalculate
    from streamgauge.experiments.running.run_directory import RunDirectory
    from streamgauge.measure.outcome import outcome_of

    directory = RunDirectory.open(run, runs_dir)
    told = ""

    def tell(note: str) -> None:
        nonlocal told
        if note and note != told:
            told = note
            session.note(note)

    summary = recalculate(directory, tell)
    if as_json:
        session.say_json(summary.model_dump(mode="json"))
    else:
        show(session, summary, directory.report)
    return outcome_of(summary).exit_code
