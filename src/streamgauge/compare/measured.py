"""What is compared: a run, or a published figure, as cases with figures and their noise."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from streamgauge.compare.figures import FIGURES, TIMES, value_of
from streamgauge.measure.spread import spread_of
from streamgauge.measure.summary import MAXIMUM, Case, Spread, Summary

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
    notes: Sequence[str] = field(default=())
    """What must be known about a published figure."""

    @property
    def varied_keys(self) -> set[str]:
        return {key for case in self.cases for key in case.varied}


def run_subject(summary: Summary) -> Subject:
    """A run, whatever kind it is: a measurement, repetitions, a sweep or a search."""
    return Subject(label=summary.run, title=summary.name, cases=_cases_of(summary), summary=summary)


def _cases_of(summary: Summary) -> list[MeasuredCase]:
    if summary.cases:
        return [_case(summary, case) for case in summary.cases]
    if summary.trials and not _is_search(summary):
        return [_of_trials(trials[0].varied, trials) for trials in _grouped(summary.trials)]
    return [_of_trials(summary.varied, [summary])]


def _is_search(summary: Summary) -> bool:
    """Then its trials are probes, each at a rate of its own."""
    return summary.maximum_sustainable_per_s is not None or bool(summary.tries)


def _grouped(trials: Sequence[Summary]) -> list[list[Summary]]:
    groups: dict[str, list[Summary]] = {}
    for trial in trials:
        key = json.dumps(trial.varied, sort_keys=True, default=str)
        groups.setdefault(key, []).append(trial)
    return list(groups.values())


def _case(summary: Summary, case: Case) -> MeasuredCase:
    """The figures of the case, and from its trials those that it does not have itself."""
    trials = [summary.trials[at] for at in case.trials if at < len(summary.trials)]
    found = _of_trials(case.varied, trials)
    growing = found.growing
    if case.growing and not growing:
        growing = frozenset(TIMES)
    # One search serves all repetitions; any other figure must be there in every one of them.
    known = {
        name: spread
        for name, spread in case.figures.items()
        if name in FIGURES and (name == MAXIMUM or spread.count >= len(trials))
    }
    return MeasuredCase(case.varied, {**found.figures, **known}, growing, found.bracket)


def _of_trials(varied: Mapping[str, object], trials: Sequence[Summary]) -> MeasuredCase:
    figures = {}
    for name in FIGURES:
        values = [value_of(trial, name) for trial in trials]
        known = [value for value in values if value is not None]
        # A repetition without the figure would make the mean that of luckier ones.
        if known and len(known) == len(values):
            figures[name] = spread_of(known)
    growing = frozenset(
        time for time in TIMES if any(getattr(one.latency_ms, time).growing for one in trials)
    )
    return MeasuredCase(varied, figures, growing, _bracket_around(trials))


def _bracket_around(trials: Sequence[Summary]) -> Bracket | None:
    """One search serves all repetitions of a case; of several searches it is the widest."""
    found = [_bracket(trial) for trial in trials]
    known = [bracket for bracket in found if bracket is not None]
    if not known or len(known) < len(found):
        return None
    return min(passed for passed, _ in known), max(failed for _, failed in known)


def _bracket(summary: Summary) -> Bracket | None:
    """None also when nothing failed: then nobody knows how much more would have passed."""
    maximum = summary.maximum_sustainable_per_s
    if maximum is None or summary.passed is None or summary.failed is None:
        return None
    return min(maximum, summary.passed), max(maximum, summary.failed)
