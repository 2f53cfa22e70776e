"""One side of a comparison: the cases of a run, or a published cell, with figures and noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streamgauge.measure.figures import TIMES, Use, figures_for, value_of
from streamgauge.measure.spread import spread_of
from streamgauge.measure.summary import MAXIMUM, Case, Spread, StudySummary, Summary

Bracket = tuple[float, float]
"""Of a search: the highest rate that passed, the lowest that failed."""


@dataclass(frozen=True)
class MeasuredCase:
    """One combination of varied parameters, with every figure over its repetitions."""

    varied: Mapping[str, object]
    figures: Mapping[str, Spread]
    growing: frozenset[str] = frozenset()
    """Which latencies grew steadily: `event_time`, `processing_time`."""
    bracket: Bracket | None = None

    @property
    def repetitions(self) -> int:
        return max((spread.count for spread in self.figures.values()), default=0)


@dataclass(frozen=True)
class Subject:
    """One side of a comparison; a published figure has no summary."""

    label: str
    """The name of the run, or the address of the published figure."""
    title: str
    cases: Sequence[MeasuredCase]
    summary: Summary | None = None
    notes: Sequence[str] = ()
    """Remarks about a published figure."""

    @property
    def varied_keys(self) -> set[str]:
        return {key for case in self.cases for key in case.varied}


def run_subject(summary: Summary) -> Subject:
    """A run of any kind: a measurement, repetitions, a sweep or a search."""
    if isinstance(summary, StudySummary):
        # A study that ended before its first trial has no cases.
        cases = [_case(summary, case) for case in summary.cases] or [_of_trials({}, [summary])]
    else:
        cases = [_of_trials(summary.varied, [summary])]
    return Subject(label=summary.run, title=summary.name, cases=cases, summary=summary)


def _case(summary: StudySummary, case: Case) -> MeasuredCase:
    """The figures of the case, and from its trials those that it does not have itself."""
    trials = [summary.trials[at] for at in case.trials if at < len(summary.trials)]
    found = _of_trials(case.varied, trials)
    growing = found.growing or frozenset(TIMES if case.growing else ())
    names = {figure.name for figure in figures_for(Use.COMPARE)}
    # All repetitions share one search; every repetition must have any other figure.
    known = {
        name: spread
        for name, spread in case.figures.items()
        if name in names and (name == MAXIMUM or spread.count >= len(trials))
    }
    return MeasuredCase(case.varied, {**found.figures, **known}, growing, found.bracket)


def _of_trials(varied: Mapping[str, object], trials: Sequence[Summary]) -> MeasuredCase:
    figures = {}
    for figure in figures_for(Use.COMPARE):
        values = [value_of(trial, figure.name) for trial in trials]
        known = [value for value in values if value is not None]
        # Without the trials that lack the figure the mean would be biased.
        if known and len(known) == len(values):
            figures[figure.name] = spread_of(known)
    growing = frozenset(
        time for time in TIMES if any(getattr(one.latency_ms, time).growing for one in trials)
    )
    return MeasuredCase(varied, figures, growing, _bracket_around(trials))


def _bracket_around(trials: Sequence[Summary]) -> Bracket | None:
    """Of all searches of the trials; mostly they share one."""
    brackets = [_bracket(trial) for trial in trials]
    known = [bracket for bracket in brackets if bracket is not None]
    if not known or len(known) < len(brackets):
        return None
    return min(passed for passed, _ in known), max(failed for _, failed in known)


def _bracket(summary: Summary) -> Bracket | None:
    """None also if no rate failed: then it is unknown how much more would have passed."""
    maximum = summary.maximum_sustainable_per_s
    if maximum is None or summary.passed is None or summary.failed is None:
        return None
    return min(maximum, summary.passed), max(maximum, summary.failed)
