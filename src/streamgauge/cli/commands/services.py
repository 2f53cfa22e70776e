"""`streamgauge services`: services that stand between runs."""

from __future__ import annotations

from datetime import datetime

import click

from streamgauge.cli import options
from streamgauge.cli.terminal import Session


def _kinds(_: click.Context, __: click.Parameter, given: str | None) -> list[str]:
    """The given one, or all."""
    from streamgauge import plugins
    from streamgauge.errors import UsageError
    from streamgauge.hints import did_you_mean

    known = plugins.names("services")
    if given is None:
        return known
    if given not in known:
        fix = did_you_mean(given, known, f"choose one of: {', '.join(known)}")
        raise UsageError(f"there is no service `{given}`", fix=fix)
    return [given]


@click.command("services")
@click.argument("action", type=click.Choice(["up", "down", "status"]))
@click.argument("kinds", metavar="[SERVICE]", required=False, callback=_kinds)
@options.as_json
@click.pass_obj
def command(session: Session, action: str, kinds: list[str], as_json: bool) -> None:
    """Start, stop or show services that stand between runs: all, or the named one.

    A run uses a service that is up, and otherwise starts its own. `up` returns when the service
    answers; `down` also removes its data.
    """
    from streamgauge.references import revealed
    from streamgauge.services import standing

    found = {}
    for kind in kinds:
        if action == "up":
            _start(session, kind)
        stopped = action == "down" and standing.down(kind)
        state = standing.standing(kind)
        found[kind] = state and {
            "address": revealed(state.address),
            "pid": state.pid,
            "since": datetime.fromtimestamp(state.created_s).isoformat(" ", "seconds"),
            "log": str(state.log),
        }
        if as_json:
            continue
        if shown := found[kind]:
            session.say(f"{kind}: up at {shown['address']} since {shown['since']}")
        else:
            session.say(f"{kind}: {'stopped' if stopped else 'not up'}")
    if as_json:
        session.say_json(found)


def _start(session: Session, kind: str) -> None:
    from streamgauge.services import standing

    message = f"starting {kind} …"
    if session.err.is_terminal:
        with session.err.status(message) as status:
            standing.up(kind, lambda text: status.update(f"{text} …"))
    else:
        session.note(message)
        standing.up(kind, lambda _: None)
