"""Compares runs: what changed, by how much, and whether that is more than noise."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from streamgauge.compare.differences import alarms, changed_settings, warnings
from streamgauge.compare.matching import match
from streamgauge.compare.measured import MeasuredCase, Subject
from streamgauge.compare.significance import noise_of_means, noise_of_searches
from streamgauge.measure.figures import MEAN_LATENCIES, Direction, Figure, Use, figures_for
from streamgauge.measure.outcome import Outcome, outcome_of
from streamgauge.measure.summary import MAXIMUM, Status, Verdict


class Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Finding(str, Enum):
    """What a change means."""

    BETTER = "better"
    WORSE = "worse"
    CHANGED = "changed"
    NOT_SIGNIFICANT = "not significant"
    EQUAL = "no change"
    NOISE_UNKNOWN = "noise unknown"
    GROWING = "growing"
    NOT_MEASURED = "not measured"


class Value(Frozen):
    """A figure on one side, the mean over its repetitions."""

    mean: float
    count: int
    low: float | None = Field(
        default=None,
        description="lower end of its 95 % interval; of a maximum, the rate that passed",
    )
    high: float | None = None


class Change(Frozen):
    """One figure of one case, on both sides."""

    figure: str
    base: Value | None
    other: Value | None
    delta: float | None = Field(default=None, description="other − base")
    percent: float | None = Field(default=None, description="of the base; None from 0")
    margin: float | None = Field(default=None, description="a smaller delta may be noise")
    growing: list[str] = Field(
        default=[], description="sides on which this latency grew steadily: base, other"
    )
    noise: str = Field(default="", description="where the margin comes from, or why it is unknown")
    finding: Finding


class CaseComparison(Frozen):
    """One combination of varied parameters."""

    varied: dict[str, object]
    changes: list[Change]

    def change(self, figure: str) -> Change | None:
        return next((one for one in self.changes if one.figure == figure), None)


class Side(Frozen):
    """One run of a comparison; a published figure has neither verdict nor repetitions."""

    label: str
    title: str
    published: bool = False
    outcome: Outcome | None = None
    verdict: Verdict | None = None
    sustained: bool | None = None
    status: Status | None = None
    quick: bool = False
    started_at: str = ""
    cases: int
    repetitions: int


class Pair(Frozen):
    """The base and one other."""

    other: Side
    alarms: list[str] = Field(description="shown first: the figures may not be comparable at all")
    warnings: list[str] = Field(description="what else differs, and may be the cause of a change")
    settings: list[str] = Field(description="settings of the system that differ")
    cases: list[CaseComparison]
    only_base: list[dict[str, object]] = Field(description="cases that the other lacks")
    only_other: list[dict[str, object]] = Field(description="cases that the base lacks")


class Comparison(Frozen):
    """The base against each of the others."""

    base: Side
    pairs: list[Pair]


def compare(base: Subject, others: Sequence[Subject]) -> Comparison:
    return Comparison(base=_side(base), pairs=[_pair(base, other) for other in others])


def _side(subject: Subject) -> Side:
    summary = subject.summary
    same = ("verdict", "sustained", "status", "quick", "started_at") if summary else ()
    return Side(
        label=subject.label,
        title=subject.title,
        published=summary is None,
        cases=len(subject.cases),
        repetitions=max((case.repetitions for case in subject.cases), default=0),
        outcome=outcome_of(summary) if summary else None,
        **{name: getattr(summary, name) for name in same},
    )


def _pair(base: Subject, other: Subject) -> Pair:
    matched = match(base, other)
    figures = _compared_figures(base, other)
    return Pair(
        other=_side(other),
        alarms=alarms(base, other),
        warnings=warnings(base, other),
        settings=changed_settings(base, other),
        cases=[
            CaseComparison(
                varied=dict(varied),
                changes=[
                    change for one in figures if (change := _change(one, ours, theirs)) is not None
                ],
            )
            for varied, ours, theirs in matched.both
        ],
        only_base=[dict(varied) for varied in matched.only_base],
        only_other=[dict(varied) for varied in matched.only_other],
    )


def _compared_figures(base: Subject, other: Subject) -> list[Figure]:
    """All figures, group by group; beside a publication only the published ones.

    A figure of which neither direction is better comes after the others of its group.
    """
    figures = figures_for(Use.COMPARE)
    for subject in (base, other):
        if subject.summary is None:
            published = {name for case in subject.cases for name in case.figures}
            figures = [figure for figure in figures if figure.name in published]
    groups = list(dict.fromkeys(figure.group for figure in figures))
    return sorted(
        figures, key=lambda one: (groups.index(one.group), one.direction is Direction.NEITHER)
    )


def _change(figure: Figure, base: MeasuredCase, other: MeasuredCase) -> Change | None:
    """None if neither side has the figure."""
    ours, theirs = base.figures.get(figure.name), other.figures.get(figure.name)
    growing = [
        name for name, case in (("base", base), ("other", other)) if figure.time in case.growing
    ]
    found: dict[str, Any] = {"finding": Finding.NOT_MEASURED}
    if growing and figure.name in MEAN_LATENCIES:
        # The mean of a growing series depends on the length of the load only.
        found["finding"] = Finding.GROWING
    elif ours is None and theirs is None:
        return None
    elif ours is not None and theirs is not None:
        noise = noise_of_means(ours, theirs)
        if figure.name == MAXIMUM:
            # Repeated cases share one search, so their maxima are equal and show no noise.
            noise = noise_of_searches(base.bracket, other.bracket)
        delta = theirs.mean - ours.mean
        found = {
            "delta": delta,
            "percent": 100 * delta / abs(ours.mean) if ours.mean else None,
            "margin": noise.margin,
            "noise": noise.source,
            "finding": _finding(figure, delta, noise.margin),
        }
    left, right = _value(figure, base), _value(figure, other)
    return Change(figure=figure.name, base=left, other=right, growing=growing, **found)


def _value(figure: Figure, case: MeasuredCase) -> Value | None:
    spread = case.figures.get(figure.name)
    if spread is None:
        return None
    low, high = spread.low, spread.high
    if figure.name == MAXIMUM:
        low, high = case.bracket or (None, None)
    return Value(mean=spread.mean, count=spread.count, low=low, high=high)


def _finding(figure: Figure, delta: float, margin: float | None) -> Finding:
    if delta == 0:
        return Finding.EQUAL
    if margin is None:
        return Finding.NOISE_UNKNOWN
    if abs(delta) <= margin:
        return Finding.NOT_SIGNIFICANT
    if figure.direction is Direction.NEITHER:
        return Finding.CHANGED
    improved = (delta > 0) == (figure.direction is Direction.HIGHER)
    return Finding.BETTER if improved else Finding.WORSE
