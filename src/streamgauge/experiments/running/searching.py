"""Runs a search: one probe after the other on a system that stays, until the maximum is confirmed.

Every finished probe is written down at once. The search is a pure function of the outcomes, so it
goes on after an interruption by hearing them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from streamgauge import writing
from streamgauge.errors import UsageError
from streamgauge.experiments.planning.plan import Plan
from streamgauge.experiments.planning.study import Group, Study, plan_at
from streamgauge.experiments.running.log import LogFile, Progress, RunLog, Subscriber
from streamgauge.experiments.running.measurement import Measurement
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.experiments.running.station import Station
from streamgauge.experiments.running.trial import Trial
from streamgauge.experiments.summarising.trial import RunState
from streamgauge.measure.search import (
    ProbeJudge,
    ProbeOrder,
    ProbeOutcome,
    Search,
    SearchResult,
    judge_of,
)
from streamgauge.measure.summary import TrialSummary, Verdict

FactsFactory = Callable[[], RunState]


@dataclass
class Searching:
    """The search of one group of cases."""

    study: Study
    group: Group
    folder: Path
    station: Station
    subscriber: Subscriber
    facts: FactsFactory
    confirmed: TrialSummary | None = None
    """The trial that confirmed the maximum."""
    confirmed_in: Path = Path()

    def run(self) -> SearchResult:
        self.folder.mkdir(parents=True, exist_ok=True)
        search = Search(self.group.settings)
        for outcome in self._told():
            try:
                search.tell(outcome)
            except ValueError as error:
                raise UsageError(
                    f"{self._log} does not fit this search: {error}",
                    fix="it was made by another version of streamgauge; begin a new run",
                ) from None
            if outcome.kind == "confirm":
                self._keep(outcome, self._place(len(search.result.tries)))
        while (order := search.next()) is not None:
            self._warm_up()
            number = len(search.result.tries) + 1
            outcome = (
                self._confirm(order, number)
                if order.kind == "confirm"
                else self._probe(order, number)
            )
            with self._log.open("a") as log:
                log.write(outcome.model_dump_json() + "\n")
            search.tell(outcome)
        return search.result

    def _told(self) -> list[ProbeOutcome]:
        if not self._log.exists():
            return []
        # A line that was cut off by a crash is a probe that has to be done again.
        lines = [line for line in self._log.read_text().splitlines(keepends=True) if "\n" in line]
        self._log.write_text("".join(lines))
        return [ProbeOutcome.model_validate_json(line) for line in lines]

    @property
    def _log(self) -> Path:
        return self.folder / "probes.ndjson"

    def _place(self, number: int) -> Path:
        return self.folder / f"probe-{number:02d}"

    def _warm_up(self) -> None:
        """A cold system is slower than it will be, so what it does first is not judged.

        The first guess is rather low, which leaves it time to warm up.
        """
        length_us, rate = self.study.warm_up_us(self.group), self.group.settings.first_per_s
        plan = plan_at(self.group.experiment, self.study.base, rate, length_us or None)
        if not length_us or self.station.is_warm(plan.system):
            return
        words = f"warming up at {writing.rate(rate)}"
        with self._trial(plan, self.folder / "warm-up", words) as trial:
            trial.load()
        self.station.warmed_up()

    def _probe(self, order: ProbeOrder, number: int) -> ProbeOutcome:
        experiment = self.group.experiment
        plan = plan_at(experiment, self.study.base, order.rate_per_s, order.length_us)
        judge = self._judge(order, plan)
        words = f"probe {number} at {writing.rate(order.rate_per_s)}"
        with self._trial(plan, self._place(number), words) as trial:
            broken = trial.probe(judge, policies_count=order.kind != "saturate")
            late_us = trial.lag_p99_us
        if broken is None and order.kind != "saturate" and late_us > experiment.load.max_lag:
            return judge.late(f"the generator itself was late: p99 lag {late_us / 1_000:.0f} ms")
        return judge.finish(broken)

    @contextmanager
    def _trial(self, plan: Plan, folder: Path, words: str) -> Iterator[Trial]:
        """A load without results that count, started; the system lets go of it at the end."""
        directory = RunDirectory.inside(folder)
        directory.keep(plan.stored)
        trial: Trial | None = None

        def tell(note: str) -> None:
            phase = "load" if trial is not None and trial.start_us else "start"
            said = f"{words}: {note}" if note else words
            self.subscriber(Progress(phase, said) if trial is None else trial.progress(phase, said))

        trial = Trial(plan, directory, self.station, RunLog(LogFile(directory.events)), tell)
        with trial.processes():
            trial.start()
            yield trial
            trial.let_go()

    def _judge(self, order: ProbeOrder, plan: Plan) -> ProbeJudge:
        precision = self.group.settings.precision
        return judge_of(order, precision, plan.channel.basis, plan.system.pause_us)

    def _confirm(self, order: ProbeOrder, number: int) -> ProbeOutcome:
        at_rate = plan_at(self.group.experiment, self.study.base, order.rate_per_s)
        plan = replace(at_rate, at_maximum=True)
        directory = RunDirectory.inside(self._place(number))
        judge = self._judge(order, plan)
        measurement = Measurement(plan, directory, self.station, self.subscriber, self.facts())
        summary = measurement.run(judge)
        reasons = "; ".join(summary.reasons)
        if summary.verdict is Verdict.VOID:
            outcome = judge.late(reasons)
        else:
            outcome = judge.finish(None if summary.sustained else reasons)
        self._keep(outcome, directory.path)
        return outcome

    def _keep(self, outcome: ProbeOutcome, path: Path) -> None:
        if outcome.verdict == "passed":
            self.confirmed, self.confirmed_in = RunDirectory(path).read_trial_summary(), path
