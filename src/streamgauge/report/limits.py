"""What limited the run: the strongest limit first, the figure that shows it, and what to change."""

from __future__ import annotations

from types import MappingProxyType

from streamgauge.measure.limits import OWN_WORD
from streamgauge.measure.summary import Limit, Summary
from streamgauge.report.markup import Html, element, joined, table

KINDS = MappingProxyType(
    {
        "driver": ("our own driver", "The driver or the sink of streamgauge, and not the system."),
        "CPU": ("CPU", "The cores of the system, or of the machine, were busy."),
        "hot key": ("one hot key", "One task has most of the work, and other cores wait for it."),
        "trigger": ("trigger interval", "The interval of micro-batches is too long or too short."),
        "fixed cost": ("fixed cost", "What a micro-batch takes however few events it has."),
        "source": ("source", "Reading the input."),
        "state": ("state", "Updating and committing what the query keeps between batches."),
        "shuffle": ("shuffle", "Moving rows between tasks, and what cannot be told from it."),
        "compute": ("computing", "Everything after the pulling that cannot be told apart."),
        "none": ("nothing", "The system kept up and had cores left."),
        "unknown": ("unknown", "Nothing that was measured points at a limit."),
    }
)
_WITHOUT_STRENGTH = frozenset({"none", "unknown"})
_STRENGTH = "The share of time or capacity that it explains. Limits overlap: no sum of 100 %."
_ON_ONE_LINE = "white-space:nowrap"
_LONG = 40
_KEPT_UP = (
    "The system kept up with what was offered: this is what its latency is made of, and what "
    "would limit it first at a higher rate."
)
_OWN_WORD = (
    f"“{OWN_WORD}”: what Spark says of its own micro-batches. It was not measured from outside, "
    "serves this advice and enters no figure of this report. Everything else here was measured "
    "from outside."
)


def limits(summary: Summary) -> Html:
    """The section; nothing where nothing was measured."""
    if not summary.limits:
        return Html("")
    said = any(OWN_WORD in limit.shown_by for limit in summary.limits)
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
        element("p", _OWN_WORD, class_="note") if said else "",
    )


def _row(limit: Limit) -> tuple[str, ...]:
    label, meaning = KINDS.get(limit.kind, (limit.kind, ""))
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
    """Text whose parts in backticks are settings."""
    return joined(
        element("code", part, style=_ON_ONE_LINE if len(part) < _LONG else None)
        if index % 2
        else part
        for index, part in enumerate(text.split("`"))
    )
