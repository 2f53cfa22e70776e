"""The tables of a study: its cases with their spread, trials, probes, limits."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from streamgauge import writing
from streamgauge.measure.figures import (
    FIGURES,
    MEAN_LATENCIES,
    TIMES,
    Figure,
    figure_named,
    value_of,
)
from streamgauge.measure.summary import (
    FAULTS,
    MAXIMUM,
    Case,
    Spread,
    StudySummary,
    TrialSummary,
    Try,
    Validation,
    Verdict,
)
from streamgauge.report.cases import ONLY_CASE, case_label, without_rate
from streamgauge.report.cells import answer_cell, full_heading, heading, value_cell
from streamgauge.report.markup import Html, element, folded, joined, left, prose, table

PROBE_MARKS = {"passed": "✓", "failed": "✗", "doubtful": "?"}
_KINDS = {"passed": "good", "failed": "bad", Verdict.VALID: "good", Verdict.INVALID: "bad"}
_CASE_COLUMNS = tuple(
    FIGURES[name]
    for name in (
        MAXIMUM,
        "offered_per_s",
        "drained_per_s",
        *(f"{time}.{name}" for time in TIMES for name in ("mean", "p50", "p99")),
    )
)
_TRIAL_COLUMNS = tuple(
    FIGURES[name] for name in ("offered_per_s", "drained_per_s", "event_time.p50", "event_time.p99")
)
_MOST_LIMITS = 3
_MOST_ROWS = 1_000


def cases(summary: StudySummary) -> Html:
    """One row per case, each figure with the 95 % interval of its mean."""
    if not summary.cases:
        return Html("")
    columns = [
        figure
        for figure in _CASE_COLUMNS
        if any(figure.name in case.figures or _is_growing(case, figure) for case in summary.cases)
    ]
    rows = [
        (
            case_label(case.varied) or ONLY_CASE,
            writing.count(len(case.trials)),
            *(_case_cell(case, figure) for figure in columns),
        )
        for case in summary.cases
    ]
    head = ("case", "trials", *(_narrow_heading(figure) for figure in columns))
    return element(
        "section",
        element("h2", "Cases"),
        table(head, rows, class_="numbers"),
        element(
            "p",
            "Means over the trials of a case; ± is half the 95 % confidence interval of the mean "
            "(Student), which a single trial does not have.",
            class_="note",
        ),
        _every_figure(summary.cases),
    )


def _narrow_heading(figure: Figure) -> Html:
    if not figure.time:
        return heading(figure)
    above = element("span", TIMES[figure.time].label, style="display:block")
    return joined((above, " ", heading(figure)))


def _is_growing(case: Case, figure: Figure) -> bool:
    return case.growing and figure.name in MEAN_LATENCIES


def _case_cell(case: Case, figure: Figure) -> Html:
    if _is_growing(case, figure):
        return element("span", "growing", class_="growing", title="a mean would mean nothing")
    spread = case.figures.get(figure.name)
    mean = value_cell(figure, spread.mean if spread else None)
    margin = margin_text(figure, spread) if spread else ""
    if not margin or figure.name == MAXIMUM:
        # The trials of a case share one search: they do not show how far searches lie apart.
        return mean
    below = element("span", margin, class_="note", style="display:block;margin:0")
    return joined((mean, " ", below))


def margin_text(figure: Figure, spread: Spread) -> str:
    """± half of the confidence interval; empty where there is none."""
    if spread.low is None or spread.high is None:
        return ""
    return f"± {figure.write((spread.high - spread.low) / 2)}"


def _every_figure(found: list[Case]) -> Html:
    rows = [
        (
            case_label(case.varied) or ONLY_CASE,
            left(full_heading(figure_named(name))),
            writing.count(spread.count),
            *_spread_cells(figure_named(name), spread),
        )
        for case in found
        for name, spread in case.figures.items()
        if name != MAXIMUM
    ]
    if not rows:
        return Html("")
    more = len(rows) - _MOST_ROWS
    head = ("case", left("figure"), "n", "mean", "95 % interval", "deviation", "min", "max")
    note = f"{writing.count(more)} more rows are in summary.json." if more > 0 else ""
    return folded(
        f"Every figure of every case ({writing.count(len(rows))})",
        table(head, rows[:_MOST_ROWS], class_="numbers"),
        *([element("p", note, class_="note")] if note else []),
    )


def _spread_cells(figure: Figure, spread: Spread) -> list[str]:
    write = figure.write
    interval = writing.NOTHING
    if spread.low is not None and spread.high is not None:
        interval = f"{write(spread.low)} … {write(spread.high)}"
    deviation = writing.NOTHING if spread.deviation is None else write(spread.deviation)
    return [write(spread.mean), interval, deviation, write(spread.min), write(spread.max)]


def trials(summary: StudySummary, run: Path) -> Html:
    """Every trial, with a link to its own report."""
    if not summary.trials:
        return Html("")
    head = (
        "trial",
        left("case"),
        left(heading(FIGURES["verdict"])),
        left(heading(FIGURES["sustained"])),
        *(full_heading(figure) for figure in _TRIAL_COLUMNS),
        "results",
        "",
    )
    repeated = any(trial.repetition > 1 for trial in summary.trials)
    rows = [
        _trial(number, trial, run, repeated=repeated)
        for number, trial in enumerate(summary.trials, 1)
    ]
    return element("section", element("h2", "Trials"), table(head, rows, class_="numbers"))


def _trial_label(trial: TrialSummary, *, repeated: bool) -> str:
    name = case_label(trial.varied) or ONLY_CASE
    return f"{name}, repetition {trial.repetition}" if repeated else name


def _trial(number: int, trial: TrialSummary, run: Path, *, repeated: bool) -> tuple[str, ...]:
    verdict = element(
        "span",
        f"{trial.verdict.mark} {trial.verdict.value}",
        class_=_KINDS.get(trial.verdict, "open"),
        title="; ".join(trial.reasons) or None,
    )
    return (
        str(number),
        prose(_trial_label(trial, repeated=repeated)),
        left(verdict),
        left(answer_cell(trial.sustained)),
        *(_trial_cell(trial, figure) for figure in _TRIAL_COLUMNS),
        _counts(trial.validation),
        _link(trial.run, run),
    )


def _trial_cell(trial: TrialSummary, figure: Figure) -> Html:
    why_not = "too few results" if figure.time else "not measured"
    return value_cell(figure, value_of(trial, figure.name), why_not=why_not)


def _counts(validation: Validation) -> Html:
    """`15,000 of 15,000`, and the faults among them."""
    if validation.expected is None or validation.actual is None:
        return element("span", writing.NOTHING, class_="nothing", title="they were not counted")
    counts = f"{writing.count(validation.actual)} of {writing.count(validation.expected)}"
    faults = [
        f"{writing.count(count)} {name}" for name in FAULTS if (count := getattr(validation, name))
    ]
    wrong = element("span", f"✗ {', '.join(faults)}", class_="bad", style="display:block")
    return joined((counts, " ", wrong)) if faults else Html(counts)


def _link(place: str, run: Path) -> str:
    if not place or not (run / place / "report.html").exists():
        return ""
    return element("a", "report", href=quote(f"{place}/report.html"), style="color:var(--accent)")


def searches(summary: StudySummary) -> list[tuple[str, StudySummary | TrialSummary]]:
    """The searches of a study by the label of their cases; trials at a share repeat theirs."""
    if not summary.trials and summary.tries:
        return [("", summary)]
    found: dict[str, StudySummary | TrialSummary] = {}
    for trial in summary.trials:
        if trial.tries:
            found.setdefault(case_label(without_rate(trial.varied)), trial)
    return list(found.items())


def probes(tries: list[Try]) -> Html:
    """Every probe of one search, in order."""
    head = ("probe", "rate", left("outcome"), "length", "drained")
    rows = [
        (
            str(number),
            writing.rate(one.rate_per_s),
            _outcome(one),
            writing.duration(1_000 * one.length_s),
            value_cell(FIGURES["drained_per_s"], one.drained_per_s),
        )
        for number, one in enumerate(tries, 1)
    ]
    return table(head, rows, class_="numbers")


def _outcome(one: Try) -> Html:
    word = f"{PROBE_MARKS.get(one.verdict, '?')} {one.verdict}"
    why = f"{one.kind}: {one.reason}" if one.reason else one.kind
    return joined(
        (
            left(element("span", word, class_=_KINDS.get(one.verdict, "open"))),
            prose(element("span", why, class_="note")),
        )
    )


def limits(summary: StudySummary) -> Html:
    """What limited each trial, strongest first."""
    rows = [
        (
            case_label(trial.varied) or ONLY_CASE,
            limit.kind,
            limit.shown_by,
            limit.advice,
            writing.percent(100 * limit.strength),
        )
        for trial in summary.trials
        for limit in trial.limits[:_MOST_LIMITS]
    ]
    if not rows:
        return Html("")
    head = ("case", "limit", "shown by", "what to do", "explains")
    return element("section", element("h2", "What limited it"), table(head, rows))
