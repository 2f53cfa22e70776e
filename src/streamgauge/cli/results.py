"""A summary on the terminal: the outcome with its reasons, thresholds, figures with their units.

The summary of a search has its maximum; that of a study has cases instead of one trial.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from streamgauge import writing
from streamgauge.cli.terminal import QUICK_STAMP, Session
from streamgauge.measure.figures import FIGURES, MEAN_LATENCIES, TIMES, times_of, value_of
from streamgauge.measure.outcome import Outcome, outcome_of
from streamgauge.measure.quantiles import results_needed
from streamgauge.measure.summary import (
    MAXIMUM,
    Case,
    LatencyStatistics,
    Limit,
    StudySummary,
    Summary,
    TrialSummary,
    Verdict,
)
from streamgauge.report.cases import (
    ONLY_CASE,
    all_sustained,
    case_label,
    mean_of,
    verdict_counts,
)
from streamgauge.report.cells import threshold_value, verdict_kind
from streamgauge.report.figures import GROWTH, STATISTICS, counts_of
from streamgauge.report.published import published_cells, scale_text
from streamgauge.report.tables import RESOURCE_FIGURES

_STYLES = {"good": "green", "bad": "red", "open": "yellow", "void": "magenta"}
_OUTCOME_STYLES = {kind: f"bold {style}" for kind, style in _STYLES.items()}
_VISIBILITY = ("offered_per_s", "drained_per_s", "visibility.p50", "visibility.p99")
_CASE_FIGURES = ("offered_per_s", "drained_per_s", "event_time.p50", "event_time.p99")
_RECOVERY_OF_CASES = (
    "recovery.outage_ms",
    "recovery.reload_ms",
    "recovery.replay_ms",
    "recovery.recovery_ms",
)
_INGESTION = (
    "ingestion.achieved_per_s",
    "ingestion.mb_per_s",
    "ingestion.variation_percent",
    "ingestion.records_per_step",
)
_MOST_LIMITS = 3
_MOST_REASONS = 10


def show(session: Session, summary: Summary, report: Path) -> None:
    if summary.quick:
        session.say((QUICK_STAMP, "bold yellow"))
    _outcome(session, summary)
    if summary.tries:
        _maximum(session, summary)
    _thresholds(session, summary)
    if isinstance(summary, StudySummary):
        _cases(session, summary)
        for scale in summary.scales:
            session.say(f"  {scale_text(scale)}")
        _published(session, summary)
    else:
        _rates(session, summary)
        _latency(session, summary)
        _validation(session, summary)
        _recovery(session, summary)
        _resources(session, summary)
    _limits(session, summary)
    if summary.warnings:
        session.heading("warnings")
    for warning in summary.warnings:
        session.say(f"  {warning}")
    session.say()
    session.say(("report: ", "bold"), str(report))


def answer_text(value: bool | None) -> Text:
    """`✓ yes`, `✗ no` or `? unknown`."""
    answer = writing.answer(value)
    return Text(str(answer), _STYLES[answer.kind])


def verdict_text(verdict: Verdict) -> Text:
    return Text(f"{verdict.mark} {verdict.value}", _STYLES[verdict_kind(verdict)])


def outcome_text(outcome: Outcome) -> Text:
    return Text(str(outcome), _OUTCOME_STYLES[outcome.kind])


def _maximum(session: Session, summary: Summary) -> None:
    found = summary.maximum_sustainable_per_s
    answer = "none found" if found is None else f"{writing.count(found)} events/s"
    session.say("maximum sustainable throughput: ", (answer, "bold"))
    bracket = [
        f"{word} {writing.rate(rate)}"
        for word, rate in (("passed", summary.passed), ("failed", summary.failed))
        if rate is not None
    ]
    for line in filter(None, (", ".join(bracket), summary.confidence)):
        session.say(f"  {line}")


def _outcome(session: Session, summary: Summary) -> None:
    session.say(outcome_text(outcome_of(summary)), f"   {summary.name}, run {summary.run}")
    session.say("results: ", verdict_text(summary.verdict))
    _reasons(session, summary.reasons)
    if not summary.without_system:
        session.say("sustained: ", answer_text(summary.sustained))
        _reasons(session, summary.unsustained_because)


def _reasons(session: Session, reasons: Sequence[str]) -> None:
    for reason in reasons[:_MOST_REASONS]:
        session.say(f"  {reason}")
    if len(reasons) > _MOST_REASONS:
        session.say(f"  and {len(reasons) - _MOST_REASONS} more reasons")


def _thresholds(session: Session, summary: Summary) -> None:
    if summary.thresholds:
        session.heading("thresholds")
        rows = []
        for one in summary.thresholds:
            mark, style = ("✓", "green") if one.passed else ("✗", "red")
            rows.append((Text(f"  {mark} {one.expression}", style), threshold_value(one)))
        session.say_table(rows)


def _rates(session: Session, summary: TrialSummary) -> None:
    session.heading("throughput")
    names = _INGESTION if summary.without_system else ("offered_per_s", "drained_per_s")
    figures = [FIGURES[name] for name in names]
    session.say_table(
        (f"  {figure.label}", writing.or_nothing(value_of(summary, figure.name), figure.write))
        for figure in figures
    )


def _latency(session: Session, summary: TrialSummary) -> None:
    names = times_of(summary)
    times = [getattr(summary.latency_ms, name) for name in names]
    rows = [
        (f"  {figure.label}", *(_statistic(name, statistics) for statistics in times))
        for name, figure in STATISTICS.items()
        if any(getattr(statistics, name) is not None for statistics in times)
    ]
    session.say()
    session.say_table(rows, "latency", *(TIMES[name].label for name in names))
    count = times[0].count
    lacking = [
        f"{figure.label} needs {writing.count(results_needed(name))}"
        for name, figure in STATISTICS.items()
        if count < results_needed(name)
    ]
    if lacking and count:
        session.say(f"  not measured: {writing.count(count)} results; {', '.join(lacking)}")


def _statistic(name: str, statistics: LatencyStatistics) -> str:
    if name == "mean" and statistics.growing:
        by = statistics.growth_per_s
        return "growing" if by is None else f"growing by {GROWTH.write(by)}: a mean has no meaning"
    return writing.or_nothing(getattr(statistics, name), STATISTICS[name].write)


def _validation(session: Session, summary: TrialSummary) -> None:
    validation = summary.validation
    session.heading("validation")
    counts = [
        f"{figure.label} {writing.or_nothing(getattr(validation, name), figure.write)}"
        for name, figure in counts_of(validation)
    ]
    session.say(f"  {', '.join(counts)}")
    session.say(f"  compared with: {validation.oracle or 'nothing'}")
    for example in validation.examples:
        session.say(f"  such as {example}")


_RECOVERY = ("detection", "outage", "reload", "replay", "catch_up", "p99_back", "recovery")


def _recovery(session: Session, summary: TrialSummary) -> None:
    found = summary.recovery
    if found is None:
        return
    figures = {f"{name}_ms": FIGURES[f"recovery.{name}_ms"] for name in _RECOVERY}
    rows = []
    for fault in found.faults:
        cells = [
            writing.or_nothing(getattr(fault, name), one.write) for name, one in figures.items()
        ]
        if not fault.done:
            cells = [f"not done: {fault.failed}", *[""] * (len(figures) - 1)]
        elif not fault.recovered:
            cells[-1] = "never"
        rows.append((f"  {fault.name} at {fault.at_s:.1f} s", *cells))
    session.say()
    session.say_table(rows, "faults", *(figure.label for figure in figures.values()))
    shown, claimed = found.guarantee_shown or "not known", found.guarantee_claimed or "nothing"
    session.say(f"  delivery: {shown}; claimed: {claimed}; restarts: {found.restarts}")


def _resources(session: Session, summary: TrialSummary) -> None:
    if not summary.resources:
        return
    figures = RESOURCE_FIGURES.items()
    rows = [
        (f"  {role}", *(writing.or_nothing(getattr(use, name), one.write) for name, one in figures))
        for role, use in summary.resources.items()
    ]
    session.say()
    session.say_table(rows, "resources", *(figure.label for figure in RESOURCE_FIGURES.values()))


def _cases(session: Session, summary: StudySummary) -> None:
    # The maximum of a single search is the first line already.
    searched = not summary.tries and any(MAXIMUM in case.figures for case in summary.cases)
    figures = _VISIBILITY if summary.figure == "distributions" else _CASE_FIGURES
    figures = _INGESTION if summary.without_system else figures
    if any(trial.recovery for trial in summary.trials):
        figures = _RECOVERY_OF_CASES
    names = [MAXIMUM, *figures] if searched else figures
    repeated = any(len(case.trials) > 1 for case in summary.cases)
    rows: list[list[str | Text]] = []
    for case in summary.cases:
        trials = [summary.trials[place] for place in case.trials]
        verdicts = {trial.verdict for trial in trials}
        style = _STYLES[verdict_kind(verdicts.pop()) if len(verdicts) == 1 else "open"]
        rows.append(
            [
                f"  {case_label(case.varied) or ONLY_CASE}",
                *([writing.count(len(trials))] if repeated else []),
                *(_case_figure(case, name) for name in names),
                Text(verdict_counts(trials), style),
                *([] if summary.without_system else [answer_text(all_sustained(trials))]),
            ]
        )
    counts = ["trials"] if repeated else []
    sustained = [] if summary.without_system else ["sustained"]
    labels = [FIGURES[name].full_label for name in names]
    session.say()
    session.say_table(rows, "cases", *counts, *labels, "results", *sustained)


def _case_figure(case: Case, name: str) -> str:
    text = writing.or_nothing(mean_of(case, name), FIGURES[name].write)
    is_growing = case.growing and name == "event_time.p50" and text != writing.NOTHING
    return f"{text}, growing" if is_growing else text


def _published(session: Session, summary: StudySummary) -> None:
    if not summary.published:
        return
    rows = [
        (f"  {one.label}", *published_cells(one))
        for one in summary.published
        # A table of many queries is too long for a terminal; the report has every figure.
        if summary.figure != "queries" or one.figure == MEAN_LATENCIES[0]
    ]
    session.say()
    session.say_table(rows, "published", "figure", "published", "ours", "ours / published")
    session.say("  measured on other hardware: the ratio is no comparison of systems")


def _limits(session: Session, summary: Summary) -> None:
    """The strongest, each kind once."""
    trials = summary.trials if isinstance(summary, StudySummary) else []
    found = summary.limits or [limit for trial in trials for limit in trial.limits]
    strongest: dict[str, Limit] = {}
    for limit in sorted(found, key=lambda limit: -limit.strength):
        strongest.setdefault(limit.kind, limit)
    if strongest:
        session.heading("limited by")
    for limit in list(strongest.values())[:_MOST_LIMITS]:
        session.say(f"  {limit.kind}: ", limit.shown_by)
        session.say(f"    {limit.advice}")
