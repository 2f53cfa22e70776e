"""Published figures beside ours."""

from __future__ import annotations

from streamgauge import writing
from streamgauge.measure.figures import figure_named
from streamgauge.measure.summary import Published
from streamgauge.measure.unit import Unit
from streamgauge.report.cases import case_label
from streamgauge.report.markup import Html, element, folded, joined, left, prose, table

NOT_COMPARABLE = (
    "Published figures were measured on other hardware, with other versions: they stand beside "
    "ours to show the order of magnitude, and the ratio is no comparison of systems."
)
_FEW_ROWS = 12


def system_and_setting(one: Published) -> tuple[str, str]:
    """`spark, 2 nodes` → `Spark`, `2 nodes`."""
    system, comma, setting = one.label.rpartition(", ")
    if not comma:
        system, setting = setting, ""
    return capitalised(system), setting


def capitalised(name: str) -> str:
    """With a capital letter, as at the start of a line."""
    return name[:1].upper() + name[1:]


def label_and_unit(one: Published) -> tuple[str, Unit]:
    """Of our own figure, or of the figure that the publication derives."""
    if one.derived is not None:
        return one.derived.label, one.derived.unit
    figure = figure_named(one.figure)
    return figure.full_label, figure.unit


def ratio_text(one: Published) -> str:
    """Ours by theirs; changes have a sign each, so their ratio has no meaning."""
    if one.ours is None or not one.value or label_and_unit(one)[1] is Unit.PERCENT:
        return writing.NOTHING
    return f"{one.ours / one.value:.3g} ×"


def published_table(figures: list[Published]) -> Html:
    """Every published figure side by side with ours, and why that is no comparison."""
    if not figures:
        return Html("")
    head = ["", left("figure"), "published", "ours", "ours / published"]
    rows = [_published_cells(one) for one in figures]
    for name, texts in (
        ("our case", [_our_case(one) for one in figures]),
        ("remark", [one.note for one in figures]),
    ):
        if any(texts):
            head.append(left(name))
            rows = [[*row, prose(text)] for row, text in zip(rows, texts, strict=True)]
    content = table(head, rows, class_="numbers")
    if len(rows) > _FEW_ROWS:
        content = folded(f"every figure ({len(rows)})", content)
    title = element("h3", "Published, and ours", style="margin-top:16px")
    return joined((title, content, element("p", NOT_COMPARABLE, class_="note")))


def _our_case(one: Published) -> str:
    return "" if one.derived else case_label(one.varied)


def _published_cells(one: Published) -> list[str]:
    label, unit = label_and_unit(one)
    return [
        ", ".join(filter(None, system_and_setting(one))),
        left(label),
        unit.write(one.value),
        writing.NOTHING if one.ours is None else unit.write(one.ours),
        ratio_text(one),
    ]
