"""`streamgauge dual`: the dual-paradigm runtime by itself."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamgauge.cli import completion, options
from streamgauge.cli.terminal import Session
from streamgauge.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamgauge.dual.explaining import Explanation
    from streamgauge.dual.reports import Report

REPORTS = "reports.ndjson"
"""What a runtime that is used as a library writes."""
EVENTS = "events.ndjson"
"""What a run of the station writes, with the reports of its system in it."""
_CUTS = ("auto", "every", "none")


@click.group("dual")
def command() -> None:
    """Run a pipeline in two paradigms, or explain what the runtime did.

    Each operation of a pipeline runs as data stream (records flow, milliseconds) or as operation
    stream (micro-batches, more throughput); the runtime chooses while it runs.
    """


@command.command("explain")
@click.argument("run", metavar="[RUN|FOLDER]", required=False, shell_complete=completion.runs)
@options.runs_dir
@options.as_json
@click.pass_obj
def explain(session: Session, run: str | None, runs_dir: Path, as_json: bool) -> None:
    """Print where each operation is, since when and why, and all switches with their gaps.

    RUN is a run of `system: dual`, by default the latest, or one trial of a study; FOLDER is the
    folder of a runtime that was used without the station. Also while it still runs.
    """
    from streamgauge.dual.explaining import in_words

    found = dict(_explanations(_folder(run, runs_dir)))
    if as_json:
        written = {name: one.model_dump(mode="json") for name, one in found.items()}
        session.say_json(written if list(written) != [""] else written[""])
        return
    for name, one in found.items():
        if name:
            session.heading(name)
        for line in in_words(one):
            bold = bool(line) and not line.startswith(" ")
            session.say((line, "bold") if bold else line)


def _folder(run: str | None, runs_dir: Path) -> Path:
    from streamgauge.experiments.running.run_directory import LATEST, RunDirectory

    if run is not None and (Path(run) / REPORTS).is_file():
        return Path(run)
    if run is None and not (runs_dir / LATEST).exists():
        raise UsageError(
            f"there is no run in {runs_dir} yet",
            fix="name the folder of a runtime, or run an experiment with `system: dual`",
        )
    return RunDirectory.open(str(runs_dir / LATEST) if run is None else run, runs_dir).path


def _explanations(folder: Path) -> Iterator[tuple[str, Explanation]]:
    """Of the folder itself, without a name; else of each trial of a study that has reports."""
    from streamgauge.dual.explaining import explain as explained
    from streamgauge.dual.history import History, read_reports

    places = [folder / REPORTS, folder / EVENTS, *sorted(folder.glob(f"trials/*/{EVENTS}"))]
    empty = True
    for path in filter(Path.is_file, places):
        if history := History(read_reports(path)):
            empty = False
            name = "" if path.parent == folder else str(path.parent.relative_to(folder))
            yield name, explained(history, _load_start_us(path))
            if not name:
                return
    if empty:
        raise UsageError(
            f"{folder} has no reports of the dual-paradigm runtime",
            fix="name a run with `system: dual` (`streamgauge list runs`), or the folder of a "
            f"runtime, which has a {REPORTS}",
        )


def _load_start_us(path: Path) -> int | None:
    """When the load of a run began."""
    if path.name != EVENTS:
        return None
    for line in path.read_text(errors="replace").splitlines():
        if '"load"' in line:
            try:
                event: Any = json.loads(line)
            except ValueError:
                continue
            if event.get("event") == "load":
                return int(event["start_us"])
    return None


def _names(_: click.Context, __: click.Parameter, given: str) -> str | list[str]:
    """One of the words, or names of operations."""
    if given in _CUTS:
        return given
    names = [name.strip() for name in given.split(",")]
    if not all(names):
        raise UsageError(
            f"`--cuts {given}` has an empty name",
            fix=f"give {', '.join(_CUTS)}, or names of operations such as `filter,join`",
        )
    return names


def _duration_us(_: click.Context, __: click.Parameter, given: str | None) -> int | None:
    from streamgauge.units import parse_duration_us

    try:
        return None if given is None else parse_duration_us(given)
    except ValueError as error:
        raise UsageError(f"`--duration {given}`: {error}", fix="such as `10 min`") from None


@command.command("run")
@click.argument("file", metavar="FILE.py", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--source", required=True, metavar="TOPIC", help="Topic to read from.")
@click.option("--sink", required=True, metavar="TOPIC", help="Topic to write the results to.")
@click.option(
    "--brokers", required=True, metavar="HOST:PORT,…", help="Addresses of the Kafka brokers."
)
@click.option(
    "--checkpoint",
    required=True,
    type=options.PossiblePath(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Folder of offsets, state and reports; a run with the same folder goes on where it was.",
)
@click.option(
    "--cuts",
    default="auto",
    show_default=True,
    metavar="auto|every|none|NAMES",
    callback=_names,
    help="Where the pipeline is divided: where it pays, after every operation, nowhere, or after "
    "the named operations.",
)
@click.option(
    "--master",
    default="local[16]",
    show_default=True,
    help="Spark master; a data stream needs a task slot for every partition, not a core.",
)
@click.option(
    "--duration", callback=_duration_us, metavar="TIME", help="End after it, such as `10 min`."
)
@click.pass_obj
def run(
    session: Session,
    file: Path,
    source: str,
    sink: str,
    brokers: str,
    checkpoint: Path,
    cuts: str | list[str],
    master: str,
    duration: int | None,
) -> None:
    """Run the pipeline that FILE.py defines until Ctrl-C.

    FILE.py has one `streamgauge.dual.Pipeline`. `streamgauge dual explain FOLDER` tells from
    another terminal what the runtime does and why.
    """
    from streamgauge import dual
    from streamgauge.processes.launcher import Launcher
    from streamgauge.services.jars import have_jars

    pipeline = dual.load_pipeline(file)
    jars = [str(jar) for jar in have_jars("spark-kafka-connector", Launcher({}), session.note)]
    session.note(f"starting Spark ({master})")
    with tempfile.TemporaryDirectory(prefix="streamgauge-dual-") as scratch:
        checkpoint.mkdir(parents=True, exist_ok=True)
        log = checkpoint / "spark.log"
        with _standard_error_to(log):
            spark = _spark(Path(scratch), master, jars)
        session.note(f"running `{pipeline.name}`: {source} → {sink}; Ctrl-C ends it")
        session.note(f"what it does and why: streamgauge dual explain {checkpoint}")
        session.note(f"log of Spark: {log}")
        dual.run(
            pipeline,
            source=source,
            sink=sink,
            brokers=brokers,
            checkpoint=checkpoint,
            cuts=cuts,
            session=spark,
            seconds=None if duration is None else duration / 1e6,
            on_report=lambda report: _show(session, report),
        )


def _spark(scratch: Path, master: str, jars: list[str]) -> SparkSession:
    """With the jars of Spark's Kafka connector."""
    from streamgauge.compute.java import find_java
    from streamgauge.compute.session import is_local, open_session
    from streamgauge.dual.spark.session import SETTINGS

    os.environ.update(find_java().env(scratch))
    conf = {**SETTINGS, "spark.driver.extraClassPath": ":".join(jars)}
    conf["spark.sql.shuffle.partitions"] = "2"
    if not is_local(master):
        conf["spark.jars"] = ",".join(jars)
    return open_session("streamgauge dual", master, scratch, conf)


@contextmanager
def _standard_error_to(log: Path) -> Iterator[None]:
    """Of processes that are started inside: a query that is stopped in the middle of its work logs
    the traces of all of its tasks."""
    own = os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(own, 2)
        os.close(own)


def _show(session: Session, report: Report) -> None:
    from streamgauge.dual.reports import Failed, Placed, Switched

    if isinstance(report, Placed):
        for segment in report.segments:
            session.note(f"{', '.join(segment.operations)}: {segment.paradigm.value}")
        if report.cut_because:
            session.note(report.cut_because)
    elif isinstance(report, Switched):
        gap = "" if report.gap_ms is None else f", gap {report.gap_ms / 1_000:.2f} s"
        session.note(f"{', '.join(report.operations)}: now {report.paradigm.value}{gap}")
    elif isinstance(report, Failed):
        session.note(f"{', '.join(report.operations)}: failed and started again: {report.failure}")
