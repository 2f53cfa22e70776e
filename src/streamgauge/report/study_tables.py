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
    why_not,
)
from streamgauge.measure.summary import (
    FAULTS,
    MAXIMUM,
    Case,
    SearchFigures,
    Spread,
    StudySummary,
    TrialSummary,
    Try,
    Validation,
)
from streamgauge.report.cases import ONLY_CASE, case_label, mean_of, without_rate
from streamgauge.report.cells import answer_cell, heading, value_cell, verdict_kind
from streamgauge.report.markup import (
    EMPTY,
    Html,
    coded,
    element,
    folded,
    joined,
    left,
    note,
    prose,
    section,
    table,
)

PROBE_MARKS = {"passed": "✓", "failed": "✗", "doubtful": "?"}
_KINDS = {"passed": "good", "failed": "bad"}
_CASE_COLUMNS = (
    MAXIMUM,
    "offered_per_s",
    "drained_per_s",
    *(f"{time}.{name}" for time in TIMES for name in ("mean", "p50", "p99")),
    *(f"recovery.{name}_ms" for name in ("recovery", "outage", "reload", "replay", "p99_back")),
)
_TRIAL_COLUMNS = tuple(
    FIGURES[name] for name in ("offered_per_s", "drained_per_s", "event_time.p50", "event_time.p99")
)
_MOST_ROWS = 1_000
_MOST_LACKING = 3


def cases(summary: StudySummary) -> Html:
    """One row per case, each figure with the 95 % interval of its mean."""
    if not summary.cases:
        return EMPTY
    columns = [
        FIGURES[name]
        for name in _CASE_COLUMNS
        if any(name in case.figures or _is_growing(case, name) for case in summary.cases)
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
    return section(
        "Cases",
        table(head, rows, class_="numbers"),
        note(
            "Means over the trials of a case; ± is half the 95 % confidence interval of the mean "
            "(Student), which a single trial does not have."
        ),
        _every_figure(summary.cases),
    )


def _narrow_heading(figure: Figure) -> Html:
    if not figure.time:
        return heading(figure)
    above = element("span", TIMES[figure.time].label, style="display:block")
    return joined(above, " ", heading(figure))


def _is_growing(case: Case, name: str) -> bool:
    return case.growing and name in MEAN_LATENCIES


def _case_cell(case: Case, figure: Figure) -> Html:
    if _is_growing(case, figure.name):
        return element("span", "growing", class_="growing", title="a mean has no meaning")
    mean = value_cell(figure, mean_of(case, figure.name))
    spread = case.figures.get(figure.name)
    # The trials of a case share one search: they do not show the spread of searches.
    if figure.name == MAXIMUM or spread is None or spread.low is None or spread.high is None:
        return mean
    margin = f"± {figure.write((spread.high - spread.low) / 2)}"
    return joined(mean, " ", element("span", margin, class_="note", style="display:block;margin:0"))


def _every_figure(found: list[Case]) -> Html:
    rows = [
        (
            case_label(case.varied) or ONLY_CASE,
            left(heading(figure_named(name), figure_named(name).full_label)),
            writing.count(spread.count),
            *_spread_cells(figure_named(name), spread),
        )
        for case in found
        for name, spread in case.figures.items()
        if name != MAXIMUM
    ]
    if not rows:
        return EMPTY
    more = len(rows) - _MOST_ROWS
    head = ("case", left("figure"), "n", "mean", "95 % interval", "deviation", "min", "max")
    return folded(
        f"Every figure of every case ({writing.count(len(rows))})",
        table(head, rows[:_MOST_ROWS], class_="numbers"),
        note(f"{writing.count(more)} more rows are in summary.json.") if more > 0 else EMPTY,
        style="margin-top:8px",
    )


def _spread_cells(figure: Figure, spread: Spread) -> list[str]:
    write = figure.write
    interval = writing.NOTHING
    if spread.low is not None and spread.high is not None:
        interval = f"{write(spread.low)} … {write(spread.high)}"
    deviation = writing.or_nothing(spread.deviation, write)
    return [write(spread.mean), interval, deviation, write(spread.min), write(spread.max)]


def trials(summary: StudySummary, run: Path) -> Html:
    """Every trial, with a link to its own report."""
    if not summary.trials:
        return EMPTY
    head = (
        "trial",
        left("case"),
        left(heading(FIGURES["verdict"], "results")),
        left(heading(FIGURES["sustained"])),
        *(heading(figure, figure.full_label) for figure in _TRIAL_COLUMNS),
        "counted",
        "",
    )
    rows = [
        (
            str(number),
            prose(_trial_label(trial, summary)),
            left(_verdict(trial)),
            left(writing.NOTHING if trial.without_system else answer_cell(trial.sustained)),
            *(
                value_cell(
                    figure,
                    value_of(trial, figure.name),
                    why_not=why_not(trial, figure.name),
                )
                for figure in _TRIAL_COLUMNS
            ),
            _counts(trial.validation),
            _link(trial.run, run),
        )
        for number, trial in enumerate(summary.trials, 1)
    ]
    lacking = dict.fromkeys(
        why_not(trial, figure.name)
        for trial in summary.trials
        for figure in _TRIAL_COLUMNS
        if value_of(trial, figure.name) is None
    )
    reasons = f"{writing.NOTHING}: {' · '.join(list(lacking)[:_MOST_LACKING])}"
    return section(
        "Trials", table(head, rows, class_="numbers"), note(reasons) if lacking else EMPTY
    )


def _trial_label(trial: TrialSummary, summary: StudySummary) -> str:
    name = case_label(trial.varied) or ONLY_CASE
    repeated = any(one.repetition > 1 for one in summary.trials)
    return f"{name}, repetition {trial.repetition}" if repeated else name


def _verdict(trial: TrialSummary) -> Html:
    return element(
        "span",
        f"{trial.verdict.mark} {trial.verdict.value}",
        class_=verdict_kind(trial.verdict),
        title="; ".join(trial.reasons) or None,
    )


def _counts(validation: Validation) -> Html:
    """`15,000 of 15,000`, and the faults among them."""
    if validation.expected is None or validation.actual is None:
        return element("span", writing.NOTHING, class_="nothing", title="not counted")
    counts = f"{writing.count(validation.actual)} of {writing.count(validation.expected)}"
    faults = ", ".join(
        f"{writing.count(count)} {name}" for name in FAULTS if (count := getattr(validation, name))
    )
    wrong = element("span", f"✗ {faults}", class_="bad", style="display:block")
    return joined(counts, " ", wrong) if faults else Html(counts)


def _link(place: str, run: Path) -> str:
    if not place or not (run / place / "report.html").exists():
        return ""
    return element("a", "report", href=quote(f"{place}/report.html"), style="color:var(--accent)")


def searches(summary: StudySummary) -> list[tuple[str, SearchFigures]]:
    """The searches of a study by the label of their cases; trials at a share repeat theirs."""
    if summary.scales:
        return [(case_label(scale.settings), scale) for scale in summary.scales]
    if not summary.trials and summary.tries:
        return [("", summary)]
    found: dict[str, SearchFigures] = {}
    for trial in summary.trials:
        if trial.tries:
            found.setdefault(case_label(without_rate(trial.varied)), trial)
    return list(found.items())


def probes(tries: list[Try]) -> Html:
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
    why = coded(f"{one.kind}: {one.reason}" if one.reason else one.kind)
    kind = _KINDS.get(one.verdict, "open")
    return joined(
        left(element("span", word, class_=kind)), prose(element("span", why, class_="note"))
    )
