"""A summary for people: verdict first, then thresholds, then figures with their units."""

from __future__ import annotations

import re
from pathlib import Path

from rich.text import Text

from streamgauge.cli.terminal import QUICK_STAMP, Session, plain_table
from streamgauge.measure.summary import (
    LatencyStatistics,
    Status,
    Summary,
    ThresholdResult,
    Verdict,
)
from streamgauge.report import units
from streamgauge.report.definitions import FIGURES
from streamgauge.report.figures import COUNTS, STATISTICS

VERDICT_STYLES = {
    Verdict.VALID: "bold green",
    Verdict.INVALID: "bold red",
    Verdict.UNKNOWN: "bold yellow",
    Verdict.VOID: "bold magenta",
}
YES_OR_NO = {True: ("✓ yes", "green"), False: ("✗ no", "red"), None: ("? unknown", "yellow")}
_RESOURCES = ("cpu_percent_mean", "memory_mb_max", "disk_mb_written", "network_mb")


def show(session: Session, summary: Summary, report: Path) -> None:
    """Prints it on standard output."""
    if summary.quick:
        session.say((QUICK_STAMP, "bold yellow"))
    _verdict(session, summary)
    _thresholds(session, summary.thresholds)
    _rates(session, summary)
    _latency(session, summary)
    _validation(session, summary)
    _resources(session, summary)
    session.say()
    session.say(("report: ", "bold"), str(report))


def _verdict(session: Session, summary: Summary) -> None:
    verdict = summary.verdict
    ending = "" if summary.status is Status.FINISHED else f" ({summary.status.value})"
    session.say(
        (f"{verdict.mark} {verdict.value}", VERDICT_STYLES[verdict]),
        f"{ending}   {summary.name}, run {summary.run}",
    )
    for reason in summary.reasons:
        session.say(f"  {reason}")
    session.say("sustained: ", YES_OR_NO[summary.sustained])


def _thresholds(session: Session, thresholds: list[ThresholdResult]) -> None:
    if not thresholds:
        return
    _heading(session, "thresholds")
    table = plain_table("", "", "")
    table.show_header = False
    for one in thresholds:
        mark, style = ("✓", "green") if one.passed else ("✗", "red")
        table.add_row(Text(f"  {mark} {one.expression}", style), Text(_value_of(one)))
    session.say_table(table)


def _value_of(threshold: ThresholdResult) -> str:
    if threshold.value is None:
        return "not measured"
    metric = re.match(r"[\w.]*", threshold.expression.strip())
    name = metric.group().rpartition(".")[2] if metric else ""
    return _written(name, threshold.value)


def _rates(session: Session, summary: Summary) -> None:
    _heading(session, "throughput")
    table = plain_table("", "")
    table.show_header = False
    for name in ("offered_per_s", "drained_per_s"):
        table.add_row(f"  {FIGURES[name].label}", Text(_written(name, getattr(summary, name))))
    session.say_table(table)


def _latency(session: Session, summary: Summary) -> None:
    latency = summary.latency_ms
    session.say()
    table = plain_table("latency", "event time", "processing time")
    for name in STATISTICS:
        if getattr(latency.event_time, name) is getattr(latency.processing_time, name) is None:
            # Too few results to carry it.
            continue
        table.add_row(
            f"  {FIGURES[name].label}",
            Text(_statistic(name, latency.event_time)),
            Text(_statistic(name, latency.processing_time)),
        )
    session.say_table(table)


def _statistic(name: str, statistics: LatencyStatistics) -> str:
    if name == "mean" and statistics.growing:
        by = statistics.growth_per_s
        return "growing" if by is None else f"growing by {units.growth(by)}: a mean means nothing"
    return _written(name, getattr(statistics, name))


def _validation(session: Session, summary: Summary) -> None:
    validation = summary.validation
    _heading(session, "validation")
    counts = [
        f"{FIGURES[name].label} {_written(name, getattr(validation, name))}" for name in COUNTS
    ]
    session.say(f"  {', '.join(counts)}")
    session.say(f"  compared with: {validation.oracle or 'nothing'}")
    for example in validation.examples:
        session.say(f"  such as {example}")


def _resources(session: Session, summary: Summary) -> None:
    if not summary.resources:
        return
    session.say()
    table = plain_table("resources", *(FIGURES[name].label for name in _RESOURCES))
    for role, use in summary.resources.items():
        table.add_row(f"  {role}", *(_written(name, getattr(use, name)) for name in _RESOURCES))
    session.say_table(table)


def _written(name: str, value: float | None) -> str:
    if value is None:
        return units.NOTHING
    return FIGURES[name].write(value) if name in FIGURES else units.number(value)


def _heading(session: Session, text: str) -> None:
    session.say()
    session.say((text, "bold"))
