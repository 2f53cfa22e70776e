"""A comparison on the terminal: alarms first, then every change with its margin."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from rich.text import Text

from streamgauge.cli.results import outcome_text
from streamgauge.cli.terminal import Session
from streamgauge.compare import change_text
from streamgauge.compare.comparison import CaseComparison, Change, Comparison, Finding, Pair, Side
from streamgauge.compare.fail_if import CheckResult
from streamgauge.compare.published import PREFIX, published_tables, short_list
from streamgauge.measure.figures import FIGURES, Direction
from streamgauge.measure.unit import Unit
from streamgauge.report.cases import case_label

_STYLES = {
    Finding.BETTER: "green",
    Finding.WORSE: "bold red",
    Finding.CHANGED: "cyan",
    Finding.NOISE_UNKNOWN: "yellow",
    Finding.GROWING: "yellow",
}
_ON_THE_PAGE_ONLY = ("resources, driver", "resources, sink")


def list_published(session: Session, as_json: bool) -> None:
    tables = list(published_tables().values())
    if as_json:
        session.say_json([table.model_dump(mode="json") for table in tables])
        return
    shown = ""
    for table in tables:
        if table.citation != shown:
            if shown:
                session.say()
            session.say(table.citation)
            for line in table.setup:
                session.say(f"  {line}")
            shown = table.citation
        session.say()
        session.say((table.name, "cyan"), f"  {table.about}")
        for line in short_list():
            if line.startswith(f"{table.name}/"):
                session.say(f"  {PREFIX}{line}")


def show(
    session: Session, comparison: Comparison, checks: Sequence[CheckResult], page: Path
) -> None:
    many = len(comparison.pairs) > 1
    for pair in comparison.pairs:
        where = f"{pair.other.label}: " if many else ""
        for alarm in pair.alarms:
            session.say((f"⚠ {where}{alarm}", "bold red"))
    others = [_side("other", pair.other) for pair in comparison.pairs]
    session.say_table([_side("base", comparison.base), *others])
    for pair in comparison.pairs:
        if many:
            session.heading(f"against {pair.other.label}", "bold underline")
        _pair(session, pair)
    if checks:
        session.heading("fail if")
        rows = []
        for one in checks:
            mark, style = ("✓", "green") if one.passed else ("✗", "bold red")
            rows.append((Text(f"  {mark} {one.expression}", style), one.text(with_run=many)))
        session.say_table(rows)
    session.say()
    session.say(("page: ", "bold"), str(page))


def _side(role: str, side: Side) -> list[str | Text]:
    ending = outcome_text(side.outcome) if side.outcome else side.title
    return [Text(role, "bold"), side.label, change_text.shape(side), ending]


def _pair(session: Session, pair: Pair) -> None:
    if pair.warnings:
        session.heading("warnings")
    for text in pair.warnings:
        session.say((f"  ! {text}", "yellow"))
    if pair.settings:
        session.heading("settings of the system that differ")
    for text in pair.settings:
        session.say(f"  {text}")
    for case in pair.cases:
        _case(session, case)
    for side, cases in (("the base", pair.only_base), ("the other", pair.only_other)):
        for varied in cases:
            session.heading(f"only in {side}: {case_label(varied) or 'one case'}", "yellow")
    session.say()
    for source in change_text.noise_sources(pair):
        session.say((f"noise: {source}", "yellow" if "unknown" in source else ""))
    session.say(f"figures: {change_text.tally(pair) or 'none in common'}")


def _case(session: Session, case: CaseComparison) -> None:
    session.say()
    if case.varied:
        session.say((case_label(case.varied), "bold cyan"))
    shown = [change for change in case.changes if _is_shown(change)]
    rows: list[list[str | Text]] = []
    for group, members in groupby(shown, key=lambda one: FIGURES[one.figure].group):
        rows.append([Text(group, "bold")])
        rows += [_row(change) for change in members]
    session.say_table(rows, "", "base", "other", "change", "", "noise margin", "")


def _is_shown(change: Change) -> bool:
    """Resources of driver and sink, and equal counts, are on the page only."""
    figure = FIGURES[change.figure]
    counted = figure.unit is Unit.COUNT or figure.direction is Direction.NEITHER
    return figure.group not in _ON_THE_PAGE_ONLY and not (
        counted and change.finding is Finding.EQUAL
    )


def _row(change: Change) -> list[str | Text]:
    return [
        f"  {FIGURES[change.figure].label}",
        change_text.value(change, "base"),
        change_text.value(change, "other"),
        change_text.delta(change),
        change_text.percent(change),
        change_text.margin(change),
        Text(change_text.finding(change), _STYLES.get(change.finding, "")),
    ]
