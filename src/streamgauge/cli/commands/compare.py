"""`streamgauge compare`: what changed between runs, and whether it is more than noise."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamgauge.cli import completion, options
from streamgauge.cli.terminal import Session, written
from streamgauge.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from streamgauge.compare.measured import Subject
    from streamgauge.measure.summary import Series

_PUBLISHED = "published:"
_LONGEST_NAME = 200


@click.command("compare")
@click.argument("base", shell_complete=completion.runs)
@click.argument("others", nargs=-1, metavar="OTHER...", shell_complete=completion.runs)
@click.option(
    "--fail-if",
    "expressions",
    multiple=True,
    metavar="FIGURE:±AMOUNT",
    help="Exit with 1 if a figure changed by more, such as `p99:+5%`, `throughput:-2%` or "
    "`p99:+200 ms`. Can be repeated.",
)
@click.option(
    "--output",
    type=options.PossiblePath(dir_okay=False, path_type=Path),
    help="File of the comparison page; by default compare-BASE-OTHER.html among the runs.",
)
@options.runs_dir
@options.as_json
@click.pass_obj
def command(
    session: Session,
    base: str,
    others: tuple[str, ...],
    expressions: tuple[str, ...],
    output: Path | None,
    runs_dir: Path,
    as_json: bool,
) -> int:
    """Compare runs with a base: what changed, by how much, and is it more than noise?

    BASE and OTHER are run directories or names of runs, as `streamgauge list runs` shows them.
    Published figures have addresses such as published:table-2/spark/2-nodes; `streamgauge compare
    published:` lists them.
    """
    from streamgauge.cli.comparisons import list_published, show
    from streamgauge.compare.comparison import compare
    from streamgauge.compare.fail_if import check, parse_fail_if
    from streamgauge.compare.page import write_comparison

    if base == _PUBLISHED and not others:
        list_published(session, as_json)
        return ExitCode.VALID
    if not others:
        raise UsageError(
            f"`{base}` must be compared with something",
            fix="name one run or more after it; `streamgauge list runs` shows them",
        )
    rules = [parse_fail_if(expression) for expression in expressions]
    read = [_subject(name, runs_dir) for name in (base, *others)]
    subjects = [subject for subject, _ in read]
    series = {subject.label: found for subject, found in read if found is not None}
    comparison = compare(subjects[0], subjects[1:])
    checks = check(rules, comparison)
    page = output or runs_dir / _page_name(subjects)
    with written(page, fix="name another file with --output"):
        page.parent.mkdir(parents=True, exist_ok=True)
        write_comparison(comparison, series, checks, page)
    if as_json:
        found = comparison.model_dump(mode="json")
        results = [one.model_dump(mode="json") for one in checks]
        session.say_json({**found, "fail_if": results, "page": str(page)})
    else:
        show(session, comparison, checks, page)
    return ExitCode.VALID if all(one.passed for one in checks) else ExitCode.FAILED


def _subject(name: str, runs_dir: Path) -> tuple[Subject, Series | None]:
    from streamgauge.compare.measured import run_subject
    from streamgauge.compare.published import published_subject
    from streamgauge.experiments.running.run_directory import RunDirectory

    if name.startswith(_PUBLISHED):
        return published_subject(name), None
    summary, series = RunDirectory.open(name, runs_dir).read()
    return run_subject(summary), series


def _page_name(subjects: Sequence[Subject]) -> str:
    labels = [re.sub(r"[^A-Za-z0-9._-]+", "-", subject.label) for subject in subjects]
    more = f"-and-{len(labels) - 2}-more" if len(labels) > 2 else ""
    return f"compare-{labels[0]}-{labels[1]}"[:_LONGEST_NAME] + f"{more}.html"
