"""One trial from its start to its report; what was measured is kept however it ends."""

from __future__ import annotations

import time

from streamgauge.errors import RunInterrupted, StreamgaugeError
from streamgauge.experiments.planning.plan import (
    MEASURE_ESTIMATE_US,
    MEASURE_SHARE,
    START_ESTIMATE_US,
    Plan,
)
from streamgauge.experiments.running.log import (
    PHASES,
    Ended,
    Finished,
    LogFile,
    Noted,
    PhaseEntered,
    Progress,
    RunLog,
    Subscriber,
    TrialStarted,
)
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.experiments.running.station import Station
from streamgauge.experiments.running.trial import Trial
from streamgauge.experiments.summarising.trial import RunState, summarise_trial
from streamgauge.measure.calculate import CalculationWork
from streamgauge.measure.record import RunRecord
from streamgauge.measure.search import ProbeJudge
from streamgauge.measure.summary import Status, TrialSummary
from streamgauge.measure.verdict import sustained
from streamgauge.report.html import write_report


class Measurement:
    """One trial with its calculation, in a directory of its own."""

    def __init__(
        self,
        plan: Plan,
        directory: RunDirectory,
        station: Station,
        subscriber: Subscriber,
        facts: RunState,
        *,
        last: bool = False,
    ) -> None:
        self._plan = plan
        self._directory = directory
        self._station = station
        self._log = RunLog(LogFile(directory.events), subscriber)
        self._last = last
        self._began = self._phase_began = time.monotonic()
        self._phase = PHASES[0]
        self._note = ""
        self._trial: Trial | None = None
        self._facts = facts
        directory.keep(plan.stored)
        directory.write(directory.environment, facts.environment)
        self._log.publish(TrialStarted(facts.command))

    def run(self, judge: ProbeJudge | None = None) -> TrialSummary:
        """Trial, calculation, summary and report.

        A rate that a search cannot confirm is not worth a calculation.
        Whatever there is has been summarised and reported when an error is raised.
        """
        failure: StreamgaugeError | None = None
        try:
            record = self.trial(judge)
            if judge is None or _held(record, judge):
                self.measure(record)
            else:
                self._facts.unmeasured = "its results were not checked: the rate did not hold"
        except StreamgaugeError as error:
            failure = error
        except Exception as error:
            self.conclude(StreamgaugeError(f"unexpected {type(error).__name__}: {error}"))
            raise
        summary = self.conclude(failure)
        if failure is not None:
            raise failure
        return summary

    def trial(self, judge: ProbeJudge | None = None) -> RunRecord:
        """Load and drain; driver instances and sink are gone afterwards."""
        trial = self._trial = Trial(
            self._plan, self._directory, self._station, self._log, self._tell
        )
        with trial.processes():
            self._enter("start")
            trial.start()
            self._enter("load")
            trial.measured_load(judge)
            self._enter("drain")
            drained = trial.drain()
            record = trial.close(drained=drained)
        self._facts.monitor = trial.monitor_cost
        self._facts.diagnostics = trial.diagnostics
        self._directory.write(self._directory.record, record)
        self._facts.record = record
        return record

    def measure(self, record: RunRecord) -> None:
        """Latency and validity, on Spark, from the directory."""
        self._enter("measure")
        if self._last:
            # Nobody needs the system any more, and the calculation is glad of its memory.
            self._station.stop_system()
        work = CalculationWork(
            record=self._directory.record,
            results=self._directory.results,
            handovers={
                stream: [
                    self._directory.driver(number) / "handovers"
                    for number in record.load.instances_of(stream)
                ]
                for stream in record.load.streams
            },
        )
        master = self._plan.experiment.measure_master
        self._facts.findings = self._station.calculate(work, master, self._tell)

    def conclude(self, failure: StreamgaugeError | None) -> TrialSummary:
        """Summary, series and report of whatever there is."""
        self._enter("report")
        if isinstance(failure, RunInterrupted):
            self._facts.status = Status.INTERRUPTED
        elif failure is not None:
            self._facts.status = Status.FAILED
            self._facts.failure = failure.cause
        summary, series = summarise_trial(self._plan, self._directory, self._facts)
        self._directory.write(self._directory.series, series)
        self._directory.write(self._directory.summary, summary)
        write_report(summary, series, self._directory.report)
        self._log.publish(Ended(summary.status.value, summary.verdict.value))
        self._log.publish(Finished(summary))
        return summary

    def _enter(self, phase: str) -> None:
        self._end_phase()
        self._phase, self._note = phase, ""
        self._log.publish(PhaseEntered(phase))
        self._tell("")

    def _end_phase(self) -> None:
        now = time.monotonic()
        spent = self._facts.phases_s.get(self._phase, 0.0) + now - self._phase_began
        self._facts.phases_s[self._phase] = round(spent, 2)
        self._phase_began = now

    def _tell(self, note: str) -> None:
        if note and note != self._note:
            self._log.publish(Noted(note))
        self._note = note or self._note
        self._log.publish(self._progress())

    def _progress(self) -> Progress:
        times = (self._elapsed_s, self._remaining_s)
        if self._trial is None or self._phase not in ("load", "drain"):
            return Progress(self._phase, self._note, *times)
        return self._trial.progress(self._phase, self._note, *times)

    @property
    def _elapsed_s(self) -> float:
        return time.monotonic() - self._began

    @property
    def _remaining_s(self) -> float:
        duration = self._plan.experiment.duration
        expected = {
            "start": START_ESTIMATE_US,
            "load": duration,
            "measure": MEASURE_ESTIMATE_US + duration * MEASURE_SHARE,
        }
        left = [expected.get(phase, 0.0) for phase in PHASES[PHASES.index(self._phase) :]]
        here = time.monotonic() - self._phase_began
        return max(0.0, left[0] / 1e6 - here) + sum(left[1:]) / 1e6


def _held(record: RunRecord, judge: ProbeJudge) -> bool:
    kept_up, _ = sustained(record)
    return kept_up and judge.finish().verdict == "passed"
