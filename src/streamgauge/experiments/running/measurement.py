"""One trial from its start to its report; its measurements are kept however it ends."""

from __future__ import annotations

import time
from dataclasses import dataclass

from streamgauge.experiments.planning.plan import Plan
from streamgauge.experiments.planning.study import MEASURE_SHARE, MEASURE_US, START_US
from streamgauge.experiments.running import log
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.experiments.running.station import Station
from streamgauge.experiments.running.trial import Trial
from streamgauge.experiments.summarising.trial import RunState, summarise_trial
from streamgauge.measure.calculate import CalculationWork
from streamgauge.measure.record import RunRecord
from streamgauge.measure.search import ProbeJudge
from streamgauge.measure.summary import TrialSummary
from streamgauge.measure.verdict import sustained
from streamgauge.report.html import write_report


@dataclass
class Measurement:
    """One trial with its calculation, in a directory of its own."""

    plan: Plan
    directory: RunDirectory
    station: Station
    subscriber: log.Subscriber
    state: RunState
    last: bool = False
    """No trial follows: the calculation can have the memory of the system."""

    def __post_init__(self) -> None:
        self._log = log.RunLog(log.LogFile(self.directory.events), self.subscriber)
        self._began = self._phase_began = time.monotonic()
        self._phase, self._note = log.PHASES[0], ""
        self._trial: Trial | None = None
        self.directory.keep(self.plan.stored)
        self.directory.write(self.directory.environment, self.state.environment)
        self._log.publish(log.TrialStarted(self.state.command))

    def run(self, judge: ProbeJudge | None = None) -> TrialSummary:
        """Trial, calculation, summary and report, which are written also when an error is raised.

        The results of a rate that a search could not confirm are not checked.
        """
        try:
            record = self.trial(judge)
            if judge is None or (sustained(record)[0] and judge.finish().verdict == "passed"):
                self.measure(record)
            else:
                self.state.unmeasured = "its results were not checked: the rate did not hold"
        except Exception as error:
            self._conclude(error)
            raise
        return self._conclude()

    def trial(self, judge: ProbeJudge | None = None) -> RunRecord:
        """Load and drain; driver instances and sink are gone afterwards."""
        trial = Trial(self.plan, self.directory, self.station, self._log, self._tell)
        self._trial = trial
        with trial.processes():
            self._enter("start")
            trial.start()
            self._enter("load")
            trial.measured_load(judge)
            self._enter("drain")
            record = trial.close(drained=trial.drain())
        self.state.monitor = trial.monitor_cost
        self.state.diagnostics = trial.diagnostics
        self.state.record = record
        self.directory.write(self.directory.record, record)
        return record

    def measure(self, record: RunRecord) -> None:
        """Latency and validity, on Spark, from the directory."""
        self._enter("measure")
        if self.last:
            self.station.stop_system()
        work = calculation_work(self.directory, record)
        master = self.plan.experiment.measure_master
        self.state.findings = self.station.calculate(work, master, self._tell)

    def _conclude(self, failure: Exception | None = None) -> TrialSummary:
        """Summary, series and report of everything that was measured."""
        self._enter("report")
        self.state.end(failure)
        summary, series = summarise_trial(self.plan, self.directory, self.state)
        self.directory.write(self.directory.series, series)
        self.directory.write_summary(summary)
        write_report(summary, series, self.directory.report)
        self._log.publish(log.Ended(summary.status.value, summary.verdict.value))
        self._log.publish(log.Finished(summary))
        return summary

    def _enter(self, phase: str) -> None:
        now = time.monotonic()
        self.state.phases_s[self._phase] = round(now - self._phase_began, 2)
        self._phase, self._phase_began, self._note = phase, now, ""
        self._log.publish(log.PhaseEntered(phase))
        self._tell("")

    def _tell(self, note: str) -> None:
        if note and note != self._note:
            self._note = note
            self._log.publish(log.Noted(note))
        elapsed_s = time.monotonic() - self._began
        progress = log.Progress(self._phase, self._note, elapsed_s, self._remaining_s)
        if self._trial is not None and self._phase in ("load", "drain"):
            progress = self._trial.with_figures(progress)
        self._log.publish(progress)

    @property
    def _remaining_s(self) -> float:
        duration = self.plan.experiment.duration
        expected_us = {
            "start": START_US,
            "load": duration,
            "measure": MEASURE_US + duration * MEASURE_SHARE,
        }
        phases = log.PHASES[log.PHASES.index(self._phase) :]
        current, *later = (expected_us.get(phase, 0.0) / 1e6 for phase in phases)
        return max(0.0, current - (time.monotonic() - self._phase_began)) + sum(later)


def calculation_work(directory: RunDirectory, record: RunRecord) -> CalculationWork:
    """The files of a trial that its calculation reads."""
    handovers = {
        stream: [
            directory.driver(number) / "handovers" for number in record.load.instances_of(stream)
        ]
        for stream in record.load.streams
    }
    return CalculationWork(
        record=directory.record,
        results=directory.results,
        mirror=directory.mirror,
        handovers=handovers,
        log=directory.log,
        latencies=directory.latencies,
    )
