"""How figures are shown on a page: headings with their definitions, and values in their units."""

from __future__ import annotations

import re

from streamgauge import writing
from streamgauge.measure.figures import FIGURES, SHORT_NAMES, Figure, Term
from streamgauge.measure.summary import ThresholdResult
from streamgauge.report.markup import Html, element


def heading(term: Term) -> Html:
    """The label of a figure, its definition as a tooltip."""
    return _term(term.label, term)


def full_heading(figure: Figure) -> Html:
    """A heading that is clear outside of its group: `event time p99`."""
    return _term(figure.full_label, figure)


def _term(label: str, term: Term) -> Html:
    return element("span", label, class_="term", title=term.definition)


def value_cell(figure: Figure, value: float | None, *, why_not: str = "not measured") -> Html:
    """The value in its unit, or a dash with the reason why there is none."""
    if value is None:
        return element("span", writing.NOTHING, class_="nothing", title=why_not)
    return element("span", figure.write(value), class_="value")


def answer_cell(value: bool | None) -> Html:
    """`✓ yes`, `✗ no` or `? unknown`."""
    answer = writing.answer(value)
    return element("span", str(answer), class_=answer.kind)


def threshold_value(result: ThresholdResult) -> str:
    """The value that was compared with the limit, in the unit of its figure."""
    if result.value is None:
        return "not measured"
    match = re.match(r"[\w.]*", result.expression.strip())
    name = match.group() if match else ""
    figure = FIGURES.get(SHORT_NAMES.get(name, name))
    return figure.write(result.value) if figure else writing.number(result.value)
