"""Runs a search: one probe after the other on a system that stays, until the maximum is confirmed.

The outcome of every probe is written to a file at once. The search is a pure function of the
outcomes, so a resumed search reads them and continues where it was.
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
from streamgauge.measure.summary import Verdict


@dataclass
class Searching:
    """The search of one group of cases."""

    study: Study
    group: Group
    folder: Path
    station: Station
    subscriber: Subscriber
    new_state: Callable[[], RunState]
    confirmed_in: Path | None = None
    """The directory of the last confirmation that passed."""
    void_in: Path | None = None
    """The directory of the void confirmation that ended the search."""

    def run(self) -> SearchResult:
        self.folder.mkdir(parents=True, exist_ok=True)
        search = Search(self.group.settings)
        try:
            for logged in self._logged():
                search.tell(logged)
        except ValueError as error:
            raise UsageError(
                f"{self._log} does not fit this search: {error}",
                fix="it is damaged or of another version of streamgauge; begin a new run",
            ) from None
        while (order := search.next()) is not None:
            self._warm_up()
            number = len(search.result.tries) + 1
            run = self._confirm if order.kind == "confirm" else self._probe
            if (outcome := run(order, number)) is None:
                self.void_in = self._place(number)
                reasons = "; ".join(RunDirectory(self.void_in).read_trial_summary().reasons)
                text = f"the search ended at a void confirmation: {reasons}"
                return search.result.model_copy(update={"in_words": text})
            with self._log.open("a") as log:
                log.write(outcome.model_dump_json() + "\n")
            search.tell(outcome)
        for number, outcome in enumerate(search.result.tries, 1):
            if (outcome.kind, outcome.verdict) == ("confirm", "passed"):
                self.confirmed_in = self._place(number)
        return search.result

    def _logged(self) -> list[ProbeOutcome]:
        if not self._log.exists():
            return []
        # A line that was cut off by a crash is a probe that has to be repeated.
        lines = [line for line in self._log.read_text().splitlines(keepends=True) if "\n" in line]
        self._log.write_text("".join(lines))
        return [ProbeOutcome.model_validate_json(line) for line in lines]

    @property
    def _log(self) -> Path:
        return self.folder / "probes.ndjson"

    def _place(self, number: int) -> Path:
        return self.folder / f"probe-{number:02d}"

    def _warm_up(self) -> None:
        """Puts a cold system, which is slower, under a load that is not judged."""
        length_us, rate = self.study.warm_up_us(self.group), self.group.settings.first_per_s
        plan = plan_at(self.group.experiment, self.study.base, rate, length_us or None)
        if not length_us or self.station.is_warm(plan):
            return
        text = f"warming up at {writing.rate(rate)}"
        with self._trial(plan, self.folder / "warm-up", text) as trial:
            trial.load()
        self.station.mark_warm()

    def _probe(self, order: ProbeOrder, number: int) -> ProbeOutcome:
        experiment = self.group.experiment
        plan = plan_at(experiment, self.study.base, order.rate_per_s, order.length_us)
        judge = self._judge(order, plan)
        text = f"probe {number} at {writing.rate(order.rate_per_s)}"
        with self._trial(plan, self._place(number), text) as trial:
            broken = trial.probe(judge, policies_count=order.kind != "saturate")
            lag_us = trial.lag_p99_us
        if broken is None and order.kind != "saturate" and lag_us > experiment.load.max_lag:
            return judge.late(f"the generator itself was late: p99 lag {lag_us / 1_000:.0f} ms")
        return judge.finish(broken)

    @contextmanager
    def _trial(self, plan: Plan, folder: Path, text: str) -> Iterator[Trial]:
        """A started trial whose results are not checked; `text` describes its progress."""
        directory = RunDirectory.inside(folder)
        directory.keep(plan.stored)

        def tell(note: str) -> None:
            phase = "load" if trial.start_us else "start"
            progress = Progress(phase, f"{text}: {note}" if note else text)
            self.subscriber(trial.with_figures(progress))

        trial = Trial(plan, directory, self.station, RunLog(LogFile(directory.events)), tell)
        with trial.processes():
            trial.start()
            yield trial
            trial.abandon()

    def _judge(self, order: ProbeOrder, plan: Plan) -> ProbeJudge:
        precision = self.group.settings.precision
        return judge_of(order, precision, plan.channel.basis, plan.system.pause_us)

    def _confirm(self, order: ProbeOrder, number: int) -> ProbeOutcome | None:
        """None if the trial is void, because nothing is known about the rate then.

        Only a late generator fails the rate: at a lower one it may be in time.
        """
        at_rate = plan_at(self.group.experiment, self.study.base, order.rate_per_s)
        plan = replace(at_rate, at_maximum=True)
        directory = RunDirectory.inside(self._place(number))
        judge = self._judge(order, plan)
        state = self.new_state()
        summary = Measurement(plan, directory, self.station, self.subscriber, state).run(judge)
        if summary.verdict is Verdict.VOID:
            lag_ms = max((instance.lag_p99_ms for instance in summary.driver), default=0.0)
            late = lag_ms > plan.experiment.load.max_lag / 1_000
            return judge.late("; ".join(summary.reasons)) if late else None
        latency = summary.latency_ms.event_time
        if summary.sustained and latency.growing:
            return judge.finish(f"the latency grows by {latency.growth_per_s:,.0f} ms per second")
        unsustained = "; ".join(summary.unsustained_because)
        return judge.finish(None if summary.sustained else unsustained)
