"""A study that sets systems side by side: visibility latency over time, components, operations."""

from __future__ import annotations

from collections.abc import Sequence

from streamgauge import writing
from streamgauge.measure.figures import FIGURES, TIMES, figures_below
from streamgauge.measure.paradigms import OperationParadigms
from streamgauge.measure.summary import Case, Published, Series, StudySummary, TrialSummary
from streamgauge.report.cases import (
    ONLY_CASE,
    RATE,
    all_sustained,
    case_label,
    mean_of,
    setting_text,
    verdict_counts,
)
from streamgauge.report.cells import answer_cell, heading, value_cell
from streamgauge.report.chart import Axis, Chart, ChartSeries, over_decades
from streamgauge.report.markup import Html, bar, element, joined, left, note, table
from streamgauge.report.paradigms import operation_stream_bands
from streamgauge.report.published import system_and_setting
from streamgauge.report.run_charts import over_time

SYSTEM = "system.name"
_SHOWN = (
    "offered_per_s",
    "visibility.p50",
    "visibility.p99",
    "paradigms.operation_stream_percent",
    "paradigms.switch_count",
    "paradigms.longest_gap_ms",
)
COMPONENTS = figures_below("components")
Drawn = Sequence[tuple[Case, Series]]


def system_charts(drawn: Drawn) -> list[Chart]:
    """A chart for each setting other than the system, with the lines of all systems."""
    panels: dict[str, list[tuple[Case, Series]]] = {}
    for case, series in drawn:
        panels.setdefault(case_label(_others(case)), []).append((case, series))
    return [_panel(number, *panel) for number, panel in enumerate(panels.items(), 1)]


def _panel(number: int, label: str, found: Drawn) -> Chart:
    times = sorted({at for _, series in found for at in series.visibility.time_s})
    lines = []
    for colour, (case, series) in enumerate(found, 1):
        for name in ("p50", "p99"):
            by_time = dict(
                zip(series.visibility.time_s, getattr(series.visibility, name), strict=True)
            )
            lines.append(
                ChartSeries(
                    label=f"{_system(case)} {name}",
                    values=[by_time.get(at) for at in times],
                    colour=colour,
                    dashed=name == "p99",
                )
            )
    log = over_decades(value for line in lines for value in line.values)
    bands = [band for _, series in found for band in operation_stream_bands(series.paradigms)]
    return Chart(
        id=f"systems-{number}",
        title=", ".join(filter(None, ("Visibility latency", label))),
        definition=TIMES["visibility"].definition,
        axes=[Axis(label="latency (log scale)" if log else "latency", unit="ms", log=log)],
        series=lines,
        wide=True,
        empty="no trial has a visibility latency",
        **over_time(times, max(series.warm_up_s for _, series in found), bands),
    )


def systems_table(summary: StudySummary) -> Html:
    """A row for each case: latency, whether it kept up, and what was switched."""
    names = [name for name in _SHOWN if any(name in case.figures for case in summary.cases)]
    rows = []
    for case in summary.cases:
        trials = [summary.trials[place] for place in case.trials]
        rows.append(
            (
                case_label(case.varied) or ONLY_CASE,
                left(verdict_counts(trials)),
                left(answer_cell(all_sustained(trials))),
                *(value_cell(FIGURES[name], mean_of(case, name)) for name in names),
            )
        )
    head = (
        "case",
        left(heading(FIGURES["verdict"], "results")),
        left(heading(FIGURES["sustained"])),
        *(heading(FIGURES[name], FIGURES[name].full_label) for name in names),
    )
    return table(head, rows, class_="numbers")


def components_table(summary: StudySummary) -> Html:
    """For each rate the components as rows; ours by system, then the published systems."""
    rates: dict[str, list[tuple[int, Case]]] = {}
    for place, case in enumerate(summary.cases):
        rates.setdefault(_rate(case, summary), []).append((place, case))
    parts: list[Html] = []
    for rate, cases in rates.items():
        offered = mean_of(cases[0][1], "offered_per_s")
        if "%" in rate and offered is not None:
            rate = f"{rate} ({writing.rate(offered)})"
        published = _published_at(summary.published, {place for place, _ in cases})
        head = ("", *(f"{_system(case)}, ours" for _, case in cases), *published)
        rows = [
            (
                heading(figure),
                *(_component(summary, case, name) for _, case in cases),
                *(_published(found.get(f"components.{name}")) for found in published.values()),
            )
            for name, figure in COMPONENTS.items()
        ]
        parts += [
            element("h3", rate, style="margin-top:16px"),
            table(head, rows, class_="numbers"),
        ]
    how = (
        "The whole latency and the outside wait are measured from outside; process, wait and "
        "schedule are what the systems report of themselves; network is the rest."
    )
    return joined(*parts, note(how))


def _component(summary: StudySummary, case: Case, name: str) -> Html:
    trials = [summary.trials[place] for place in case.trials]
    growing = any(trial.components is not None and trial.components.growing for trial in trials)
    if growing and name in ("outside_wait_ms", "network_ms", "total_ms"):
        return element("span", "grows", class_="growing", title="a mean has no meaning")
    return value_cell(COMPONENTS[name], mean_of(case, f"components.{name}"), why_not="not reported")


def _published_at(
    figures: Sequence[Published], places: set[int]
) -> dict[str, dict[str, Published]]:
    """The published figures beside some of our cases, by system and name."""
    found: dict[str, dict[str, Published]] = {}
    for one in figures:
        if one.case in places:
            found.setdefault(system_and_setting(one)[0], {})[one.figure] = one
    return found


def _published(one: Published | None) -> Html:
    if one is None:
        return element("span", writing.NOTHING, class_="nothing", title="not published")
    if one.value is None or one.growing:
        return element("span", "grows" if one.growing else one.note, class_="note")
    return value_cell(FIGURES[one.figure], one.value)


def operations_table(summary: StudySummary) -> Html:
    """The operations as rows; for each case their latency and how long they were held."""
    found = [
        (case, trial.paradigms.operations)
        for case in summary.cases
        if (trial := _first_with_paradigms(summary, case)) is not None and trial.paradigms
    ]
    if not found:
        return note("No trial has reports of the dual-paradigm runtime.")
    names = list(dict.fromkeys(one.operation for _, operations in found for one in operations))
    longest = max(one.latency_ms or 0.0 for _, operations in found for one in operations) or 1.0
    rows = [
        (
            name,
            *(
                _operation(next((o for o in operations if o.operation == name), None), longest)
                for _, operations in found
            ),
        )
        for name in names
    ]
    head = ("operation", *(case_label(case.varied) or ONLY_CASE for case, _ in found))
    how = (
        "Mean latency of each operation (the queue in front of it by the rate that arrives, as the "
        "runtime reports both), and the share of the load that it was an operation stream. "
        "Operations of one segment share its latency. First trial of each case."
    )
    return joined(table(head, rows, class_="numbers"), note(how))


def _operation(one: OperationParadigms | None, longest: float) -> Html:
    if one is None or one.latency_ms is None:
        return element("span", writing.NOTHING, class_="nothing", title="not reported")
    share = f"operation stream {writing.percent(one.operation_stream_percent)}"
    kind = "open" if one.operation_stream_percent >= 50 else ""
    return joined(
        writing.duration(one.latency_ms),
        bar(one.latency_ms / longest, kind),
        element("span", share, class_="note", style="display:block;margin:0"),
    )


def _first_with_paradigms(summary: StudySummary, case: Case) -> TrialSummary | None:
    trials = (summary.trials[place] for place in case.trials)
    return next((trial for trial in trials if trial.paradigms is not None), None)


def _others(case: Case) -> dict[str, object]:
    return {key: value for key, value in case.varied.items() if key != SYSTEM}


def _system(case: Case) -> str:
    return setting_text(case.varied.get(SYSTEM, "latency"))


def _rate(case: Case, summary: StudySummary) -> str:
    return setting_text(case.varied.get(RATE, summary.parameters.get(RATE)), RATE)
