"""The page of a comparison: one HTML file that needs neither network nor server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import groupby
from pathlib import Path

from streamgauge import writing
from streamgauge.compare import change_text
from streamgauge.compare.charts import comparison_charts
from streamgauge.compare.comparison import CaseComparison, Change, Comparison, Finding, Pair, Side
from streamgauge.compare.fail_if import CheckResult
from streamgauge.measure.figures import FIGURES
from streamgauge.measure.summary import MAXIMUM, Series
from streamgauge.report.cases import case_label
from streamgauge.report.cells import check_list, heading
from streamgauge.report.html import chart_section, page, write_page
from streamgauge.report.markup import (
    EMPTY,
    Html,
    bullets,
    cards,
    element,
    folded,
    joined,
    note,
    section,
    table,
    table_of,
    table_row,
)

_HEADLINES = (MAXIMUM, "drained_per_s", "event_time.p50", "event_time.p99")
_CLASSES = {Finding.BETTER: "good", Finding.WORSE: "bad", Finding.GROWING: "open"}
_COLUMNS = ("", "base", "other", "change", "", "", "noise margin", "")
_MOST_UNFOLDED = 3
"""Of more cases only the headlines are open."""
_LEAST_PERCENT = 10.0
_MOST_PERCENT = 100.0
"""A larger change fills its bar."""
_HOW = (
    "A change is significant when it is larger than the noise margin: half the 95 % interval of "
    "the difference of two means (Welch's test over the repetitions), or the precision of a "
    "search. With one run on a side the margin is unknown. Of twenty figures that did not change, "
    "one will look significant by chance."
)


def write_comparison(
    comparison: Comparison, series: Mapping[str, Series], checks: Sequence[CheckResult], path: Path
) -> Path:
    return write_page(render_comparison(comparison, series, checks), path)


def render_comparison(
    comparison: Comparison,
    series: Mapping[str, Series] | None = None,
    checks: Sequence[CheckResult] = (),
) -> str:
    """The page of a comparison, as the text of an HTML file."""
    charts = comparison_charts(comparison, series or {})
    base, pairs = comparison.base, comparison.pairs
    many = len(pairs) > 1
    title = f"{base.label} against {', '.join(pair.other.label for pair in pairs)}"
    names = dict.fromkeys((base.title, *(pair.other.title for pair in pairs)))
    body = (
        element(
            "header",
            element("p", "streamgauge · comparison", class_="mark-of-origin"),
            element("h1", " against ".join(names)),
            element("p", title, class_="about"),
        ),
        *(_alarms(pair, many) for pair in pairs),
        check_list(
            "Fail if",
            "checks",
            [(one.passed, one.expression, one.text(with_run=many)) for one in checks],
        ),
        _sides(comparison),
        EMPTY if many else _differences(pairs[0]),
        chart_section("Charts", charts) if charts else EMPTY,
        *(_pair(pair, many) for pair in pairs),
        section("How to read this", element("p", change_text.LEGEND), note(_HOW)),
    )
    styles = files("streamgauge.compare").joinpath("page.css").read_text(encoding="utf-8")
    return page(f"comparison · {title}", body, charts, styles)


def _alarms(pair: Pair, many: bool) -> Html:
    where = f"{pair.other.label}: " if many else ""
    return bullets([f"⚠ {where}{alarm}" for alarm in pair.alarms], "alarm", role="alert")


def _sides(comparison: Comparison) -> Html:
    sides = [("base", comparison.base), *(("other", pair.other) for pair in comparison.pairs)]
    rows = [(role, side.label, change_text.shape(side), *_ending(side)) for role, side in sides]
    head = ("", "run", "measured", "outcome", "results", "sustained", "started")
    return section("What is compared", table(head, rows, class_="sides"))


def _ending(side: Side) -> list[str]:
    """Outcome, verdict, sustained and the start of a run; dashes for a publication."""
    if side.outcome is None or side.verdict is None:
        return [writing.NOTHING] * 4
    day, _, time = side.started_at.partition("T")
    started = f"{day} {time[:5]}{' · quick run' if side.quick else ''}".strip()
    return [
        element("strong", str(side.outcome), class_=side.outcome.kind),
        f"{side.verdict.mark} {side.verdict.value}",
        str(writing.answer(side.sustained)),
        started or writing.NOTHING,
    ]


def _pair(pair: Pair, many: bool) -> Html:
    title = element("h2", f"Against {pair.other.label}", class_="against")
    only = [
        f"only in {side}: {case_label(varied) or 'a case without varied parameters'}"
        for side, cases in (("the base", pair.only_base), (pair.other.label, pair.only_other))
        for varied in cases
    ]
    return joined(
        *((title, _differences(pair)) if many else ()),
        *(_case(case, pair) for case in pair.cases),
        _listed("Cases on one side only", only, "warned"),
    )


def _differences(pair: Pair) -> Html:
    return joined(
        _listed("Differences that may explain a change", pair.warnings, "warned"),
        _listed("Settings of the system that differ", pair.settings, "settings"),
    )


def _listed(title: str, texts: Sequence[str], kind: str) -> Html:
    return section(title, bullets(texts, kind)) if texts else EMPTY


def _case(case: CaseComparison, pair: Pair) -> Html:
    unknown = [source for source in change_text.noise_sources(pair) if "unknown" in source]
    changes = _changes(case.changes)
    return section(
        case_label(case.varied) or "Figures",
        *(element("p", source, class_="noise") for source in unknown),
        _headlines(case),
        folded("all figures", changes) if len(pair.cases) > _MOST_UNFOLDED else changes,
    )


def _headlines(case: CaseComparison) -> Html:
    found = [
        change for name in _HEADLINES if (change := case.change(name)) and change.delta is not None
    ]
    if len(found) < 2:
        return EMPTY
    entries = []
    for change in found:
        values = f"{change_text.value(change, 'base')} → {change_text.value(change, 'other')} · "
        name = heading(FIGURES[change.figure])
        entries.append((name, change_text.percent(change), joined(values, _finding(change))))
    return cards(entries, "headline compared")


def _changes(changes: Sequence[Change]) -> Html:
    # All bars of a table have the same scale.
    sizes = [abs(one.percent) for one in changes if one.percent is not None]
    full_percent = min(_MOST_PERCENT, max([_LEAST_PERCENT, *sizes]))
    body = []
    for group, members in groupby(changes, key=lambda one: FIGURES[one.figure].group):
        body.append(element("tr", element("th", group, colspan=str(len(_COLUMNS))), class_="group"))
        body += [_row(change, full_percent) for change in members]
    return table_of(_COLUMNS, body, "changes")


def _row(change: Change, full_percent: float) -> Html:
    quiet = change.finding in (Finding.EQUAL, Finding.NOT_MEASURED)
    cells = (
        _value(change, "base"),
        _value(change, "other"),
        change_text.delta(change),
        change_text.percent(change),
        _bar(change, full_percent),
        element("span", change_text.margin(change), title=change.noise or None),
        _finding(change),
    )
    row = (heading(FIGURES[change.figure]), *cells)
    kind = "quiet" if quiet else None
    return table_row(_COLUMNS, row, class_=kind, data_figure=change.figure)


def _value(change: Change, side: change_text.SideName) -> Html:
    interval = change_text.interval(change, side)
    return element("span", change_text.value(change, side), title=interval)


def _finding(change: Change) -> Html:
    return element("span", change_text.finding(change), class_=_CLASSES.get(change.finding))


def _bar(change: Change, full_percent: float) -> Html:
    """The change against its noise margin, left or right of the middle."""
    if change.percent is None or change.finding is Finding.EQUAL:
        return EMPTY

    def part(kind: str, start: float, end: float) -> Html:
        left, right = (50 + 50 * max(-1, min(1, at / full_percent)) for at in (start, end))
        return element("i", class_=kind, style=f"left:{left:.2f}%;width:{right - left:.2f}%")

    margin = change_text.margin_percent(change)
    kind = {Finding.BETTER: "size good", Finding.WORSE: "size bad"}.get(change.finding, "size")
    return element(
        "span",
        part("doubt", -margin, margin) if margin is not None else "",
        part(kind, min(0, change.percent), max(0, change.percent)),
        element("i", class_="middle"),
        class_="swing",
        aria_hidden="true",
    )
