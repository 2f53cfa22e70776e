"""`streamgauge validate`: is this experiment file right? Nothing is started."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

import click

from streamgauge.cli import options
from streamgauge.cli.terminal import Session
from streamgauge.errors import ExperimentError, StreamgaugeError

if TYPE_CHECKING:
    from streamgauge.experiments.planning.study import Study


@click.command("validate")
@click.argument("experiment")
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

    session.stamp_quick(quick)
    try:
        # A user's file may print when it is loaded; standard output is for the answer.
        with redirect_stdout(sys.stderr):
            study = _checked(experiment, settings, quick=quick)
            if study.experiment.quick and not quick and not settings:
                _check_quick(experiment)
    except StreamgaugeError as error:
        if as_json:
            session.say_json(_refusal(error))
        raise
    if as_json:
        session.say_json({"ok": True, "name": study.experiment.name})
        return
    session.say(
        ("ok: ", "bold green"),
        f"{study.experiment.name}, {_extent(study)}; "
        f"a run takes about {writing.duration(study.estimated_us / 1_000)}",
    )


def _extent(study: Study) -> str:
    from streamgauge import writing

    if study.is_single:
        load = writing.duration(study.experiment.duration / 1_000)
        return f"{writing.count(study.first_plan.events)} events in {load}"
    return f"{len(study.cases)} case(s), each {study.experiment.repeat} time(s)"


def _checked(experiment: str, settings: tuple[str, ...], *, quick: bool) -> Study:
    from streamgauge.experiments.planning.files import read_experiment
    from streamgauge.experiments.planning.study import make_study

    return make_study(*read_experiment(experiment, settings, quick=quick))


def _check_quick(experiment: str) -> None:
    """What stands under `quick` must be right too, though this run would not use it."""
    try:
        _checked(experiment, (), quick=True)
    except ExperimentError as error:
        problem = error.cause.removeprefix(f"{error.key}: ")
        raise ExperimentError(error.key, f"{problem} (set under `quick`)", fix=error.fix) from None


def _refusal(error: StreamgaugeError) -> dict[str, object]:
    key = error.key if isinstance(error, ExperimentError) else None
    return {"ok": False, "key": key, "error": error.cause, "fix": error.fix}
