"""The end of the page: driver instances, resources, how to repeat the run, its environment."""

from __future__ import annotations

import json
from collections.abc import Mapping

from streamgauge import writing
from streamgauge.measure.figures import FIGURES, INSTANCE, ROLE, figures_below
from streamgauge.measure.summary import InstanceSummary, Summary, TrialSummary
from streamgauge.report.cells import heading, value_cell
from streamgauge.report.markup import Html, element, joined, table

_INSTANCE_FIGURES = figures_below(f"driver.{INSTANCE}")
RESOURCE_FIGURES = figures_below("resources.system")
"""The figures of a role by the names of their fields; all roles have the same."""


def instances(driver: list[InstanceSummary]) -> Html:
    """What each driver instance did, its longest queue against the marks."""
    if not driver:
        return Html("")
    rows = [
        (
            str(one.instance),
            one.stream,
            _instance_cell(one, "offered"),
            _instance_cell(one, "drained"),
            joined((_instance_cell(one, "queue_max"), _queue_bar(one))),
            " · ".join(writing.count(mark) for mark in one.queue_limits),
            _instance_cell(one, "lag_p99_ms"),
        )
        for one in driver
    ]
    return element(
        "section",
        element("h2", "Driver instances"),
        table(map(heading, _INSTANCE_FIGURES.values()), rows, class_="numbers instances"),
    )


def _instance_cell(one: InstanceSummary, name: str) -> Html:
    return value_cell(_INSTANCE_FIGURES[name], getattr(one, name))


def _queue_bar(one: InstanceSummary) -> Html:
    low, high, room = one.queue_limits
    kind = "good" if one.queue_max <= low else "open" if one.queue_max <= high else "bad"
    ticks = [
        element("i", class_="tick", style=f"left:{_percent_of(mark, room)}") for mark in (low, high)
    ]
    return element(
        "span",
        element("i", class_=f"fill {kind}", style=f"width:{_percent_of(one.queue_max, room)}"),
        *ticks,
        class_="bar",
        aria_hidden="true",
    )


def _percent_of(part: float, whole: float) -> str:
    return f"{100 * min(1.0, part / whole) if whole > 0 else 0:.2f}%"


def resources(summary: TrialSummary) -> Html:
    """Use of each role, and what the monitor itself used."""
    if not summary.resources:
        return Html("")
    rows = [
        (
            role,
            *(value_cell(figure, getattr(use, name)) for name, figure in RESOURCE_FIGURES.items()),
        )
        for role, use in summary.resources.items()
    ]
    cost = (
        f"Watching cost {writing.percent(summary.monitor.cpu_percent)} of one core "
        f"({writing.count(summary.monitor.samples)} samples)."
    )
    return joined(
        (
            table(map(heading, (ROLE, *RESOURCE_FIGURES.values())), rows, class_="numbers"),
            element("p", cost, class_="note"),
        )
    )


def repeat(summary: Summary) -> Html:
    """The exact command, the seed and the hash of the input."""
    facts = (
        (heading(FIGURES["seed"]), element("code", str(summary.seed))),
        (heading(FIGURES["input_hash"]), element("code", summary.input_hash or writing.NOTHING)),
    )
    return element(
        "section",
        element("h2", "How to repeat this run"),
        element("pre", element("code", summary.command), class_="command")
        if summary.command
        else element("p", "The command was not recorded.", class_="note"),
        table((), facts, class_="facts"),
    )


def surroundings(summary: Summary) -> Html:
    """Versions, machine and parameters, folded away."""
    parts = (
        _folded("Versions", summary.versions),
        _folded("Machine", {name: _human(value) for name, value in summary.machine.items()}),
        _folded("Parameters", {name: _exact(value) for name, value in summary.parameters.items()}),
    )
    return element("section", element("h2", "Surroundings"), *parts) if any(parts) else Html("")


def _folded(title: str, facts: Mapping[str, str]) -> Html:
    if not facts:
        return Html("")
    rows = [(name, element("code", value)) for name, value in facts.items()]
    return element(
        "details",
        element("summary", f"{title} ({len(rows)})"),
        table((), rows, class_="facts"),
    )


def phases(phases_s: Mapping[str, float]) -> Html:
    """How long each phase of the run took."""
    if not phases_s:
        return Html("")
    longest = max(phases_s.values())
    rows = [
        (
            name,
            writing.duration(1000 * seconds),
            element(
                "span",
                element("i", class_="fill", style=f"width:{_percent_of(seconds, longest)}"),
                class_="bar",
                aria_hidden="true",
            ),
        )
        for name, seconds in phases_s.items()
    ]
    total = element("p", f"{writing.duration(1000 * sum(phases_s.values()))} in all", class_="note")
    return element(
        "section", element("h2", "Phases"), table((), rows, class_="numbers phases"), total
    )


def _exact(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)


def _human(value: str | int | float) -> str:
    return value if isinstance(value, str) else writing.number(value)
