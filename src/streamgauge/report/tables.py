"""The end of the page: driver instances, resources, how to repeat the run, its environment."""

from __future__ import annotations

from collections.abc import Mapping

from streamgauge import writing
from streamgauge.measure.figures import FIGURES, INSTANCE, ROLE, figures_below
from streamgauge.measure.summary import InstanceSummary, Summary, TrialSummary
from streamgauge.report.cases import setting_text
from streamgauge.report.cells import heading, value_cell
from streamgauge.report.markup import (
    EMPTY,
    Html,
    bar,
    element,
    folded,
    joined,
    note,
    section,
    table,
)

_INSTANCE_FIGURES = figures_below(f"driver.{INSTANCE}")
RESOURCE_FIGURES = figures_below("resources.system")
"""The figures of a role by the names of their fields; all roles have the same."""


def instances(driver: list[InstanceSummary]) -> Html:
    """What each driver instance did, its longest queue against the marks."""
    if not driver:
        return EMPTY

    def cell(one: InstanceSummary, name: str) -> Html:
        return value_cell(_INSTANCE_FIGURES[name], getattr(one, name))

    rows = [
        (
            str(one.instance),
            one.stream,
            cell(one, "offered"),
            cell(one, "drained"),
            joined(cell(one, "queue_max"), _queue_bar(one)),
            " · ".join(writing.count(mark) for mark in one.queue_limits),
            cell(one, "lag_p99_ms"),
        )
        for one in driver
    ]
    head = map(heading, _INSTANCE_FIGURES.values())
    return section("Driver instances", table(head, rows, class_="numbers instances"))


def _queue_bar(one: InstanceSummary) -> Html:
    low, high, room = one.queue_limits
    kind = "good" if one.queue_max <= low else "open" if one.queue_max <= high else "bad"
    share, *ticks = (part / room if room > 0 else 0 for part in (one.queue_max, low, high))
    return bar(share, kind, ticks=ticks)


def resources(summary: TrialSummary) -> Html:
    """Use of each role, and what the monitor itself used."""
    if not summary.resources:
        return EMPTY
    figures = RESOURCE_FIGURES.items()
    rows = [
        (role, *(value_cell(figure, getattr(use, name)) for name, figure in figures))
        for role, use in summary.resources.items()
    ]
    cost = (
        f"Monitoring used {writing.percent(summary.monitor.cpu_percent)} of one core "
        f"({writing.count(summary.monitor.samples)} samples)."
    )
    head = map(heading, (ROLE, *RESOURCE_FIGURES.values()))
    return joined(table(head, rows, class_="numbers"), note(cost))


def repeat(summary: Summary) -> Html:
    values = {"seed": str(summary.seed), "input_hash": summary.input_hash or writing.NOTHING}
    rows = [(heading(FIGURES[name]), element("code", value)) for name, value in values.items()]
    return section(
        "How to repeat this run",
        element("pre", element("code", summary.command), class_="command")
        if summary.command
        else note("The command was not recorded."),
        table((), rows, class_="facts"),
    )


def environment(summary: Summary) -> Html:
    """Versions, machine and parameters, folded away."""
    found: dict[str, Mapping[str, object]] = {
        "Versions": summary.versions,
        "Machine": summary.machine,
        "Parameters": summary.parameters,
    }
    parts = []
    for title, values in found.items():
        rows = [
            (name, element("code", setting_text(value, name))) for name, value in values.items()
        ]
        if rows:
            parts.append(folded(f"{title} ({len(rows)})", table((), rows, class_="facts")))
    return section("Environment", *parts) if parts else EMPTY


def phases(phases_s: Mapping[str, float]) -> Html:
    if not phases_s:
        return EMPTY
    longest = max(phases_s.values()) or 1.0
    rows = [
        (name, writing.duration(1000 * seconds), bar(seconds / longest))
        for name, seconds in phases_s.items()
    ]
    total = f"{writing.duration(1000 * sum(phases_s.values()))} in all"
    return section("Phases", table((), rows, class_="numbers phases"), note(total))
