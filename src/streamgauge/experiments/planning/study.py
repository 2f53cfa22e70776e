"""A study: the cases of an experiment, one for every combination of the varied settings."""

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
from streamgauge.experiments.planning.plan import Plan, make_plan, without_secrets
from streamgauge.experiments.planning.validation import validated
from streamgauge.measure.search import WARM_UP_US, SearchSettings, estimated_us
from streamgauge.measure.search.settings import FIRST_GUESS_PER_S, SHORTEST_PROBE_US
from streamgauge.report.cases import RATE, SEARCH, without_rate
from streamgauge.units import SECOND_US, format_duration

START_US = 25 * SECOND_US
MEASURE_US = 15 * SECOND_US
MEASURE_SHARE = 0.1
"""Time to regenerate the events and compare the results, as a share of the length of the load."""
TRIAL_OVERHEAD_US = 8 * SECOND_US
"""Start of driver and query, and drain, of a trial on a system that runs already."""
WARM_MEASURE_US = 6 * SECOND_US
"""The calculation on a Spark that runs already."""
MOST_CASES = 1_000


@dataclass(frozen=True)
class StudyCase:
    """One combination of the varied settings."""

    varied: dict[str, Any]
    experiment: Experiment

    @property
    def share(self) -> float | None:
        return self.experiment.load.share_of_maximum

    @property
    def above_maximum(self) -> bool:
        return (self.share or 0.0) > 1


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
        """That of a case with a rate to be searched for; the cases differ only in their rate."""
        asking = (case for case in self.cases if case.share is not None)
        return next(asking, self.cases[0]).experiment

    @cached_property
    def reference(self) -> Group:
        """The group whose maximum the shares are of: this one, unless `search.of` says another."""
        own = self.experiment
        if not own.search.of:
            return self
        varied = {**self.varied, **own.search.of}
        experiment = _case(own, {**own.search.of, RATE: SEARCH}, "search.of")
        other = Group(varied, [StudyCase(varied, experiment)])
        return self if _same_system(own, experiment) else other

    @property
    def settings(self) -> SearchSettings:
        search = self.experiment.search
        return SearchSettings(
            **search.model_dump(include={"precision", "start", "highest", "attempts"}),
            probe_us=search.probe,
            budget_us=search.budget,
            confirm_us=self.experiment.duration,
        )


@dataclass(frozen=True)
class Study:
    """All trials of an experiment, resolved; nothing started."""

    experiment: Experiment
    base: Path
    groups: list[Group]

    @property
    def is_single(self) -> bool:
        """One trial at a given rate: the run directory is that of the trial."""
        searched = any(group.searched for group in self.groups)
        varies = self.experiment.vary or self.experiment.also
        return not (varies or self.experiment.repeat > 1 or searched)

    @property
    def cases(self) -> list[StudyCase]:
        return [case for group in self.groups for case in group.cases]

    @property
    def trials(self) -> int:
        return len(self.cases) * self.experiment.repeat

    @property
    def varied(self) -> dict[str, list[Any]]:
        """Every varied setting with all of its values."""
        found: dict[str, list[Any]] = {}
        for case in self.cases:
            for key, value in case.varied.items():
                values = found.setdefault(key, [])
                if value not in values:
                    values.append(value)
        return found

    def number_of(self, case: StudyCase, repetition: int) -> int:
        """Numbers the trials in the order of the file, so that a resumed study finds them again."""
        place = next(i for i, own in enumerate(self.cases) if own is case)
        return place * self.experiment.repeat + repetition

    @cached_property
    def first_plan(self) -> Plan:
        """Of the first case; a rate that is still to be searched for is replaced by a guess."""
        return plan_at(self.cases[0].experiment, self.base)

    @property
    def stored(self) -> dict[str, Any]:
        """The experiment as the run directory keeps it."""
        return without_secrets(self.experiment, self.first_plan.channel)

    @property
    def estimated_us(self) -> int:
        if self.is_single:
            return START_US + MEASURE_US + _work_us(self.experiment)
        return MEASURE_US + sum(map(self.group_us, self.groups))

    def group_us(self, group: Group) -> int:
        # With another query or other settings the system starts again.
        total = START_US
        if group.searched and self.searches_for(group):
            search_us = estimated_us(group.settings, TRIAL_OVERHEAD_US)
            total += self.warm_up_us(group.reference) + search_us + WARM_MEASURE_US
        for case in group.cases:
            # The confirmation of the search is the first trial at its maximum.
            confirmed = case.share == 1.0 and group.reference is group
            total += (self.experiment.repeat - confirmed) * self.trial_us(case)
        return total

    def searches_for(self, group: Group) -> bool:
        """Whether the group is the first that needs the maximum of its reference."""
        wanted = reference_key(group)
        return next(one for one in self.groups if reference_key(one) == wanted) is group

    def warm_up_us(self, group: Group) -> int:
        """How long the system is under load before the first probe."""
        asked = group.experiment.search.warm_up
        return plan_at(group.experiment, self.base).system.warm_up_us if asked is None else asked

    def trial_us(self, case: StudyCase) -> int:
        return TRIAL_OVERHEAD_US + WARM_MEASURE_US + _work_us(case.experiment)


def reference_key(group: Group) -> str:
    """The same for all groups that share one search."""
    return _compared(group.reference.experiment) if group.searched else repr(group.varied)


def _same_system(one: Experiment, other: Experiment) -> bool:
    return _compared(one) == _compared(other)


def _compared(experiment: Experiment) -> str:
    """All that a maximum depends on, in one text."""
    load = experiment.load.model_copy(update={"rate": SEARCH})
    same = experiment.model_copy(update={"load": load})
    return same.model_dump_json(exclude={"vary", "also", "quick", "figure", "repeat"})


def _work_us(experiment: Experiment) -> int:
    return round(experiment.duration * (1 + MEASURE_SHARE))


def make_study(experiment: Experiment, base: Path) -> Study:
    """Resolves every case now, so that a study does not fail on the last of them after hours."""
    combinations = _combinations(experiment)
    if len(combinations) > MOST_CASES:
        raise ExperimentError(
            "vary", f"makes {len(combinations):,} cases", fix=f"at most {MOST_CASES:,} are run"
        )
    groups: dict[str, Group] = {}
    for varied in combinations:
        case = StudyCase(varied, _case(experiment, varied))
        if RATE in varied:
            varied[RATE] = case.experiment.load.rate
        _check(case, base)
        fixed = without_rate(varied)
        groups.setdefault(repr(fixed), Group(fixed, [])).cases.append(case)
    return Study(experiment, base, list(groups.values()))


def _combinations(experiment: Experiment) -> list[dict[str, Any]]:
    """Of `vary`, then of each entry of `also`; each with a value for every varied setting."""
    entries = [experiment.vary, *experiment.also]
    if experiment.also and not experiment.vary:
        entries = experiment.also
    keys = sorted(dict.fromkeys(itertools.chain(*entries)), key=lambda key: key == RATE)
    data = experiment.model_dump(mode="json") if experiment.also else {}
    found = []
    for entry in entries:
        values = [entry.get(key) or [_value_at(data, key)] for key in keys]
        found += [dict(zip(keys, one, strict=True)) for one in itertools.product(*values)]
    return found


def _value_at(data: dict[str, Any], key: str) -> Any:
    """The value of a setting outside `vary`, for the cases that do not name it."""
    value: Any = data
    for name in key.split("."):
        if not isinstance(value, dict) or name not in value:
            problem = f"`{key}` is not set in the experiment itself, and not every case names it"
            raise ExperimentError("also", problem, fix=f"set `{key}` outside `vary`, too")
        value = value[name]
    return value


def _check(case: StudyCase, base: Path) -> None:
    experiment = case.experiment
    plan = plan_at(experiment, base)
    if case.share is not None:
        plan_at(Group({}, [case]).reference.experiment, base)
        _check_searched(experiment)
        if plan.query.results_are_the_log:
            raise ExperimentError(
                "load.rate",
                "cannot be searched for without a system: the rate that senders and broker achieve "
                "is the result of one run",
                fix="give a rate that is higher than they can achieve, such as 1_000_000",
            )
    if experiment.figure is not None and experiment.figure.published is not None:
        try:
            figures_of(experiment.figure.published)
        except UsageError as error:
            raise ExperimentError("figure.published", error.cause, fix=error.fix) from None


def _check_searched(experiment: Experiment) -> None:
    for name, stream in experiment.load.streams.items():
        if isinstance(stream.rate, float):
            raise ExperimentError(
                f"load.streams.{name}.rate",
                "must be a share, because `load.rate` is found by a search",
                fix="give it as a share of `load.rate`, such as `20 %`",
            )
    if experiment.duration < SHORTEST_PROBE_US:
        raise ExperimentError(
            "duration",
            f"is too short to confirm a maximum: {format_duration(experiment.duration)}",
            fix=f"use at least {format_duration(SHORTEST_PROBE_US)}",
        )


def _case(experiment: Experiment, varied: dict[str, Any], section: str = "vary") -> Experiment:
    if not varied:
        return experiment
    data = experiment.model_dump(mode="json", exclude={"vary", "also", "quick"})
    for key, value in varied.items():
        try:
            put(data, key, value)
        except ExperimentError as error:
            raise ExperimentError(f"{section}.{key}", error.cause, fix=error.fix) from None
    return validated(Experiment, data)


def plan_at(
    experiment: Experiment, base: Path, rate: float | None = None, duration_us: int | None = None
) -> Plan:
    """The plan of one trial, with a rate and a length that replace those of the experiment."""
    load, share = experiment.load, experiment.load.share_of_maximum
    if rate is None:
        rate = load.rate_per_s if share is None else experiment.search.start or FIRST_GUESS_PER_S
    changes: dict[str, Any] = {"load": load.model_copy(update={"rate": float(rate)})}
    if duration_us is not None:
        changes |= {"duration": duration_us, "warm_up": 0}
        if duration_us != experiment.duration:
            # Their times are those of a whole load.
            changes["faults"] = []
    plan = make_plan(experiment.model_copy(update=changes), base)
    if share is None:
        return plan
    # Near its maximum a system hardly reduces the backlog of its start.
    policy = plan.policy.model_copy(update={"settles_us": WARM_UP_US})
    return replace(plan, policy=policy, at_maximum=share >= 1)
