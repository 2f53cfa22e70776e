"""Options that several commands share."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from streamgauge.experiments.planning.study import Study


class PossiblePath(click.Path):
    """Refuses what no file system takes, such as a NUL or a name of 300 letters."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                Path(value).stat()
            return super().convert(value, param, ctx)
        except OSError as error:
            self.fail(f"{value!r} cannot be a path: {error.strerror}", param, ctx)
        except ValueError as error:
            self.fail(f"{value!r} cannot be a path: {error}", param, ctx)


runs_dir = click.option(
    "--runs-dir",
    type=PossiblePath(file_okay=False, path_type=Path),
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
    "--quick", is_flag=True, help="A short run to see that it works; its numbers are meaningless."
)


def read_study(experiment: str, settings: tuple[str, ...], *, quick: bool) -> Study:
    """The study that the options describe."""
    from streamgauge.experiments.planning.files import read_experiment
    from streamgauge.experiments.planning.lines import naming_lines
    from streamgauge.experiments.planning.study import make_study

    # A user's file may print when it is loaded; standard output is for the result.
    with redirect_stdout(sys.stderr), naming_lines(experiment, settings, quick=quick):
        return make_study(*read_experiment(experiment, settings, quick=quick))
