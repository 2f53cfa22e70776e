"""Published figures beside ours."""

from __future__ import annotations

from streamgauge.measure.summary import Published
from streamgauge.report import units
from streamgauge.report.case_words import CHANGE, OF_A_STUDY, case_label, figure_named
from streamgauge.report.markup import Html, element, folded, joined, left, prose, table

NOT_COMPARABLE = (
    "Published figures were measured on other hardware, with other versions: they stand beside "
    "ours to show the order of magnitude, and the ratio is no comparison of systems."
)
_REDUCED = "-90"
"""Ends the name of a published system at 90 % of its maximum."""
_FEW_ROWS = 12


def system_and_setting(one: Published) -> tuple[str, str]:
    """`spark-90, 2 nodes` → `Spark 90 %`, `2 nodes`."""
    system, comma, setting = one.label.rpartition(", ")
    if not comma:
        system, setting = setting, ""
    name = name_of_system(system.removesuffix(_REDUCED))
    return (f"{name} 90 %" if system.endswith(_REDUCED) else name, setting)


def name_of_system(name: str) -> str:
    """As at the start of a line."""
    return name[:1].upper() + name[1:]


def ratio_text(one: Published) -> str:
    """Ours by theirs; two changes have a sign each, and no ratio that says anything."""
    if one.ours is None or not one.value or one.figure == CHANGE:
        return units.NOTHING
    return f"{one.ours / one.value:.3g} ×"


def published_table(figures: list[Published]) -> Html:
    """Every published figure beside ours, and why that is no comparison."""
    if not figures:
        return Html("")
    head = ["", left("figure"), "published", "ours", "ours / published"]
    rows = [_published_cells(one) for one in figures]
    for name, words in (
        ("our case", [_our_case(one) for one in figures]),
        ("remark", [one.note for one in figures]),
    ):
        if any(words):
            head.append(left(name))
            rows = [[*row, prose(word)] for row, word in zip(rows, words, strict=True)]
    content = table(head, rows, class_="numbers")
    if len(rows) > _FEW_ROWS:
        content = folded(f"every figure ({len(rows)})", content)
    title = element("h3", "Published, and ours", style="margin-top:16px")
    return joined((title, content, element("p", NOT_COMPARABLE, class_="note")))


def _our_case(one: Published) -> str:
    return "" if one.figure in OF_A_STUDY else case_label(one.varied)


def _published_cells(one: Published) -> list[str]:
    figure = figure_named(one.figure)
    return [
        ", ".join(filter(None, system_and_setting(one))),
        left(figure.label),
        figure.write(one.value),
        units.NOTHING if one.ours is None else figure.write(one.ours),
        ratio_text(one),
    ]
