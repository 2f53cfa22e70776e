"""`streamgauge clean`: removes old runs and the temporary folders of dead runs."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

import click

from streamgauge.cli import options
from streamgauge.cli.terminal import Session
from streamgauge.errors import ComponentError, UsageError


@click.command("clean")
@options.runs_dir
@click.option(
    "--keep",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="How many of the newest runs stay.",
)
@click.option("--dry-run", is_flag=True, help="List what would be removed, and remove nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def command(session: Session, runs_dir: Path, keep: int, dry_run: bool, yes: bool) -> None:
    """Remove old runs, and the temporary folders of dead runs.

    A run that may still go on is never removed.
    """
    from streamgauge import writing
    from streamgauge.cli.left_overs import dead_scratch, old_runs
    from streamgauge.experiments.running.run_directory import LATEST

    now_s = time.time()
    temporary = Path(tempfile.gettempdir())
    found = [*old_runs(runs_dir, keep, now_s), *dead_scratch(temporary, now_s)]
    if not found:
        session.say("nothing to remove")
        return
    verb = "would remove" if dry_run else "to remove"
    for one in found:
        session.say(f"{verb} {one.path} ({one.why}, {writing.megabytes(one.size_bytes / 1e6)})")
    if dry_run:
        return
    if not yes and not _agreed(len(found)):
        session.say("nothing was removed")
        return
    failed = []
    for one in found:
        try:
            shutil.rmtree(one.path)
        except OSError as error:
            failed.append(f"{one.path} ({error.strerror or error})")
    latest = runs_dir / LATEST
    if latest.is_symlink() and not latest.exists():
        latest.unlink(missing_ok=True)
    if failed:
        raise ComponentError(
            f"could not remove {'; '.join(failed)}", fix="remove it by hand, or as its owner"
        )
    session.say(f"removed {len(found)} {'folder' if len(found) == 1 else 'folders'}")


def _agreed(count: int) -> bool:
    if not sys.stdin.isatty():
        raise UsageError(
            f"{count} folders would be removed, and there is no terminal to confirm it",
            fix="add --yes to remove them, or --dry-run to list them",
        )
    return click.confirm(f"remove {count} folders?", err=True)
