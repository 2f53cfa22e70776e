"""The tables of a study: its cases with their spread, trials, probes, limits."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from streamgauge.measure.summary import MAXIMUM, Case, Spread, Summary, Try, Validation, Verdict
from streamgauge.report import units
from streamgauge.report.case_words import ONLY_CASE, TIMES, case_label, figure_named, without_rate
from streamgauge.report.definitions import FIGURES, label, written
from streamgauge.report.markup import Html, element, folded, joined, left, prose, table

PROBE_MARKS = {"passed": "✓", "failed": "✗", "doubtful": "?"}
_KINDS = {"passed": "good", "failed": "bad", Verdict.VALID: "good", Verdict.INVALID: "bad"}
_YES_OR_NO = {True: ("✓ yes", "good"), False: ("✗ no", "bad"), None: ("? unknown", "open")}
_FAULTS = ("missing", "extra", "duplicate", "wrong", "late")
_CASE_COLUMNS = (
    MAXIMUM,
    "offered_per_s",
    "drained_per_s",
    *(f"{time}.{name}" for time in TIMES for name in ("mean", "p50", "p99")),
)
_MOST_LIMITS = 3
_MOST_ROWS = 1_000


def cases(summary: Summary) -> Html:
    """One row per case, each figure with the 95 % interval of its mean."""
    if not summary.cases:
        return Html("")
    columns = [
        name
        for name in _CASE_COLUMNS
        if any(name in case.figures or _says_growing(case, name) for case in summary.cases)
    ]
    rows = [
        (
            case_label(case.varied) or ONLY_CASE,
            units.count(len(case.trials)),
            *(_case_cell(case, name) for name in columns),
        )
        for case in summary.cases
    ]
    head = ("case", "trials", *(_narrow_heading(name) for name in columns))
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


def _heading(name: str) -> Html:
    figure = figure_named(name)
    return element("span", figure.label, class_="term", title=figure.definition)


def _narrow_heading(name: str) -> Html:
    section, _, last = name.rpartition(".")
    if section not in TIMES:
        return _heading(name)
    above = element("span", FIGURES[section].label, style="display:block")
    return joined((above, " ", label(last)))


def _says_growing(case: Case, name: str) -> bool:
    return case.growing and name.endswith("_time.mean")


def _case_cell(case: Case, name: str) -> Html:
    if _says_growing(case, name):
        return element("span", "growing", class_="growing", title="a mean would mean nothing")
    spread = case.figures.get(name)
    if spread is None:
        return element("span", units.NOTHING, class_="nothing", title="not measured")
    mean = element("span", figure_named(name).write(spread.mean), class_="value")
    margin = margin_text(name, spread)
    if not margin or name == MAXIMUM:
        # The trials of a case share one search: they do not show how far searches lie apart.
        return mean
    below = element("span", margin, class_="note", style="display:block;margin:0")
    return joined((mean, " ", below))


def margin_text(name: str, spread: Spread) -> str:
    """± half of the confidence interval; nothing where there is none."""
    if spread.low is None or spread.high is None:
        return ""
    return f"± {figure_named(name).write((spread.high - spread.low) / 2)}"


def _every_figure(found: list[Case]) -> Html:
    rows = [
        (
            case_label(case.varied) or ONLY_CASE,
            left(_heading(name)),
            units.count(spread.count),
            *_spread_cells(name, spread),
        )
        for case in found
        for name, spread in case.figures.items()
        if name != MAXIMUM
    ]
    if not rows:
        return Html("")
    more = len(rows) - _MOST_ROWS
    head = ("case", left("figure"), "n", "mean", "95 % interval", "deviation", "min", "max")
    note = f"{units.count(more)} more rows are in summary.json." if more > 0 else ""
    return folded(
        f"Every figure of every case ({units.count(len(rows))})",
        table(head, rows[:_MOST_ROWS], class_="numbers"),
        *([element("p", note, class_="note")] if note else []),
    )


def _spread_cells(name: str, spread: Spread) -> list[str]:
    write = figure_named(name).write
    interval = units.NOTHING
    if spread.low is not None and spread.high is not None:
        interval = f"{write(spread.low)} … {write(spread.high)}"
    deviation = units.NOTHING if spread.deviation is None else write(spread.deviation)
    return [write(spread.mean), interval, deviation, write(spread.min), write(spread.max)]


def trials(summary: Summary, run: Path) -> Html:
    """Every trial, with a link to its own report."""
    if not summary.trials:
        return Html("")
    head = (
        "trial",
        left("case"),
        left(label("verdict")),
        left(label("sustained")),
        label("offered_per_s"),
        label("drained_per_s"),
        _heading("event_time.p50"),
        _heading("event_time.p99"),
        "results",
        "",
    )
    repeated = any(trial.repetition > 1 for trial in summary.trials)
    rows = [
        _trial(number, trial, run, repeated=repeated)
        for number, trial in enumerate(summary.trials, 1)
    ]
    return element("section", element("h2", "Trials"), table(head, rows, class_="numbers"))


def _trial_label(trial: Summary, *, repeated: bool) -> str:
    name = case_label(trial.varied) or ONLY_CASE
    return f"{name}, repetition {trial.repetition}" if repeated else name


def _trial(number: int, trial: Summary, run: Path, *, repeated: bool) -> tuple[str, ...]:
    event_time = trial.latency_ms.event_time
    verdict = element(
        "span",
        f"{trial.verdict.mark} {trial.verdict.value}",
        class_=_KINDS.get(trial.verdict, "open"),
        title="; ".join(trial.reasons) or None,
    )
    answer, kind = _YES_OR_NO[trial.sustained]
    return (
        str(number),
        prose(_trial_label(trial, repeated=repeated)),
        left(verdict),
        left(element("span", answer, class_=kind)),
        written("offered_per_s", trial.offered_per_s),
        written("drained_per_s", trial.drained_per_s),
        written("p50", event_time.p50, why_not="too few results"),
        written("p99", event_time.p99, why_not="too few results"),
        _counts(trial.validation),
        _link(trial.run, run),
    )


def _counts(validation: Validation) -> Html:
    """`15,000 of 15,000`, and which of them are at fault."""
    if validation.expected is None or validation.actual is None:
        return element("span", units.NOTHING, class_="nothing", title="nobody could count them")
    counts = f"{units.count(validation.actual)} of {units.count(validation.expected)}"
    faults = [
        f"{units.count(count)} {name}" for name in _FAULTS if (count := getattr(validation, name))
    ]
    wrong = element("span", f"✗ {', '.join(faults)}", class_="bad", style="display:block")
    return joined((counts, " ", wrong)) if faults else Html(counts)


def _link(place: str, run: Path) -> str:
    if not place or not (run / place / "report.html").exists():
        return ""
    return element("a", "report", href=quote(f"{place}/report.html"), style="color:var(--accent)")


def searches(summary: Summary) -> list[tuple[str, Summary]]:
    """The searches of a study by the label of their cases; trials at a share repeat theirs."""
    if not summary.trials and summary.tries:
        return [("", summary)]
    found: dict[str, Summary] = {}
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
            units.rate(one.rate_per_s),
            _outcome(one),
            units.duration(1_000 * one.length_s),
            written("drained_per_s", one.drained_per_s),
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


def limits(summary: Summary) -> Html:
    """What held each trial back, strongest first."""
    rows = [
        (
            case_label(trial.varied) or ONLY_CASE,
            limit.kind,
            limit.shown_by,
            limit.advice,
            units.percent(100 * limit.strength),
        )
        for trial in summary.trials
        for limit in trial.limits[:_MOST_LIMITS]
    ]
    if not rows:
        return Html("")
    head = ("case", "limit", "shown by", "what to do", "explains")
    return element("section", element("h2", "What limited it"), table(head, rows))
