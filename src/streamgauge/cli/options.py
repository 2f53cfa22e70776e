"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

runs_dir = click.option(
    "--runs-dir",
    type=click.Path(file_okay=False, path_type=Path),
    default="runs",
    show_default=True,
    envvar="STREAMGAUGE_RUNS_DIR",
    show_envvar=True,
    help="Folder of the run directories.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
settings = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a setting, such as `--set load.rate=200_000`. Can be repeated.",
)
quick = click.option(
    "--quick", is_flag=True, help="A short run to see that it works; its numbers mean nothing."
)
