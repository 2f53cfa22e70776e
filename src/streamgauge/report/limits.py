"""What limited a run: the strongest limit first, with the figure that shows it and advice."""

from __future__ import annotations

from streamgauge.measure.limits import SELF_REPORTED
from streamgauge.measure.summary import Limit, StudySummary, TrialSummary, Verdict
from streamgauge.report.cases import ONLY_CASE, case_label
from streamgauge.report.markup import EMPTY, Html, bar, coded, element, joined, note, section, table

_WITHOUT_STRENGTH = frozenset({"none", "unknown"})
_STRENGTH = (
    "How much of the time or the capacity it explains. Limits overlap, so they do not add up."
)
_HEAD = (element("span", "strength", class_="term", title=_STRENGTH), "shown by → what to do")
_MOST_OF_A_TRIAL = 3
_KEPT_UP = (
    "The system kept up with the offered rate. These entries show what its latency consists of, "
    "and what would limit it first at a higher rate."
)
_SELF_REPORTED = (
    f"“{SELF_REPORTED}”: a figure that the system reports about its own batches. It is used only "
    "for this advice and for no other figure of this report. Everything else here was measured "
    "from outside."
)


def limits(summary: TrialSummary) -> Html:
    """The section; empty if nothing was measured."""
    if not summary.limits:
        return EMPTY
    known = summary.verdict is not Verdict.VOID
    kept_up = known and summary.sustained and summary.limits[0].kind not in _WITHOUT_STRENGTH
    self_reported = any(limit.self_reported for limit in summary.limits)
    rows = [_row(limit) for limit in summary.limits]
    return section(
        "What limited the run",
        table(_HEAD, rows, class_="limits"),
        note(_KEPT_UP) if kept_up else "",
        note(_SELF_REPORTED) if self_reported else "",
    )


def study_limits(summary: StudySummary) -> Html:
    """The strongest limits of each trial; empty if nothing was measured."""
    rows = []
    for trial in summary.trials:
        case = element("p", case_label(trial.varied) or ONLY_CASE, class_="note")
        for limit in trial.limits[:_MOST_OF_A_TRIAL]:
            name, advice = _row(limit)
            rows.append((joined(case, name), advice))
    table_of_trials = table(_HEAD, rows, class_="limits")
    return section("What limited it", table_of_trials) if rows else EMPTY


def _row(limit: Limit) -> tuple[str, ...]:
    label = limit.label or limit.kind
    if limit.meaning:
        label = element("span", label, class_="term", title=limit.meaning)
    strength = EMPTY if limit.kind in _WITHOUT_STRENGTH else bar(limit.strength)
    shown_by = limit.shown_by[:1].upper() + limit.shown_by[1:]
    return (
        joined(label, strength),
        joined(
            element("p", coded(shown_by), ".", class_="shown-by"),
            element("p", "→ ", coded(limit.advice), class_="advice"),
        ),
    )
