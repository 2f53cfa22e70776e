"""What a broker took from the senders: configured and achieved rates, and the append times."""

from __future__ import annotations

from collections.abc import Sequence

from streamgauge import writing
from streamgauge.measure.figures import FIGURES
from streamgauge.measure.summary import Case, Series, StudySummary, TrialSummary
from streamgauge.report.cases import ONLY_CASE, RATE, case_label, mean_of, setting_text
from streamgauge.report.cells import heading, value_cell
from streamgauge.report.chart import Axis, Chart, ChartSeries, HorizontalAxis
from streamgauge.report.markup import EMPTY, Html, bar, element, joined, note, table
from streamgauge.report.run_charts import over_time

FEW_RECORDS = 100
SEVERAL = 2.0
"""So many records with one append time are a step; fewer are the resolution of the times."""
_COLOURS = 6
_RATE = "ingestion.achieved_per_s"
_OF_RATES = (_RATE, "ingestion.peak_per_s", "ingestion.mb_per_s", "ingestion.variation_percent")
_OF_STEPS = ("ingestion.records_per_step", "ingestion.step_ms")
Drawn = Sequence[tuple[Case, Series]]


def ingestion_figures(summary: TrialSummary) -> Html:
    """Of one trial; empty if it had a system."""
    if summary.ingestion is None:
        return EMPTY
    names = ("ingestion.configured_per_s", *_OF_RATES, *_OF_STEPS)
    rows = [
        (
            heading(FIGURES[name]),
            value_cell(FIGURES[name], getattr(summary.ingestion, name.partition(".")[2])),
        )
        for name in names
    ]
    return element("div", element("h3", "Ingestion"), table((), rows, class_="numbers"))


def ingestion_charts(series: Series) -> list[Chart]:
    """Of one trial; none if it had a system."""
    found = series.ingestion
    if not found.time_s:
        return []
    chart = Chart(
        id="ingestion",
        title="Appended by the broker",
        definition="Messages that the broker appended in every second, by its own times.",
        axes=[
            Axis(label="messages per second", unit="per_s"),
            Axis(label="MB per second", unit="mb", side="right"),
        ],
        series=[
            ChartSeries(label="messages", values=found.messages_per_s, colour=1),
            ChartSeries(label="MB", values=found.mb_per_s, colour=3, axis="right", dashed=True),
        ],
        **over_time(found.time_s, series.warm_up_s),
    )
    return [chart, *_append_charts("", "", series, FEW_RECORDS)]


def ingestion_table(summary: StudySummary) -> Html:
    """Configured against achieved, with a bar that is full if the rate was reached."""
    rows = []
    for case in summary.cases:
        configured = _configured(case, summary)
        achieved = mean_of(case, _RATE)
        share = achieved / configured if configured and achieved is not None else None
        rows.append(
            (
                case_label(_others(case)) or ONLY_CASE,
                writing.or_nothing(configured, writing.rate),
                *(value_cell(FIGURES[name], mean_of(case, name)) for name in _OF_RATES),
                joined(writing.percent(100 * share), bar(share)) if share is not None else "",
            )
        )
    head = ("", "configured", *(heading(FIGURES[name]) for name in _OF_RATES), "of the configured")
    return joined(table(head, rows, class_="numbers"), limits_note(summary))


def limits_note(summary: StudySummary) -> Html:
    """What was probed before the first trial."""
    names = {
        "loopback_mb_per_s": "loopback, socket to socket",
        "synced_write_mb_per_s": "disk, with synchronous writes",
    }
    found = [
        f"{text} {FIGURES['ingestion.mb_per_s'].write(float(summary.machine[name]))}"
        for name, text in names.items()
        if name in summary.machine
    ]
    return note(f"Limits of this machine, probed before: {'; '.join(found)}.") if found else EMPTY


def rate_charts(summary: StudySummary, drawn: Drawn) -> list[Chart]:
    """What the broker appended over time, a chart for each configured rate."""
    by_rate: dict[float | None, list[tuple[Case, Series]]] = {}
    for case, series in drawn:
        by_rate.setdefault(_configured(case, summary), []).append((case, series))
    return [
        Chart(
            id=f"ingestion-{number}",
            title="Appended per second"
            + (f", configured {setting_text(rate, RATE)}" if rate else ""),
            definition="Messages that the broker appended in every second, by its own times, in "
            "the first trial of each case.",
            axes=[Axis(label="messages per second", unit="per_s")],
            series=[
                ChartSeries(
                    label=case_label(_others(case)) or ONLY_CASE,
                    values=series.ingestion.messages_per_s,
                    colour=1 + place % _COLOURS,
                    dashed=place >= _COLOURS,
                )
                for place, (case, series) in enumerate(found)
            ],
            wide=True,
            **over_time(
                max((series.ingestion.time_s for _, series in found), key=len, default=[]),
                max((series.warm_up_s for _, series in found), default=0.0),
            ),
        )
        for number, (rate, found) in enumerate(by_rate.items(), 1)
    ]


def append_charts(drawn: Drawn) -> list[Chart]:
    """The append times of consecutive messages, of each case."""
    return [
        chart
        for number, (case, series) in enumerate(drawn, 1)
        for chart in _append_charts(f"-{number}", case_label(case.varied), series, FEW_RECORDS, 0)
    ]


def _append_charts(end: str, label: str, series: Series, *counts: int) -> list[Chart]:
    found = []
    for count in counts:
        times = series.append_times_ms[: count or None]
        title = f"Append times of {writing.count(len(times))} messages"
        chart = Chart(
            id=f"append-times-{count}{end}",
            title=f"{title}: {label}" if label else title,
            definition="The append time of consecutive messages after the warm-up, less that of "
            "the first: a flat piece is messages with the same time.",
            x=HorizontalAxis(
                label="message", unit="events", values=[float(n) for n in range(1, len(times) + 1)]
            ),
            axes=[Axis(label="time since the first", unit="ms")],
            series=[ChartSeries(label="append time", values=times, colour=1)],
        )
        found.append(chart)
    return found


def append_table(summary: StudySummary) -> Html:
    """Records per step of each case, and whether that is a line or steps."""
    rows = []
    for case in summary.cases:
        records = mean_of(case, _OF_STEPS[0])
        due = _configured(case, summary) or 0.0
        rows.append(
            (
                case_label(case.varied) or ONLY_CASE,
                *(value_cell(FIGURES[name], mean_of(case, name)) for name in _OF_STEPS),
                writing.number(due / 1_000),
                "" if records is None else "steps" if records >= SEVERAL else "linear",
            )
        )
    head = ("", *(heading(FIGURES[name]) for name in _OF_STEPS), "due in 1 ms", "form")
    resolution = (
        "The times are whole milliseconds: records that are due in the same millisecond share "
        "their time even if each is appended alone. More of them than are due are a batch."
    )
    return joined(table(head, rows, class_="numbers"), note(resolution))


def _configured(case: Case, summary: StudySummary) -> float | None:
    rate = case.varied.get(RATE, summary.parameters.get(RATE))
    return float(rate) if isinstance(rate, int | float) else None


def _others(case: Case) -> dict[str, object]:
    return {key: value for key, value in case.varied.items() if key != RATE}
