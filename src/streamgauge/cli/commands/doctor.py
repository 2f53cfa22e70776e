"""`streamgauge doctor`: checks whether this machine can run an experiment."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamgauge.cli import options
from streamgauge.cli.terminal import Session
from streamgauge.errors import ExitCode

if TYPE_CHECKING:
    from streamgauge.cli.checks import Check


@click.command("doctor")
@click.option("--no-spark", is_flag=True, help="Do not start Spark to see whether it works.")
@options.runs_dir
@options.as_json
@click.pass_obj
def command(session: Session, no_spark: bool, runs_dir: Path, as_json: bool) -> int:
    """Check this machine: Python, Java, Spark, services, memory, disk, ports, other load.

    Every line is ✓ (good), ! (works, with a drawback) or ✗ (does not work, with a fix). The exit
    code is 5 if there is a ✗.
    """
    from streamgauge.cli.checks import Health, machine_checks

    checks = machine_checks(runs_dir)
    for check in () if as_json else checks:
        _show(session, check)
    if not no_spark:
        checks.append(_start_spark(session))
        if not as_json:
            _show(session, checks[-1])
    healthy = all(check.health is not Health.FAILED for check in checks)
    if as_json:
        session.say_json({"ok": healthy, "checks": [asdict(check) for check in checks]})
    elif healthy:
        warned = any(check.health is Health.WARNING for check in checks)
        found = "it works, with the drawbacks that are marked !" if warned else "all checks passed"
        session.say(f"{found}; next: `streamgauge run quickstart`")
    else:
        session.say(("fix what is marked ✗, then run `streamgauge doctor` again", "bold"))
    return ExitCode.VALID if healthy else ExitCode.COMPONENT


def _start_spark(session: Session) -> Check:
    from streamgauge.cli.spark_check import starts

    message = "starting Spark, about 10 s …"
    if session.err.is_terminal:
        with session.err.status(message):
            return starts()
    session.note(message)
    return starts()


def _show(session: Session, check: Check) -> None:
    from streamgauge.cli.checks import Health

    marks = {Health.OK: ("✓", "green"), Health.WARNING: ("!", "yellow")}
    mark = marks.get(check.health, ("✗", "bold red"))
    session.say(mark, f" {check.name}: {check.found}")
    if check.fix:
        session.say(("    fix: ", "bold"), check.fix)
