"""All commands in the order of the work, each loaded when it is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from streamgauge.cli.terminal import Session
from streamgauge.errors import UsageError
from streamgauge.hints import did_you_mean
from streamgauge.version import __version__

PROGRAM = "streamgauge"
COMMANDS = (
    "doctor",
    "list",
    "new",
    "validate",
    "run",
    "calculate",
    "report",
    "compare",
    "dual",
    "services",
    "data",
    "clean",
)
COMPLETION = "_STREAMGAUGE_COMPLETE"


class Commands(click.Group):
    """One module per command; the help lists them in workflow order."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"streamgauge.cli.commands.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            otherwise = f"choose one of {', '.join(f'`{command}`' for command in COMMANDS)}"
            fix = did_you_mean(name, COMMANDS, otherwise, cutoff=0.5)
            raise UsageError(f"there is no command `{name}`", fix=fix)
        return super().resolve_command(ctx, args)


@click.group(
    PROGRAM,
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done and valid; 1 a threshold failed, or the rate was not sustained; "
    "2 wrong usage or experiment file; 3 results invalid or not validated; 4 void, the generator "
    "itself was too slow; 5 a component did not start or died; 130 interrupted.\n\n"
    f'Completion in bash (zsh_source for zsh): eval "$({COMPLETION}=bash_source {PROGRAM})"',
)
@click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")
@click.pass_context
def commands(context: click.Context) -> None:
    """The gauging station for data streams: known load, measured from outside, results validated.

    Begin with `streamgauge doctor`, then `streamgauge run quickstart`.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def call(arguments: Sequence[str] | None, session: Session) -> int:
    """Runs a command line; errors, also those of click, are raised."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if COMPLETION in os.environ:
        commands.main(given, prog_name=PROGRAM, complete_var=COMPLETION)
    with commands.make_context(PROGRAM, given, obj=session) as context:
        code = commands.invoke(context)
    return code if isinstance(code, int) else 0
