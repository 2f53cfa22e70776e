"""`streamgauge validate`: checks an experiment file and starts nothing."""

from __future__ import annotations

import click

from streamgauge.cli import completion, options
from streamgauge.cli.terminal import Session
from streamgauge.errors import ExperimentError, StreamgaugeError


@click.command("validate")
@click.argument("experiment", shell_complete=completion.experiments)
@options.settings
@options.quick
@options.as_json
@click.pass_obj
def command(
    session: Session, experiment: str, settings: tuple[str, ...], quick: bool, as_json: bool
) -> None:
    """Check an experiment: a file, or the name of a built-in one.

    Every name is looked up and every setting checked; nothing is started.
    """
    from streamgauge import writing
    from streamgauge.experiments.planning.warnings import warnings

    session.stamp_quick(quick)
    try:
        study = options.read_study(experiment, settings, quick=quick)
        if study.experiment.quick and not quick and not settings:
            _check_quick(experiment)
    except StreamgaugeError as error:
        if as_json:
            key = error.key if isinstance(error, ExperimentError) else None
            session.say_json({"ok": False, "key": key, "error": error.cause, "fix": error.fix})
        raise
    name, found = study.experiment.name, warnings(study)
    if as_json:
        session.say_json({"ok": True, "name": name, "warnings": found})
        return
    for text in found:
        session.note(("warning: ", "bold yellow"), text)
    extent = f"{len(study.cases)} case(s), each {study.experiment.repeat} time(s)"
    if study.is_single:
        load = writing.duration(study.experiment.duration / 1_000)
        extent = f"{writing.count(study.first_plan.events)} events in {load}"
    length = writing.duration(study.estimated_us / 1_000)
    session.say(("ok: ", "bold green"), f"{name}, {extent}; a run takes about {length}")


def _check_quick(experiment: str) -> None:
    """The settings under `quick` must be right, too, although this run would not use them."""
    try:
        options.read_study(experiment, (), quick=True)
    except ExperimentError as error:
        problem = f"{error.problem} (set under `quick`)"
        raise ExperimentError(error.key, problem, fix=error.fix) from None
