"""A comparison on the terminal: alarms first, then every change with its margin."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from rich.table import Table
from rich.text import Text

from streamgauge.cli.results import VERDICT_STYLES
from streamgauge.cli.terminal import Session, plain_table
from streamgauge.compare import change_text
from streamgauge.compare.comparison import (
    CaseComparison,
    Change,
    Comparison,
    Finding,
    Pair,
    Side,
)
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
    """The published tables and the addresses of their figures."""
    tables = published_tables()
    if as_json:
        session.say_json([table.model_dump(mode="json") for table in tables.values()])
        return
    for number, table in enumerate(tables.values()):
        if number == 0:
            session.say(table.citation)
            for line in table.setup:
                session.say(f"  {line}")
        session.say()
        session.say((table.name, "cyan"), f"  {table.about}")
        for line in short_list():
            if line.startswith(f"{table.name}/"):
                session.say(f"  {PREFIX}{line}")


def show(
    session: Session, comparison: Comparison, checks: Sequence[CheckResult], page: Path
) -> None:
    """Prints it on standard output."""
    many = len(comparison.pairs) > 1
    for pair in comparison.pairs:
        where = f"{pair.other.label}: " if many else ""
        for alarm in pair.alarms:
            session.say((f"⚠ {where}{alarm}", "bold red"))
    _sides(session, comparison)
    for pair in comparison.pairs:
        _pair(session, pair, many)
    _checks(session, checks, many)
    session.say()
    session.say(("page: ", "bold"), str(page))


def _sides(session: Session, comparison: Comparison) -> None:
    table = plain_table()
    table.show_header = False
    for _ in range(4):
        table.add_column()
    _side(table, "base", comparison.base)
    for pair in comparison.pairs:
        _side(table, "other", pair.other)
    session.say_table(table)


def _side(table: Table, role: str, side: Side) -> None:
    verdict = side.verdict
    verdict_text = (
        Text(f"{verdict.mark} {verdict.value}", VERDICT_STYLES[verdict])
        if verdict
        else Text(side.title)
    )
    table.add_row(Text(role, "bold"), Text(side.label), Text(change_text.shape(side)), verdict_text)


def _pair(session: Session, pair: Pair, many: bool) -> None:
    if many:
        session.say()
        session.say((f"against {pair.other.label}", "bold underline"))
    for title, texts, style in (
        ("warnings", pair.warnings, "yellow"),
        ("settings of the system that differ", pair.settings, ""),
    ):
        if texts:
            session.say()
            session.say((title, "bold"))
        for text in texts:
            session.say((f"  ! {text}" if style else f"  {text}", style))
    for case in pair.cases:
        _case(session, case)
    for side, cases in (("the base", pair.only_base), ("the other", pair.only_other)):
        for varied in cases:
            session.say()
            session.say((f"only in {side}: {case_label(varied) or 'one case'}", "yellow"))
    session.say()
    for source in change_text.noise_sources(pair):
        session.say((f"noise: {source}", "yellow" if "unknown" in source else ""))
    session.say(f"figures: {change_text.tally(pair) or 'none in common'}")


def _case(session: Session, case: CaseComparison) -> None:
    session.say()
    if case.varied:
        session.say((case_label(case.varied), "bold cyan"))
    shown = [change for change in case.changes if _is_shown(change)]
    table = plain_table("", "base", "other", "change", "", "noise margin", "")
    for group, members in groupby(shown, key=lambda one: FIGURES[one.figure].group):
        table.add_row(Text(group, "bold"))
        for change in members:
            table.add_row(*_row(change))
    session.say_table(table)


def _is_shown(change: Change) -> bool:
    """Resources of driver and sink, and equal counts, are on the page only."""
    figure = FIGURES[change.figure]
    counted = figure.unit is Unit.COUNT or figure.direction is Direction.NEITHER
    return figure.group not in _ON_THE_PAGE_ONLY and not (
        counted and change.finding is Finding.EQUAL
    )


def _row(change: Change) -> list[Text]:
    return [
        Text(f"  {FIGURES[change.figure].label}"),
        Text(change_text.value(change, "base")),
        Text(change_text.value(change, "other")),
        Text(change_text.delta(change)),
        Text(change_text.percent(change)),
        Text(change_text.margin(change)),
        Text(change_text.finding(change), _STYLES.get(change.finding, "")),
    ]


def _checks(session: Session, checks: Sequence[CheckResult], many: bool) -> None:
    if not checks:
        return
    session.say()
    session.say(("fail if", "bold"))
    table = plain_table("", "", "")
    table.show_header = False
    for one in checks:
        mark, style = ("✓", "green") if one.passed else ("✗", "bold red")
        table.add_row(Text(f"  {mark} {one.expression}", style), Text(one.text(with_run=many)))
    session.say_table(table)
