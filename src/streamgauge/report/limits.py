"""What limited the run: the strongest limit first, with the figure that shows it and advice."""

from __future__ import annotations

from streamgauge.measure.limits import SELF_REPORTED
from streamgauge.measure.summary import Limit, TrialSummary
from streamgauge.report.markup import Html, element, joined, table

_WITHOUT_STRENGTH = frozenset({"none", "unknown"})
_STRENGTH = (
    "The share of time or capacity that it explains. Limits overlap, so shares do not add up."
)
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
        return Html("")
    self_reported = any(limit.self_reported for limit in summary.limits)
    kept_up = summary.sustained and summary.limits[0].kind not in _WITHOUT_STRENGTH
    return element(
        "section",
        element("h2", "What limited the run"),
        table(
            (element("span", "explains", class_="term", title=_STRENGTH), "shown by → what to do"),
            [_row(limit) for limit in summary.limits],
            class_="limits",
        ),
        element("p", _KEPT_UP, class_="note") if kept_up else "",
        element("p", _SELF_REPORTED, class_="note") if self_reported else "",
    )


def _row(limit: Limit) -> tuple[str, ...]:
    label, meaning = limit.label or limit.kind, limit.meaning
    return (
        joined(
            (
                element("span", label, class_="term", title=meaning) if meaning else label,
                _strength(limit),
            )
        ),
        joined(
            (
                element("p", _first_upper(limit.shown_by), ".", class_="shown-by"),
                element("p", "→ ", _with_settings(limit.advice), class_="advice"),
            )
        ),
    )


def _strength(limit: Limit) -> Html:
    if limit.kind in _WITHOUT_STRENGTH:
        return Html("")
    share = 100 * min(1.0, max(0.0, limit.strength))
    fill = element("i", class_="fill", style=f"width:{share:.2f}%")
    bar = element("span", fill, class_="bar", aria_hidden="true")
    return joined((" ", element("span", f"{share:.0f} %", class_="value"), bar))


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _with_settings(text: str) -> Html:
    """The text, with the settings in backticks as code."""
    return joined(
        element("code", part, style=_ON_ONE_LINE if len(part) < _LONG else None)
        if index % 2
        else part
        for index, part in enumerate(text.split("`"))
    )
