"""What limited a run: the strongest limit first, with the figure that shows it and advice."""

from __future__ import annotations

from streamgauge.measure.limits import SELF_REPORTED
from streamgauge.measure.summary import Limit, StudySummary, TrialSummary
from streamgauge.report.cases import ONLY_CASE, case_label
from streamgauge.report.markup import EMPTY, Html, bar, element, joined, note, section, table

_WITHOUT_STRENGTH = frozenset({"none", "unknown"})
_STRENGTH = (
    "The share of time or capacity that it explains. Limits overlap, so shares do not add up."
)
_HEAD = (element("span", "explains", class_="term", title=_STRENGTH), "shown by → what to do")
_MOST_OF_A_TRIAL = 3
_ON_ONE_LINE = "white-space:nowrap"
_LONG = 40
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
    kept_up = summary.sustained and summary.limits[0].kind not in _WITHOUT_STRENGTH
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
    rows = [
        (case_label(trial.varied) or ONLY_CASE, *_row(limit))
        for trial in summary.trials
        for limit in trial.limits[:_MOST_OF_A_TRIAL]
    ]
    table_of_trials = table(("case", *_HEAD), rows, class_="limits")
    return section("What limited it", table_of_trials) if rows else EMPTY


def _row(limit: Limit) -> tuple[str, ...]:
    label = limit.label or limit.kind
    if limit.meaning:
        label = element("span", label, class_="term", title=limit.meaning)
    strength = EMPTY
    if limit.kind not in _WITHOUT_STRENGTH:
        percent = f"{100 * min(1.0, max(0.0, limit.strength)):.0f} %"
        strength = joined(" ", element("span", percent, class_="value"), bar(limit.strength))
    shown_by = limit.shown_by[:1].upper() + limit.shown_by[1:]
    return (
        joined(label, strength),
        joined(
            element("p", shown_by, ".", class_="shown-by"),
            element("p", "→ ", _with_settings(limit.advice), class_="advice"),
        ),
    )


def _with_settings(text: str) -> Html:
    """The text, with the settings in backticks as code."""
    return joined(
        *(
            element("code", part, style=_ON_ONE_LINE if len(part) < _LONG else None)
            if index % 2
            else part
            for index, part in enumerate(text.split("`"))
        )
    )
