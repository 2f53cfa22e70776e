"""Published figures side by side with those of our own study.

The data of a publication name the case of ours beside each of its figures, and the two cases
between which a ratio or a change is calculated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from streamgauge.compare.matching import comparable
from streamgauge.compare.published import DerivedRule, PublishedFigure, figures_of
from streamgauge.measure.summary import MAXIMUM, Case, DerivedFigure, Published
from streamgauge.report.cases import RATE, SEARCH, mean_of

_THE_MAXIMUM = "100 %"
"""The rate of a case that does not vary its rate, or whose rate is searched for."""


def published_beside(
    table: str,
    cases: Sequence[Case],
    system: str = "",
    settings: Sequence[str] = (),
    fixed: Mapping[str, object] = MappingProxyType({}),
) -> list[Published]:
    """The figures of a published table, of that system and those settings if any are given.

    `fixed` are the parameters of the study, among which are settings that it does not vary.
    """
    return [
        _beside(one, cases, fixed)
        for one in figures_of(table)
        if system in ("", one.variant_of) and (not settings or one.setting in settings)
    ]


def _beside(one: PublishedFigure, cases: Sequence[Case], fixed: Mapping[str, object]) -> Published:
    case = _case_of(one, cases, fixed)
    rule = one.derived
    return Published(
        label=one.label,
        figure=one.figure,
        value=one.value,
        growing=one.growing,
        ours=_derived(rule, cases) if rule else mean_of(case, one.figure),
        varied=case.varied if case else {},
        case=next((place for place, one in enumerate(cases) if one is case), None),
        note=one.note,
        derived=rule and DerivedFigure(**rule.model_dump(include=set(DerivedFigure.model_fields))),
    )


def _case_of(
    one: PublishedFigure, cases: Sequence[Case], fixed: Mapping[str, object]
) -> Case | None:
    wanted = {**one.beside, **one.beside_setting}
    if one.exact:
        return _first(cases, wanted, fixed) if one.beside else None
    if one.beside_setting and (found := _first(cases, wanted, fixed)):
        return found
    maxima = {case.figures[MAXIMUM].mean: case for case in cases if MAXIMUM in case.figures}
    if one.figure == MAXIMUM and maxima:
        return maxima[max(maxima)]
    return _first(cases, one.beside) if one.beside else None


def _derived(rule: DerivedRule, cases: Sequence[Case]) -> float | None:
    formula = rule.ratio or rule.change_percent
    assert formula is not None
    before, after = (
        mean_of(_first(cases, values), formula.figure) for values in (formula.before, formula.after)
    )
    if not before or after is None:
        return None
    return after / before if rule.ratio else 100 * (after / before - 1)


def _first(
    cases: Sequence[Case],
    values: Mapping[str, object],
    fixed: Mapping[str, object] = MappingProxyType({}),
) -> Case | None:
    """The first case with these values of its varied settings, or of the fixed ones."""
    for case in cases:
        own = {key: _own(case, key, value, fixed) for key, value in values.items()}
        if all(comparable(own[key]) == comparable(value) for key, value in values.items()):
            return case
    return None


def _own(case: Case, key: str, wanted: object, fixed: Mapping[str, object]) -> object:
    is_share = key == RATE and isinstance(wanted, str)
    value = case.varied.get(key, None if is_share else fixed.get(key))
    return _THE_MAXIMUM if is_share and value in (None, SEARCH) else value
