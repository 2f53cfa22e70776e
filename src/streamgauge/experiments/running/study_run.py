"""Runs the cases of a study one after the other; a resumed study keeps its finished trials."""

from __future__ import annotations

import itertools
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from streamgauge.errors import ComponentError, RunInterrupted
from streamgauge.experiments.planning.study import Group, Study, plan_at, reference_key
from streamgauge.experiments.running import log
from streamgauge.experiments.running.measurement import Measurement
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.experiments.running.searching import Searching
from streamgauge.experiments.running.station import Station
from streamgauge.experiments.summarising.study import (
    FinishedTrial,
    scale_of,
    summarise_study,
)
from streamgauge.experiments.summarising.trial import RunState
from streamgauge.measure.search import SearchResult
from streamgauge.measure.summary import Scale, StudySummary
from streamgauge.report.cases import case_label
from streamgauge.report.study import write_study_report


class Maximum(NamedTuple):
    """What a search found, its confirmation, and the void one that ended it."""

    found: SearchResult
    confirmed_in: Path | None
    void_in: Path | None


@dataclass
class StudyRun:
    """The cases of a study, on one station."""

    study: Study
    directory: RunDirectory
    station: Station
    subscriber: log.Subscriber
    new_state: Callable[[], RunState]

    def __post_init__(self) -> None:
        self._log = log.RunLog(log.LogFile(self.directory.events), self.subscriber)
        self._began = time.monotonic()
        self._state = self.new_state()
        self._finished: list[FinishedTrial] = []
        self._failure: ComponentError | None = None
        self._maxima: dict[str, Maximum] = {}
        """By the key of the search, because one may serve several groups."""
        self.directory.write(self.directory.environment, self._state.environment)
        self._log.publish(log.StudyStarted(self._state.command, len(self.study.cases)))

    def run(self) -> StudySummary:
        """Every case; a trial or search that fails does not end the study."""
        try:
            for number, group in enumerate(self.study.groups, 1):
                with self._continuing():
                    self._group(number, group)
            if self._failure is not None:
                raise self._failure
        except Exception as error:
            if isinstance(error, RunInterrupted):
                command = shlex.join(["streamgauge", "run", "--resume", self.directory.address])
                error.fix = f"resume it with `{command}`"
            self._conclude(error)
            raise
        return self._conclude()

    @contextmanager
    def _continuing(self) -> Iterator[None]:
        """The error of a component is raised at the end of the study."""
        try:
            yield
        except ComponentError as error:
            self._failure = error

    def _group(self, number: int, group: Group) -> None:
        study = self.study
        later_us = sum(map(study.group_us, study.groups[number:]))
        left_us = later_us + study.group_us(group)
        trials = list(itertools.product(group.cases, range(1, study.experiment.repeat + 1)))
        found: SearchResult | None = None
        confirmed_in: Path | None = None
        scale: Scale | None = None
        if group.searched:
            found, confirmed_in, void_in = self._maximum(number, group, left_us)
            if found.maximum_sustainable_per_s is None or void_in is not None:
                self._add(FinishedTrial(group.cases[0], 1, None, found), void_in)
                return
            scale = scale_of(group, found)
        for place, (case, repetition) in enumerate(trials):
            # The maximum of another system is no figure of this one.
            own = found if group.reference is group else None
            trial = FinishedTrial(case, repetition, None, own, scale=scale)
            # The confirmation of a search is the first trial at its maximum.
            if own and confirmed_in is not None and case.share == 1.0 and repetition == 1:
                self._add(trial, confirmed_in)
                continue
            if place or group.searched:
                # The system has been started.
                left_us = later_us + sum(study.trial_us(case) for case, _ in trials[place:])
            with self._continuing():
                self._trial(trial, left_us)

    def _maximum(self, number: int, group: Group, left_us: int) -> Maximum:
        """Searched for, unless another group has needed it before."""
        key, reference = reference_key(group), group.reference
        if key not in self._maxima:
            part = f"search {number} of {len(self.study.groups)}"
            forward = self._part(part, reference.varied, left_us)
            folder = self.directory.searches / f"{number:02d}"
            search = Searching(self.study, reference, folder, self.station, forward, self.new_state)
            found = search.run()
            figures = {"per_s": found.maximum_sustainable_per_s}
            self._log.publish(log.Decided("maximum", [found.in_words], figures))
            self._maxima[key] = Maximum(found, search.confirmed_in, search.void_in)
        return self._maxima[key]

    def _trial(self, trial: FinishedTrial, left_us: int) -> None:
        case = trial.case
        number = self.study.number_of(case, trial.repetition)
        directory = RunDirectory(self.directory.trials / f"{number:02d}")
        try:
            if directory.finished:
                return
            rate = None
            if case.share is not None and trial.scale is not None:
                rate = case.share * (trial.scale.maximum_sustainable_per_s or 0.0)
            plan = plan_at(case.experiment, self.study.base, rate)
            state = self.new_state()
            state.varied, state.repetition = case.varied, trial.repetition
            part = self._part(f"trial {number} of {self.study.trials}", case.varied, left_us)
            directory = RunDirectory.inside(directory.path)
            Measurement(plan, directory, self.station, part, state).run()
        finally:
            # A trial that failed or was interrupted has a summary, too.
            if directory.summary.exists():
                self._add(trial, directory.path)

    def _add(self, trial: FinishedTrial, path: Path | None) -> None:
        """Adds a finished trial; without a path if a search found no rate to run it at."""
        summary = RunDirectory(path).read_trial_summary() if path else None
        place = str(path.relative_to(self.directory.path)) if path else ""
        self._finished.append(replace(trial, summary=summary, place=place))

    def _conclude(self, failure: Exception | None = None) -> StudySummary:
        self._state.end(failure)
        self._state.phases_s["study"] = round(time.monotonic() - self._began, 1)
        summary = summarise_study(self.study, self.directory, self._finished, self._state)
        self.directory.write_summary(summary)
        write_study_report(summary, self.directory.path, self.directory.report)
        self._log.publish(log.Ended(summary.status.value, summary.verdict.value))
        self._log.publish(log.Finished(summary))
        return summary

    def _part(self, name: str, varied: dict[str, object], left_us: int) -> log.Subscriber:
        """Forwards the progress of a part of the study, with the times of the whole."""
        values = case_label(varied)
        label = f"{name}: {values}" if values else name
        began = time.monotonic()

        def forward(event: log.Event) -> None:
            if isinstance(event, log.Progress):
                now = time.monotonic()
                left_s = max(0.0, left_us / 1e6 - (now - began))
                elapsed_s = now - self._began
                self.subscriber(replace(event, part=label, elapsed_s=elapsed_s, remaining_s=left_s))

        return forward
