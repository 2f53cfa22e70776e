"""Published figures side by side with those of our own study.

The data of a publication name the case of ours beside each of its figures, and the two cases
between which a ratio or a change is calculated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streamgauge.compare.matching import comparable
from streamgauge.compare.published import DerivedRule, PublishedFigure, figures_of
from streamgauge.measure.summary import MAXIMUM, Case, DerivedFigure, Published
from streamgauge.report.cases import RATE, SEARCH, mean_of

_THE_MAXIMUM = "100 %"
"""The rate of a case that does not vary its rate, or whose rate is searched for."""


def published_beside(
    table: str, cases: Sequence[Case], system: str = "", settings: Sequence[str] = ()
) -> list[Published]:
    """The figures of a published table, of that system and those settings if any are given."""
    return [
        _beside(one, cases)
        for one in figures_of(table)
        if system in ("", one.variant_of) and (not settings or one.setting in settings)
    ]


def _beside(one: PublishedFigure, cases: Sequence[Case]) -> Published:
    case = _case_of(one, cases)
    rule = one.derived
    return Published(
        label=one.label,
        figure=one.figure,
        value=one.value,
        ours=_derived(rule, cases) if rule else mean_of(case, one.figure),
        varied=case.varied if case else {},
        note=one.note,
        derived=rule and DerivedFigure(**rule.model_dump(include=set(DerivedFigure.model_fields))),
    )


def _case_of(one: PublishedFigure, cases: Sequence[Case]) -> Case | None:
    if one.beside_setting and (found := _first(cases, {**one.beside, **one.beside_setting})):
        return found
    maxima = {case.figures[MAXIMUM].mean: case for case in cases if MAXIMUM in case.figures}
    if one.figure == MAXIMUM and maxima:
        return maxima[max(maxima)]
    return _first(cases, one.beside)


def _derived(rule: DerivedRule, cases: Sequence[Case]) -> float | None:
    formula = rule.ratio or rule.change_percent
    assert formula is not None
    before, after = (
        mean_of(_first(cases, values), formula.figure) for values in (formula.before, formula.after)
    )
    if not before or after is None:
        return None
    return after / before if rule.ratio else 100 * (after / before - 1)


def _first(cases: Sequence[Case], values: Mapping[str, object]) -> Case | None:
    """The first case with these values of its varied settings."""
    for case in cases:
        if all(comparable(_own(case, key)) == comparable(value) for key, value in values.items()):
            return case
    return None


def _own(case: Case, key: str) -> object:
    value = case.varied.get(key)
    return _THE_MAXIMUM if key == RATE and value in (None, SEARCH) else value
