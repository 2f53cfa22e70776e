"""The page of a comparison: one HTML file that needs neither network nor server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import groupby
from pathlib import Path

from streamgauge import writing
from streamgauge.compare import change_text
from streamgauge.compare.change_bar import change_bar, full_percent
from streamgauge.compare.charts import comparison_charts
from streamgauge.compare.comparison import (
    CaseComparison,
    Change,
    Comparison,
    Finding,
    Pair,
    Side,
)
from streamgauge.compare.fail_if import CheckResult
from streamgauge.measure.figures import FIGURES
from streamgauge.measure.summary import MAXIMUM, Series
from streamgauge.report.cases import case_label
from streamgauge.report.cells import heading
from streamgauge.report.html import chart_section, page, write_page
from streamgauge.report.markup import Html, element, joined, table

_HEADLINES = (MAXIMUM, "drained_per_s", "event_time.p50", "event_time.p99")
_CLASSES = {Finding.BETTER: "good", Finding.WORSE: "bad", Finding.GROWING: "open"}
_COLUMNS = ("", "base", "other", "change", "", "", "noise margin", "")
_MOST_UNFOLDED = 3
"""Of more cases only the headlines are open."""
_HOW = (
    "A change is significant when it is larger than the noise margin: half the 95 % interval of "
    "the difference of two means (Welch's test over the repetitions), or the precision of a "
    "search. With one run on a side the margin is unknown. Of twenty figures that did not change, "
    "one will look significant by chance."
)


def write_comparison(
    comparison: Comparison,
    series: Mapping[str, Series],
    checks: Sequence[CheckResult],
    path: Path,
) -> Path:
    """Write the page of a comparison to `path`."""
    return write_page(render_comparison(comparison, series, checks), path)


def render_comparison(
    comparison: Comparison,
    series: Mapping[str, Series] | None = None,
    checks: Sequence[CheckResult] = (),
) -> str:
    """The page of a comparison, as the text of an HTML file."""
    charts = comparison_charts(comparison, series or {})
    many = len(comparison.pairs) > 1
    own_styles = files("streamgauge.compare").joinpath("page.css").read_text(encoding="utf-8")
    body = (
        _heading(comparison),
        *(_alarms(pair, many) for pair in comparison.pairs),
        _checks(checks, many),
        _sides(comparison),
        Html("") if many else _differences(comparison.pairs[0]),
        chart_section("Charts", charts) if charts else Html(""),
        *(_pair(pair, many) for pair in comparison.pairs),
        element(
            "section",
            element("h2", "How to read this"),
            element("p", change_text.LEGEND),
            element("p", _HOW, class_="note"),
        ),
    )
    return page(f"comparison · {_title(comparison)}", body, charts, own_styles)


def _title(comparison: Comparison) -> str:
    return f"{comparison.base.label} against {', '.join(p.other.label for p in comparison.pairs)}"


def _heading(comparison: Comparison) -> Html:
    titles = dict.fromkeys((comparison.base.title, *(p.other.title for p in comparison.pairs)))
    return element(
        "header",
        element("p", "streamgauge · comparison", class_="mark-of-origin"),
        element("h1", " against ".join(titles)),
        element("p", _title(comparison), class_="about"),
    )


def _alarms(pair: Pair, many: bool) -> Html:
    if not pair.alarms:
        return Html("")
    where = f"{pair.other.label}: " if many else ""
    items = [element("li", f"⚠ {where}{alarm}") for alarm in pair.alarms]
    return element("ul", *items, class_="alarm", role="alert")


def _checks(checks: Sequence[CheckResult], many: bool) -> Html:
    if not checks:
        return Html("")
    items = [
        element(
            "li",
            element("span", "✓" if one.passed else "✗", class_="mark"),
            element("code", one.expression),
            element("span", one.text(with_run=many), class_="value"),
            class_="good" if one.passed else "bad",
        )
        for one in checks
    ]
    return element("section", element("h2", "Fail if"), element("ul", *items, class_="checks"))


def _sides(comparison: Comparison) -> Html:
    sides = [("base", comparison.base), *(("other", pair.other) for pair in comparison.pairs)]
    rows = [
        (
            role,
            side.label,
            change_text.shape(side),
            _verdict(side.verdict.mark, side.verdict.value) if side.verdict else writing.NOTHING,
            str(writing.answer(side.sustained)) if side.verdict else writing.NOTHING,
            _moment(side),
        )
        for role, side in sides
    ]
    head = ("", "run", "measured", "verdict", "sustained", "started")
    return element("section", element("h2", "What is compared"), table(head, rows, class_="sides"))


def _moment(side: Side) -> str:
    day, _, time = side.started_at.partition("T")
    return f"{day} {time[:5]}{' · quick run' if side.quick else ''}".strip() or writing.NOTHING


def _verdict(mark: str, word: str) -> Html:
    kind = {"valid": "good", "invalid": "bad"}.get(word, "open")
    return element("span", f"{mark} {word}", class_=kind)


def _pair(pair: Pair, many: bool) -> Html:
    heading = element("h2", f"Against {pair.other.label}", class_="against")
    return joined(
        (
            *((heading, _differences(pair)) if many else ()),
            *(_case(case, pair) for case in pair.cases),
            _alone(pair),
        )
    )


def _differences(pair: Pair) -> Html:
    return joined(
        (
            _listed("Differences that may explain a change", pair.warnings, "warned"),
            _listed("Settings of the system that differ", pair.settings, "settings"),
        )
    )


def _listed(title: str, texts: Sequence[str], kind: str) -> Html:
    if not texts:
        return Html("")
    items = (element("li", text) for text in texts)
    return element("section", element("h2", title), element("ul", *items, class_=kind))


def _case(case: CaseComparison, pair: Pair) -> Html:
    unknown = [source for source in change_text.noise_sources(pair) if "unknown" in source]
    return element(
        "section",
        element("h2", case_label(case.varied) or "Figures"),
        joined(element("p", source, class_="noise") for source in unknown),
        _headlines(case),
        element("details", element("summary", "all figures"), _changes(case.changes))
        if len(pair.cases) > _MOST_UNFOLDED
        else _changes(case.changes),
    )


def _headlines(case: CaseComparison) -> Html:
    found = [
        change for name in _HEADLINES if (change := case.change(name)) and change.delta is not None
    ]
    if len(found) < 2:
        return Html("")
    cards = [
        element(
            "div",
            element("dt", _label(change)),
            element("dd", change_text.percent(change)),
            element(
                "dd",
                f"{change_text.value(change, 'base')} → {change_text.value(change, 'other')} · ",
                _finding(change),
                class_="note",
            ),
        )
        for change in found
    ]
    return element("dl", *cards, class_="headline compared")


def _changes(changes: Sequence[Change]) -> Html:
    body, full = [], full_percent(changes)
    for group, members in groupby(changes, key=lambda one: FIGURES[one.figure].group):
        body.append(element("tr", element("th", group, colspan=str(len(_COLUMNS))), class_="group"))
        body += [_row(change, full) for change in members]
    head = element("tr", *(element("th", cell, scope="col") for cell in _COLUMNS))
    rows = element("table", element("thead", head), element("tbody", *body), class_="changes")
    return element("div", rows, class_="scroll")


def _row(change: Change, full: float) -> Html:
    quiet = change.finding in (Finding.EQUAL, Finding.NOT_MEASURED)
    cells = (
        _value(change, "base"),
        _value(change, "other"),
        change_text.delta(change),
        change_text.percent(change),
        change_bar(change, full),
        element("span", change_text.margin(change), title=change.noise or None),
        _finding(change),
    )
    return element(
        "tr",
        element("th", _label(change), scope="row"),
        *(element("td", cell) for cell in cells),
        class_="quiet" if quiet else None,
        data_figure=change.figure,
    )


def _label(change: Change) -> Html:
    return heading(FIGURES[change.figure])


def _value(change: Change, side: change_text.SideName) -> Html:
    return element(
        "span", change_text.value(change, side), title=change_text.interval(change, side)
    )


def _finding(change: Change) -> Html:
    return element("span", change_text.finding(change), class_=_CLASSES.get(change.finding))


def _alone(pair: Pair) -> Html:
    texts = [
        f"only in {side}: {case_label(varied) or 'a case without varied parameters'}"
        for side, cases in (("the base", pair.only_base), (pair.other.label, pair.only_other))
        for varied in cases
    ]
    return _listed("Cases on one side only", texts, "warned")
