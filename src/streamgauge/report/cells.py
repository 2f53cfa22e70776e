"""How figures are shown on a page: headings with their definitions, and values in their units."""

from __future__ import annotations

import re
from collections.abc import Iterable

from streamgauge import writing
from streamgauge.measure.figures import NOT_MEASURED, SHORT_NAMES, Figure, Term, figure_named
from streamgauge.measure.summary import ThresholdResult, Verdict
from streamgauge.report.markup import EMPTY, Html, element, section


def heading(term: Term, label: str = "") -> Html:
    """The label of a figure, its definition as a tooltip."""
    return element("span", label or term.label, class_="term", title=term.definition)


def value_cell(figure: Figure, value: float | None, *, why_not: str = NOT_MEASURED) -> Html:
    """The value in its unit, or a dash with the reason why there is none."""
    if value is None:
        return element("span", writing.NOTHING, class_="nothing", title=why_not)
    return element("span", figure.write(value), class_="value")


def verdict_kind(verdict: Verdict) -> str:
    """The colour of a verdict."""
    return {Verdict.VALID: "good", Verdict.INVALID: "bad", Verdict.VOID: "void"}.get(
        verdict, "open"
    )


def answer_cell(value: bool | None) -> Html:
    """`✓ yes`, `✗ no` or `? unknown`."""
    answer = writing.answer(value)
    return element("span", str(answer), class_=answer.kind)


def check_list(title: str, class_: str, checks: Iterable[tuple[bool, str, str]]) -> Html:
    """A section of checks: passed, expression, and the value or reason; empty without checks."""
    items = [
        element(
            "li",
            element("span", "✓" if passed else "✗", class_="mark"),
            element("code", expression),
            element("span", value, class_="value"),
            class_="good" if passed else "bad",
            title="passed" if passed else "failed",
        )
        for passed, expression, value in checks
    ]
    return section(title, element("ul", *items, class_=class_)) if items else EMPTY


def threshold_value(result: ThresholdResult) -> str:
    """The value that was compared with the limit, in the unit of its figure."""
    if result.value is None:
        return result.reason or NOT_MEASURED
    name = re.split(r"[^\w.]", result.expression.strip())[0]
    return figure_named(SHORT_NAMES.get(name, name)).write(result.value)
