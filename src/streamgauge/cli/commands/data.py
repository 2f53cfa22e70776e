"""`streamgauge data`: the data of a benchmark, as files or in a database."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamgauge.cli import options
from streamgauge.cli.terminal import Session, written
from streamgauge.errors import UsageError

if TYPE_CHECKING:
    from streamgauge.queries.espbench.files import Sensors

_NOW_OF_FILES = "2024-01-01T00:00:00+00:00"
"""Files must not depend on the time at which they are made."""


def _time_us(_: click.Context, __: click.Parameter, given: str | None) -> int | None:
    if given is None:
        return None
    try:
        found = datetime.fromisoformat(given.replace("Z", "+00:00"))
    except ValueError:
        fix = f"give a time such as {_NOW_OF_FILES}"
        raise UsageError(f"--now: `{given}` is not a time", fix=fix) from None
    aware = found if found.tzinfo else found.replace(tzinfo=timezone.utc)
    return int(aware.timestamp()) * 1_000_000 + aware.microsecond


@click.command("data")
@click.argument("benchmark", type=click.Choice(["espbench"]))
@click.option(
    "--output",
    type=options.PossiblePath(file_okay=False, path_type=Path),
    help="Folder for the files.",
)
@click.option("--database", metavar="URL", help="Database to import the business data into.")
@click.option(
    "--scale",
    type=click.IntRange(1, 1_000),
    default=3,
    show_default=True,
    help="Warehouses; each has about 300,000 order lines.",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=1, show_default=True, help="Of everything."
)
@click.option(
    "--rows",
    type=click.IntRange(1, 100_000_000),
    help="Sensor records per machine.  [default: 100,000, or all of --sensors]",
)
@click.option(
    "--sensors",
    type=options.PossiblePath(exists=True, dir_okay=False, path_type=Path),
    help="A DEBS 2012 file to take the sensor records from, instead of made-up ones.",
)
@click.option(
    "--now",
    "now_us",
    callback=_time_us,
    help="Time of the orders and around which downtimes lie.  [default: this moment in a "
    f"database, {_NOW_OF_FILES[:10]} in files]",
)
@click.option("--force", is_flag=True, help="Write into a folder that has files already.")
@click.pass_obj
def command(
    session: Session,
    benchmark: str,
    output: Path | None,
    database: str | None,
    scale: int,
    seed: int,
    rows: int | None,
    sensors: Path | None,
    now_us: int | None,
    force: bool,
) -> None:
    """Make the data of a benchmark: files, or the business data in a database, or both.

    The same options give the same bytes. The business data is made in parallel by Spark.
    """
    from streamgauge.cli.spark_work import spark_session
    from streamgauge.events.factory.business import Business
    from streamgauge.queries.espbench.database import open_database
    from streamgauge.queries.espbench.files import Sensors, check_space, write_files
    from streamgauge.queries.espbench.filling import fill

    if output is None and database is None:
        fix = "add --output FOLDER, or --database URL, or both"
        raise UsageError(f"nothing is to be done with the data of {benchmark}", fix=fix)
    files_now_us = _time_us_of_files() if now_us is None else now_us
    business = Business(seed, scale, files_now_us)
    source = Sensors(seed, sensors, rows)
    if output is not None:
        _prepare(output, force)
        check_space(output, business, source)
        _check_sensors(source)
    if database is not None:
        with open_database(database) as opened:
            opened.check()
    tell = _teller(session)
    tell("starting Spark")
    with spark_session("streamgauge-data") as spark:
        if output is not None:
            with written(output, fix="make room, or choose a folder where you may write"):
                for one in write_files(spark, output, business, source, tell):
                    session.say(
                        f"{output / one.name}: {one.rows:,} rows, {one.bytes / 1e6:,.1f} MB"
                    )
        if database is not None:
            tell("importing the business data")
            import_us = time.time_ns() // 1_000 if now_us is None else now_us
            loaded = fill(spark, database, seed=seed, scale=scale, now_us=import_us)
            for name, count in loaded.items():
                session.say(f"table {name}: {count:,} rows")


def _time_us_of_files() -> int:
    return int(datetime.fromisoformat(_NOW_OF_FILES).timestamp()) * 1_000_000


def _prepare(output: Path, force: bool) -> None:
    """Makes the folder; one that has files already is not touched without being told so."""
    with written(output, fix="choose a folder where you may write"):
        output.mkdir(parents=True, exist_ok=True)
        if any(output.iterdir()) and not force:
            raise UsageError(
                f"{output} is not empty",
                fix="choose another folder, or write into it with --force",
            )


def _check_sensors(source: Sensors) -> None:
    """A file of another form is refused before anything is started."""
    if source.file is not None:
        source.lines(1)


def _teller(session: Session) -> Callable[[str], None]:
    def tell(text: str) -> None:
        session.note((f"{text} …", "dim"))

    return tell
