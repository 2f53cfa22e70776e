"""`streamgauge validate`: is this experiment file right? Nothing is started."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout

import click

from streamgauge.cli import options
from streamgauge.cli.terminal import Session
from streamgauge.errors import ExperimentError, StreamgaugeError


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
    from streamgauge.experiments.load import read_experiment
    from streamgauge.experiments.plan import make_plan
    from streamgauge.report import units

    session.stamp_quick(quick)
    try:
        # A user's file may print when it is loaded; standard output is for the answer.
        with redirect_stdout(sys.stderr):
            loaded, base = read_experiment(experiment, settings, quick=quick)
            plan = make_plan(loaded, base)
    except StreamgaugeError as error:
        if as_json:
            session.say_json(_refusal(error))
        raise
    if as_json:
        session.say_json({"ok": True, "name": loaded.name})
        return
    session.say(
        ("ok: ", "bold green"),
        f"{loaded.name}, {units.count(plan.events)} events in "
        f"{units.duration(loaded.duration / 1_000)}; "
        f"a run takes about {units.duration(plan.estimated_us / 1_000)}",
    )


def _refusal(error: StreamgaugeError) -> dict[str, object]:
    key = error.key if isinstance(error, ExperimentError) else None
    return {"ok": False, "key": key, "error": error.cause, "fix": error.fix}
