"""A summary on the terminal: the verdict, then thresholds, then figures with their units.

That of a search begins with the maximum, and that of a study has its cases instead of one trial.
"""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from streamgauge import writing
from streamgauge.cli.terminal import QUICK_STAMP, Session, plain_table
from streamgauge.measure.figures import FIGURES, Figure, value_of
from streamgauge.measure.summary import (
    MAXIMUM,
    Case,
    LatencyStatistics,
    Limit,
    Status,
    StudySummary,
    Summary,
    ThresholdResult,
    TrialSummary,
    Verdict,
)
from streamgauge.report.cases import ONLY_CASE, all_sustained, case_label, verdict_counts
from streamgauge.report.cells import threshold_value
from streamgauge.report.figures import COUNTS, GROWTH, STATISTICS
from streamgauge.report.published import label_and_unit, ratio_text
from streamgauge.report.tables import RESOURCE_FIGURES

VERDICT_STYLES = {
    Verdict.VALID: "bold green",
    Verdict.INVALID: "bold red",
    Verdict.UNKNOWN: "bold yellow",
    Verdict.VOID: "bold magenta",
}
_ANSWER_STYLES = {"good": "green", "bad": "red", "open": "yellow"}
_CASE_FIGURES = ("offered_per_s", "drained_per_s", "event_time.p50", "event_time.p99")
_MOST_LIMITS = 3
_MOST_REASONS = 10


def show(session: Session, summary: Summary, report: Path) -> None:
    """Prints it on standard output."""
    if summary.quick:
        session.say((QUICK_STAMP, "bold yellow"))
    _maximum(session, summary)
    _verdict(session, summary)
    _thresholds(session, summary.thresholds)
    if isinstance(summary, StudySummary):
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


def answer_text(value: bool | None) -> Text:
    """`✓ yes`, `✗ no` or `? unknown`."""
    answer = writing.answer(value)
    return Text(str(answer), _ANSWER_STYLES[answer.kind])


def _maximum(session: Session, summary: Summary) -> None:
    """What a search found, or that it found nothing."""
    if not summary.tries:
        return
    found = summary.maximum_sustainable_per_s
    answer = "none found" if found is None else f"{writing.count(found)} events/s"
    session.say("maximum sustainable throughput: ", (answer, "bold"))
    bracket = [
        f"{word} {writing.rate(rate)}"
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
    sustained = writing.answer(summary.sustained)
    session.say("sustained: ", (str(sustained), _ANSWER_STYLES[sustained.kind]))


def _thresholds(session: Session, thresholds: list[ThresholdResult]) -> None:
    if not thresholds:
        return
    _heading(session, "thresholds")
    table = plain_table("", "", "")
    table.show_header = False
    for one in thresholds:
        mark, style = ("✓", "green") if one.passed else ("✗", "red")
        table.add_row(Text(f"  {mark} {one.expression}", style), Text(threshold_value(one)))
    session.say_table(table)


def _rates(session: Session, summary: TrialSummary) -> None:
    _heading(session, "throughput")
    table = plain_table("", "")
    table.show_header = False
    for name in ("offered_per_s", "drained_per_s"):
        figure = FIGURES[name]
        table.add_row(f"  {figure.label}", Text(_value_text(figure, value_of(summary, name))))
    session.say_table(table)


def _latency(session: Session, summary: TrialSummary) -> None:
    latency = summary.latency_ms
    session.say()
    table = plain_table("latency", "event time", "processing time")
    for name, figure in STATISTICS.items():
        if getattr(latency.event_time, name) is getattr(latency.processing_time, name) is None:
            # Too few results to carry it.
            continue
        table.add_row(
            f"  {figure.label}",
            Text(_statistic(name, latency.event_time)),
            Text(_statistic(name, latency.processing_time)),
        )
    session.say_table(table)


def _statistic(name: str, statistics: LatencyStatistics) -> str:
    if name == "mean" and statistics.growing:
        by = statistics.growth_per_s
        return "growing" if by is None else f"growing by {GROWTH.write(by)}: a mean means nothing"
    return _value_text(STATISTICS[name], getattr(statistics, name))


def _validation(session: Session, summary: TrialSummary) -> None:
    validation = summary.validation
    _heading(session, "validation")
    counts = [
        f"{figure.label} {_value_text(figure, getattr(validation, name))}"
        for name, figure in COUNTS.items()
    ]
    session.say(f"  {', '.join(counts)}")
    session.say(f"  compared with: {validation.oracle or 'nothing'}")
    for example in validation.examples:
        session.say(f"  such as {example}")


def _resources(session: Session, summary: TrialSummary) -> None:
    if not summary.resources:
        return
    session.say()
    table = plain_table("resources", *(figure.label for figure in RESOURCE_FIGURES.values()))
    for role, use in summary.resources.items():
        values = (_value_text(fig, getattr(use, name)) for name, fig in RESOURCE_FIGURES.items())
        table.add_row(f"  {role}", *values)
    session.say_table(table)


def _cases(session: Session, summary: StudySummary) -> None:
    # The maximum of a single search is the first line already.
    searched = not summary.tries and any(MAXIMUM in case.figures for case in summary.cases)
    names = [MAXIMUM, *_CASE_FIGURES] if searched else _CASE_FIGURES
    repeated = any(len(case.trials) > 1 for case in summary.cases)
    headings = [FIGURES[name].full_label for name in names]
    counts = ["trials"] if repeated else []
    session.say()
    table = plain_table("cases", *counts, *headings, "verdict", "sustained")
    for case in summary.cases:
        trials = [summary.trials[place] for place in case.trials]
        verdicts = {trial.verdict for trial in trials}
        style = VERDICT_STYLES[verdicts.pop()] if len(verdicts) == 1 else "bold yellow"
        table.add_row(
            f"  {case_label(case.varied) or ONLY_CASE}",
            *([writing.count(len(trials))] if repeated else []),
            *(_case_figure(case, name) for name in names),
            Text(verdict_counts(trials), style),
            answer_text(all_sustained(trials)),
        )
    session.say_table(table)


def _case_figure(case: Case, name: str) -> str:
    spread = case.figures.get(name)
    if spread is None:
        return writing.NOTHING
    text = FIGURES[name].write(spread.mean)
    return f"{text}, growing" if case.growing and name == "event_time.p50" else text


def _published(session: Session, summary: StudySummary) -> None:
    if not summary.published:
        return
    session.say()
    table = plain_table("published", "figure", "published", "ours", "ours / published")
    for one in summary.published:
        label, unit = label_and_unit(one)
        ours = writing.NOTHING if one.ours is None else unit.write(one.ours)
        table.add_row(f"  {one.label}", label, unit.write(one.value), ours, ratio_text(one))
    session.say_table(table)
    session.say("  measured on other hardware: the ratio is no comparison of systems")


def _limits(session: Session, summary: Summary) -> None:
    """The strongest, each kind once."""
    trials = summary.trials if isinstance(summary, StudySummary) else []
    found = summary.limits or [limit for trial in trials for limit in trial.limits]
    strongest: dict[str, Limit] = {}
    for limit in sorted(found, key=lambda limit: -limit.strength):
        strongest.setdefault(limit.kind, limit)
    if not strongest:
        return
    _heading(session, "limited by")
    for limit in list(strongest.values())[:_MOST_LIMITS]:
        session.say(f"  {limit.kind}: ", limit.shown_by)
        session.say(f"    {limit.advice}")


def _value_text(figure: Figure, value: float | None) -> str:
    return writing.NOTHING if value is None else figure.write(value)


def _heading(session: Session, text: str) -> None:
    session.say()
    session.say((text, "bold"))
