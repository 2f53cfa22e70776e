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
    from streamgauge.experiments.plan import Plan


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
    from streamgauge.report import units

    session.stamp_quick(quick)
    try:
        # A user's file may print when it is loaded; standard output is for the answer.
        with redirect_stdout(sys.stderr):
            plan = _checked(experiment, settings, quick=quick)
            if plan.experiment.quick and not quick and not settings:
                _check_quick(experiment)
    except StreamgaugeError as error:
        if as_json:
            session.say_json(_refusal(error))
        raise
    if as_json:
        session.say_json({"ok": True, "name": plan.experiment.name})
        return
    session.say(
        ("ok: ", "bold green"),
        f"{plan.experiment.name}, {units.count(plan.events)} events in "
        f"{units.duration(plan.experiment.duration / 1_000)}; "
        f"a run takes about {units.duration(plan.estimated_us / 1_000)}",
    )


def _checked(experiment: str, settings: tuple[str, ...], *, quick: bool) -> Plan:
    from streamgauge.experiments.load import read_experiment
    from streamgauge.experiments.plan import make_plan

    return make_plan(*read_experiment(experiment, settings, quick=quick))


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
