"""A study: every case of an experiment, that is every combination of what it varies."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from streamgauge.compare.published import figures_of
from streamgauge.errors import ExperimentError, UsageError
from streamgauge.experiments.planning.files import put
from streamgauge.experiments.planning.model import Experiment
from streamgauge.experiments.planning.plan import (
    MEASURE_ESTIMATE_US,
    MEASURE_SHARE,
    START_ESTIMATE_US,
    Plan,
    make_plan,
    without_secrets,
)
from streamgauge.experiments.planning.validation import validated
from streamgauge.measure.search import WARM_UP_US, SearchSettings, estimated_us
from streamgauge.measure.search.settings import FIRST_GUESS_PER_S, SHORTEST_PROBE_US
from streamgauge.units import SECOND_US, format_duration

RATE = "load.rate"
TRIAL_OVERHEAD_US = 8 * SECOND_US
"""Of a trial on a system that runs already: driver, query, drain."""
WARM_MEASURE_US = 6 * SECOND_US
"""Of the calculation when its Spark runs already."""
MOST_CASES = 1_000


@dataclass(frozen=True)
class StudyCase:
    """One combination of values."""

    varied: dict[str, Any]
    experiment: Experiment

    @property
    def share(self) -> float | None:
        return self.experiment.load.share_of_maximum


@dataclass(frozen=True)
class Group:
    """Cases that differ only in their rate: one search serves them all."""

    varied: dict[str, Any]
    cases: list[StudyCase]

    @property
    def searched(self) -> bool:
        return any(case.share is not None for case in self.cases)

    @property
    def experiment(self) -> Experiment:
        """What a search goes by: that of a case which asks for one; only the rate differs."""
        asking = (case for case in self.cases if case.share is not None)
        return next(asking, self.cases[0]).experiment

    @property
    def settings(self) -> SearchSettings:
        experiment = self.experiment
        search = experiment.search
        return SearchSettings(
            precision=search.precision,
            start=search.start,
            highest=search.highest,
            probe_us=search.probe,
            attempts=search.attempts,
            budget_us=search.budget,
            confirm_us=experiment.duration,
        )


@dataclass(frozen=True)
class Study:
    """Everything that an experiment asks for, resolved; nothing started."""

    experiment: Experiment
    base: Path
    groups: list[Group]

    @property
    def is_single(self) -> bool:
        """One trial at a given rate: the run directory is that of the trial."""
        return (
            self.experiment.repeat == 1
            and not self.experiment.vary
            and not any(group.searched for group in self.groups)
        )

    @property
    def cases(self) -> list[StudyCase]:
        return [case for group in self.groups for case in group.cases]

    @property
    def trials(self) -> int:
        return len(self.cases) * self.experiment.repeat

    def number_of(self, case: StudyCase, repetition: int) -> int:
        """The same whatever has been done of the study already."""
        place = next(i for i, own in enumerate(self.cases) if own is case)
        return place * self.experiment.repeat + repetition

    @cached_property
    def first_plan(self) -> Plan:
        """Of the first case, at a rate that stands for whatever a search will find."""
        return plan_at(self.cases[0].experiment, self.base)

    @property
    def stored(self) -> dict[str, Any]:
        """The experiment as the run directory keeps it."""
        return without_secrets(self.experiment, self.first_plan.channel)

    @property
    def estimated_us(self) -> int:
        """How long everything will take, roughly."""
        if self.is_single:
            return self.first_plan.estimated_us
        return MEASURE_ESTIMATE_US + sum(map(self.group_us, self.groups))

    def group_us(self, group: Group) -> int:
        # Another query, or the system with other settings, has to start anew.
        total = START_ESTIMATE_US
        if group.searched:
            total += self.warm_up_us(group)
            total += estimated_us(group.settings, TRIAL_OVERHEAD_US) + WARM_MEASURE_US
        for case in group.cases:
            # The confirmation of the search is the first trial at its maximum.
            total += (self.experiment.repeat - (case.share == 1.0)) * self.trial_us(case)
        return total

    def warm_up_us(self, group: Group) -> int:
        """How long the system is under load before a search judges it."""
        asked = group.experiment.search.warm_up
        return plan_at(group.experiment, self.base).system.warm_up_us if asked is None else asked

    def trial_us(self, case: StudyCase) -> int:
        duration = case.experiment.duration
        return TRIAL_OVERHEAD_US + WARM_MEASURE_US + round(duration * (1 + MEASURE_SHARE))


def make_study(experiment: Experiment, base: Path) -> Study:
    """Resolves every case, so that a study cannot fail on the last of them after hours."""
    keys = sorted(experiment.vary, key=lambda key: key == RATE)
    combinations = list(itertools.product(*(experiment.vary[key] for key in keys)))
    if len(combinations) > MOST_CASES:
        raise ExperimentError(
            "vary", f"makes {len(combinations):,} cases", fix=f"at most {MOST_CASES:,} are run"
        )
    groups: dict[str, Group] = {}
    for values in combinations:
        varied = dict(zip(keys, values, strict=True))
        case = StudyCase(varied, _case(experiment, varied))
        if RATE in varied:
            varied[RATE] = case.experiment.load.rate
        _check(case, base)
        fixed = {key: value for key, value in varied.items() if key != RATE}
        groups.setdefault(repr(fixed), Group(fixed, [])).cases.append(case)
    return Study(experiment, base, list(groups.values()))


def _check(case: StudyCase, base: Path) -> None:
    experiment = case.experiment
    plan_at(experiment, base)
    for name, stream in experiment.load.streams.items():
        if case.share is not None and isinstance(stream.rate, float):
            raise ExperimentError(
                f"load.streams.{name}.rate",
                "must be a share, because `load.rate` is found by a search",
                fix="give it as a share of `load.rate`, such as `20 %`",
            )
    if case.share is not None and experiment.duration < SHORTEST_PROBE_US:
        raise ExperimentError(
            "duration",
            f"is too short to confirm a maximum: {format_duration(experiment.duration)}",
            fix=f"use at least {format_duration(SHORTEST_PROBE_US)}",
        )
    if experiment.figure is not None and experiment.figure.published is not None:
        try:
            figures_of(experiment.figure.published)
        except UsageError as error:
            raise ExperimentError("figure.published", error.cause, fix=error.fix) from None


def _case(experiment: Experiment, varied: dict[str, Any]) -> Experiment:
    if not varied:
        return experiment
    data = experiment.model_dump(mode="json", exclude={"vary", "quick"})
    for key, value in varied.items():
        try:
            put(data, key, value)
        except ExperimentError as error:
            raise ExperimentError(f"vary.{key}", error.cause, fix=error.fix) from None
    return validated(Experiment, data)


def plan_at(
    experiment: Experiment, base: Path, rate: float | None = None, duration_us: int | None = None
) -> Plan:
    """The plan of one trial, at that rate and for that long instead of what the file says."""
    load = experiment.load
    if rate is None:
        known = load.share_of_maximum is None
        rate = load.rate_per_s if known else experiment.search.start or FIRST_GUESS_PER_S
    changes: dict[str, Any] = {"load": load.model_copy(update={"rate": float(rate)})}
    if duration_us is not None:
        changes["duration"] = duration_us
        changes["warm_up"] = 0
    plan = make_plan(experiment.model_copy(update=changes), base)
    if load.share_of_maximum is None:
        return plan
    # Near a maximum, which a search looks for, the backlog of a start would stay.
    policy = plan.policy.model_copy(update={"settles_us": WARM_UP_US})
    return replace(plan, policy=policy, at_maximum=load.share_of_maximum >= 1)
