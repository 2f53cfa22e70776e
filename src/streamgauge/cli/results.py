"""A summary for people: the verdict, then thresholds, then figures with their units.

A search begins with the maximum that it found, and a study shows its cases instead of one trial.
"""

from __future__ import annotations

import re
from pathlib import Path

from rich.text import Text

from streamgauge.cli.terminal import QUICK_STAMP, Session, plain_table
from streamgauge.measure.summary import (
    MAXIMUM,
    Case,
    LatencyStatistics,
    Limit,
    Status,
    Summary,
    ThresholdResult,
    Verdict,
)
from streamgauge.report import units
from streamgauge.report.case_words import (
    ONLY_CASE,
    all_sustained,
    case_label,
    figure_named,
    tally,
)
from streamgauge.report.definitions import FIGURES
from streamgauge.report.figures import COUNTS, STATISTICS
from streamgauge.report.published import ratio_text

VERDICT_STYLES = {
    Verdict.VALID: "bold green",
    Verdict.INVALID: "bold red",
    Verdict.UNKNOWN: "bold yellow",
    Verdict.VOID: "bold magenta",
}
YES_OR_NO = {True: ("✓ yes", "green"), False: ("✗ no", "red"), None: ("? unknown", "yellow")}
_CASE_FIGURES = ("offered_per_s", "drained_per_s", "event_time.p50", "event_time.p99")
_MOST_LIMITS = 3
_MOST_REASONS = 10
_RESOURCES = ("cpu_percent_mean", "memory_mb_max", "disk_mb_written", "network_mb")


def show(session: Session, summary: Summary, report: Path) -> None:
    """Prints it on standard output."""
    if summary.quick:
        session.say((QUICK_STAMP, "bold yellow"))
    _maximum(session, summary)
    _verdict(session, summary)
    _thresholds(session, summary.thresholds)
    if summary.trials:
        _cases(session, summary)
        _published(session, summary)
    else:
        _rates(session, summary)
        _latency(session, summary)
        _validation(session, summary)
        _resources(session, summary)
    _limits(session, summary)
    session.say()
    session.say(("report: ", "bold"), str(report))


def _maximum(session: Session, summary: Summary) -> None:
    """The answer of a search; one that found nothing says so."""
    if not summary.tries:
        return
    found = summary.maximum_sustainable_per_s
    answer = "none found" if found is None else f"{units.count(found)} events/s"
    session.say("maximum sustainable throughput: ", (answer, "bold"))
    bracket = [
        f"{word} {units.rate(rate)}"
        for word, rate in (("passed", summary.passed), ("failed", summary.failed))
        if rate is not None
    ]
    for line in (", ".join(bracket), summary.confidence):
        if line:
            session.say(f"  {line}")


def _verdict(session: Session, summary: Summary) -> None:
    verdict = summary.verdict
    ending = "" if summary.status is Status.FINISHED else f" ({summary.status.value})"
    session.say(
        (f"{verdict.mark} {verdict.value}", VERDICT_STYLES[verdict]),
        f"{ending}   {summary.name}, run {summary.run}",
    )
    for reason in summary.reasons[:_MOST_REASONS]:
        session.say(f"  {reason}")
    if len(summary.reasons) > _MOST_REASONS:
        session.say(f"  and {len(summary.reasons) - _MOST_REASONS} more reasons")
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


def _cases(session: Session, summary: Summary) -> None:
    # The maximum of a single search has been said already.
    searched = not summary.tries and any(MAXIMUM in case.figures for case in summary.cases)
    names = [MAXIMUM, *_CASE_FIGURES] if searched else _CASE_FIGURES
    repeated = any(len(case.trials) > 1 for case in summary.cases)
    headings = [figure_named(name).label for name in names]
    counts = ["trials"] if repeated else []
    session.say()
    table = plain_table("cases", *counts, *headings, "verdict", "sustained")
    for case in summary.cases:
        trials = [summary.trials[place] for place in case.trials]
        verdicts = {trial.verdict for trial in trials}
        style = VERDICT_STYLES[verdicts.pop()] if len(verdicts) == 1 else "bold yellow"
        table.add_row(
            f"  {case_label(case.varied) or ONLY_CASE}",
            *([units.count(len(trials))] if repeated else []),
            *(_case_figure(case, name) for name in names),
            Text(tally(trials), style),
            Text(*YES_OR_NO[all_sustained(trials)]),
        )
    session.say_table(table)


def _case_figure(case: Case, name: str) -> str:
    spread = case.figures.get(name)
    if spread is None:
        return units.NOTHING
    text = figure_named(name).write(spread.mean)
    return f"{text}, growing" if case.growing and name == "event_time.p50" else text


def _published(session: Session, summary: Summary) -> None:
    if not summary.published:
        return
    session.say()
    table = plain_table("published", "figure", "published", "ours", "ours / published")
    for one in summary.published:
        figure = figure_named(one.figure)
        ours = units.NOTHING if one.ours is None else figure.write(one.ours)
        table.add_row(
            f"  {one.label}", figure.label, figure.write(one.value), ours, ratio_text(one)
        )
    session.say_table(table)
    session.say("  measured on other hardware: the ratio is no comparison of systems")


def _limits(session: Session, summary: Summary) -> None:
    """The strongest, each kind once."""
    found = summary.limits or [limit for trial in summary.trials for limit in trial.limits]
    strongest: dict[str, Limit] = {}
    for limit in sorted(found, key=lambda limit: -limit.strength):
        strongest.setdefault(limit.kind, limit)
    if not strongest:
        return
    _heading(session, "limited by")
    for limit in list(strongest.values())[:_MOST_LIMITS]:
        session.say(f"  {limit.kind}: ", limit.shown_by)
        session.say(f"    {limit.advice}")


def _written(name: str, value: float | None) -> str:
    if value is None:
        return units.NOTHING
    return FIGURES[name].write(value) if name in FIGURES else units.number(value)


def _heading(session: Session, text: str) -> None:
    session.say()
    session.say((text, "bold"))
