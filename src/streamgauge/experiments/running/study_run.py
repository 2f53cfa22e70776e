"""Runs the cases of a study one after the other, and goes on where an earlier run has stopped."""

from __future__ import annotations

import itertools
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from streamgauge.errors import ComponentError, RunInterrupted, StreamgaugeError
from streamgauge.experiments.planning.study import Group, Study, StudyCase, plan_at
from streamgauge.experiments.running.log import (
    Decided,
    Ended,
    Event,
    LogFile,
    Progress,
    RunLog,
    StudyStarted,
    Subscriber,
)
from streamgauge.experiments.running.log import Finished as RunFinished
from streamgauge.experiments.running.measurement import Measurement
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.experiments.running.searching import Searching
from streamgauge.experiments.running.station import Station
from streamgauge.experiments.summarising.study import FinishedTrial, summarise_study
from streamgauge.experiments.summarising.trial import RunState
from streamgauge.measure.search import SearchResult
from streamgauge.measure.summary import Status, StudySummary, TrialSummary
from streamgauge.report.cases import case_label
from streamgauge.report.study import write_study_report


class StudyRun:
    """The cases of a study, on one station."""

    def __init__(
        self,
        study: Study,
        directory: RunDirectory,
        station: Station,
        subscriber: Subscriber,
        facts: Callable[[], RunState],
    ) -> None:
        self._study = study
        self._directory = directory
        self._station = station
        self._subscriber = subscriber
        self._log = RunLog(LogFile(directory.events), subscriber)
        self._facts = facts
        self._began = time.monotonic()
        self._overall = facts()
        self._finished: list[FinishedTrial] = []
        self._failure: StreamgaugeError | None = None
        directory.write(directory.environment, self._overall.environment)
        self._log.publish(StudyStarted(self._overall.command, len(study.cases)))

    def run(self) -> StudySummary:
        """Every case; a trial that fails does not take the others with it."""
        try:
            for number, group in enumerate(self._study.groups, 1):
                with self._going_on():
                    self._group(number, group)
        except RunInterrupted as error:
            self._failure = error
            command = shlex.join(["streamgauge", "run", "--resume", self._directory.address])
            error.fix = f"go on with `{command}`"
        except StreamgaugeError as error:
            self._failure = error
        except Exception as error:
            self._conclude(StreamgaugeError(f"unexpected {type(error).__name__}: {error}"))
            raise
        summary = self._conclude(self._failure)
        if self._failure is not None:
            raise self._failure
        return summary

    @contextmanager
    def _going_on(self) -> Iterator[None]:
        """A component that dies takes its trial or search with it, and is named in the end."""
        try:
            yield
        except ComponentError as error:
            self._failure = error

    def _group(self, number: int, group: Group) -> None:
        later_us = sum(map(self._study.group_us, self._study.groups[number:]))
        left_us = later_us + self._study.group_us(group)
        found: SearchResult | None = None
        confirmed: TrialSummary | None = None
        searching: Searching | None = None
        if group.searched:
            searching = Searching(
                self._study,
                group,
                self._directory.searches / f"{number:02d}",
                self._station,
                self._part(f"search {number} of {len(self._study.groups)}", group.varied, left_us),
                self._facts,
            )
            found = searching.run()
            confirmed = searching.confirmed if found.confirmed else None
            maximum = found.maximum_sustainable_per_s
            self._log.publish(Decided("maximum", [found.in_words], {"per_s": maximum}))
            if found.maximum_sustainable_per_s is None:
                self._finished.append(FinishedTrial(group.cases[0], 1, None, found))
                return
        repetitions = range(1, self._study.experiment.repeat + 1)
        trials = list(itertools.product(group.cases, repetitions))
        for place, (case, repetition) in enumerate(trials):
            # The confirmation of a search is the first trial at its maximum.
            is_first = case.share == 1.0 and repetition == 1
            if is_first and searching is not None and confirmed is not None:
                run = str(searching.confirmed_in.relative_to(self._directory.path))
                self._finished.append(FinishedTrial(case, repetition, confirmed, found, run))
                continue
            if place or group.searched:
                # The start of the group is over.
                left_us = later_us + sum(self._study.trial_us(c) for c, _ in trials[place:])
            with self._going_on():
                self._trial(case, repetition, found, left_us)

    def _trial(
        self, case: StudyCase, repetition: int, found: SearchResult | None, left_us: int
    ) -> None:
        number = self._study.number_of(case, repetition)
        path = self._directory.trials / f"{number:02d}"
        place = str(path.relative_to(self._directory.path))
        if RunDirectory(path).finished:
            summary = RunDirectory(path).read_trial_summary()
            self._finished.append(FinishedTrial(case, repetition, summary, found, place))
            return
        rate = None
        if case.share is not None and found is not None:
            assert found.maximum_sustainable_per_s is not None
            rate = case.share * found.maximum_sustainable_per_s
        plan = plan_at(case.experiment, self._study.base, rate)
        facts = self._facts()
        facts.varied, facts.repetition = case.varied, repetition
        words = f"trial {number} of {self._study.trials}"
        subscriber = self._part(words, case.varied, left_us)
        directory = RunDirectory.inside(path)
        measurement = Measurement(plan, directory, self._station, subscriber, facts)
        try:
            measurement.run()
        finally:
            # Also a trial that failed or was interrupted has a summary.
            if directory.summary.exists():
                summary = directory.read_trial_summary()
                self._finished.append(FinishedTrial(case, repetition, summary, found, place))

    def _conclude(self, failure: StreamgaugeError | None) -> StudySummary:
        facts = self._overall
        if isinstance(failure, RunInterrupted):
            facts.status = Status.INTERRUPTED
        elif failure is not None:
            facts.status, facts.failure = Status.FAILED, failure.cause
        facts.phases_s["study"] = round(time.monotonic() - self._began, 1)
        summary = summarise_study(self._study, self._directory, self._finished, facts)
        self._directory.write(self._directory.summary, summary)
        write_study_report(summary, self._directory.path, self._directory.report)
        self._log.publish(Ended(summary.status.value, summary.verdict.value))
        self._log.publish(RunFinished(summary))
        return summary

    def _part(self, words: str, varied: dict[str, object], left_us: int) -> Subscriber:
        values = case_label(varied)
        label = f"{words}: {values}" if values else words
        return _Part(self._subscriber, label, self._began, time.monotonic(), left_us / 1e6)


@dataclass(frozen=True)
class _Part:
    """Forwards the progress of a part of the study, with the times of the whole."""

    whole: Subscriber
    label: str
    began_s: float
    part_began_s: float
    left_s: float

    def __call__(self, event: Event) -> None:
        if not isinstance(event, Progress):
            return
        moment = time.monotonic()
        left = max(0.0, self.left_s - (moment - self.part_began_s))
        self.whole(
            replace(event, part=self.label, elapsed_s=moment - self.began_s, remaining_s=left)
        )
