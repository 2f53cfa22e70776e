"""Runs a plan from its start to its report, and keeps what was measured however it ends."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import FrameType

import yaml

from streamgauge.component import LARGE_ARRAYS, Component, module_argv
from streamgauge.errors import ExitCode, RunInterrupted, StreamgaugeError
from streamgauge.experiments.environment import Environment
from streamgauge.experiments.plan import (
    MEASURE_ESTIMATE_US,
    MEASURE_SHARE,
    START_ESTIMATE_US,
    Plan,
)
from streamgauge.experiments.progress import PHASES, Observer, Progress
from streamgauge.experiments.run_directory import RunDirectory
from streamgauge.experiments.summarise import Facts, summarise
from streamgauge.experiments.trial import Trial
from streamgauge.guard import Guard
from streamgauge.measure.calculate import CalculationConfig, Findings
from streamgauge.measure.record import RunRecord
from streamgauge.measure.summary import Status
from streamgauge.report.html import write_report
from streamgauge.systems.spark.java import find_java
from streamgauge.systems.spark.session import spark_env

CALCULATION_TIMEOUT_S = 1_800.0


def execute(
    plan: Plan, runs_dir: Path, observer: Observer, *, command: str, quick: bool = False
) -> RunDirectory:
    """Runs it; afterwards the directory has a summary and a report, even if an error is raised."""
    environment = Environment.look(plan.system)
    directory = RunDirectory.create(runs_dir, plan.experiment.name, datetime.now())
    observer.started(directory.path)
    facts = Facts(command=command, quick=quick, environment=environment)
    run = _Run(plan, directory, observer, facts)
    failure: StreamgaugeError | None = None
    with interruptible():
        try:
            run.measure(run.trial())
        except StreamgaugeError as error:
            failure = error
        except Exception as error:
            run.conclude(StreamgaugeError(f"unexpected {type(error).__name__}: {error}"))
            raise
        run.conclude(failure)
    if failure is not None:
        failure.run = directory.path
        raise failure
    return directory


class _Run:
    def __init__(
        self, plan: Plan, directory: RunDirectory, observer: Observer, facts: Facts
    ) -> None:
        self._plan = plan
        self._directory = directory
        self._observer = observer
        self._began = self._phase_began = time.monotonic()
        self._phase = PHASES[0]
        self._note = ""
        self._trial: Trial | None = None
        self._facts = facts
        experiment = plan.experiment.model_dump(
            mode="json", exclude={"quick": True, "channel": {"token"}}
        )
        directory.experiment.write_text(yaml.safe_dump(experiment, sort_keys=False))
        directory.write(directory.environment, facts.environment)
        _keep_own_query(plan, directory)
        directory.log_event("run", command=facts.command)

    def trial(self) -> RunRecord:
        """Load and drain; the processes are gone afterwards."""
        with Guard() as guard:
            trial = self._trial = Trial(self._plan, self._directory, guard, self._tell)
            with trial.processes():
                self._enter("start")
                trial.start()
                self._enter("load")
                trial.load()
                self._enter("drain")
                drained = trial.drain()
                record = trial.close(drained=drained)
            self._facts.monitor = trial.monitor_cost
        self._directory.write(self._directory.record, record)
        self._facts.record = record
        return record

    def measure(self, record: RunRecord) -> None:
        """Latency and validity, on Spark, from the run directory."""
        self._enter("measure")
        with Guard() as guard:
            config = CalculationConfig(
                record=self._directory.record,
                results=self._directory.results,
                handovers={
                    stream: [
                        self._directory.driver(number) / "handovers"
                        for number in record.load.instances_of(stream)
                    ]
                    for stream in record.load.streams
                },
                master=self._plan.experiment.measure_master,
                scratch=guard.scratch,
            )
            path = guard.scratch / "calculation.json"
            path.write_text(config.model_dump_json())
            calculation = Component(
                "the calculation",
                module_argv("streamgauge.measure.calculate", str(path)),
                log=self._directory.logs / "measure.log",
                env={
                    **LARGE_ARRAYS,
                    **guard.env,
                    **find_java().env(guard.scratch),
                    **spark_env(config.master),
                },
            )

            def tell() -> None:
                self._tell(str(calculation.latest.get("phase", {}).get("name", "")))

            try:
                done = calculation.wait_for("finished", CALCULATION_TIMEOUT_S, meanwhile=tell)
            finally:
                calculation.stop()
        self._facts.findings = Findings.model_validate(done["findings"])

    def conclude(self, failure: StreamgaugeError | None) -> None:
        """Summary, series and report of whatever there is."""
        self._enter("report")
        if isinstance(failure, RunInterrupted):
            self._facts.status = Status.INTERRUPTED
        elif failure is not None:
            self._facts.status = Status.FAILED
            self._facts.failure = failure.cause
        summary, series = summarise(self._plan, self._directory, self._facts)
        self._directory.write(self._directory.series, series)
        self._directory.write(self._directory.summary, summary)
        write_report(summary, series, self._directory.report)
        self._directory.log_event("end", status=summary.status.value, verdict=summary.verdict.value)
        self._observer.finished(summary)

    def _enter(self, phase: str) -> None:
        self._end_phase()
        self._phase, self._note = phase, ""
        self._directory.log_event("phase", name=phase)
        self._tell("")

    def _end_phase(self) -> None:
        now = time.monotonic()
        spent = self._facts.phases_s.get(self._phase, 0.0) + now - self._phase_began
        self._facts.phases_s[self._phase] = round(spent, 2)
        self._phase_began = now

    def _tell(self, note: str) -> None:
        if note and note != self._note:
            self._directory.log_event("note", text=note)
        self._note = note or self._note
        self._observer.progress(self._progress())

    def _progress(self) -> Progress:
        loading = self._trial is not None and self._phase in ("load", "drain")
        statuses = self._trial.statuses if self._trial is not None and loading else []
        if not statuses or self._trial is None:
            return Progress(self._phase, self._note, self._elapsed_s, self._remaining_s)
        sink = self._trial.sink_status
        seconds = max(0.1, statuses[0].time_us / 1e6)
        return Progress(
            phase=self._phase,
            note=self._note,
            elapsed_s=self._elapsed_s,
            remaining_s=self._remaining_s,
            offered_per_s=sum(status.offered for status in statuses) / seconds,
            drained_per_s=sum(status.drained for status in statuses) / seconds,
            queued=sum(status.queued for status in statuses),
            results=sink.results,
            latency_ms=sink.last_latency_ms,
        )

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


def _keep_own_query(plan: Plan, directory: RunDirectory) -> None:
    """A run directory explains itself, so the file of a user's query goes into it."""
    location, _, _ = plan.query_config.name.rpartition(":")
    if location.endswith(".py"):
        shutil.copy(plan.base / location, directory.path)


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C and SIGTERM become `RunInterrupted`; a second one ends everything at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def at_once(_: int, __: FrameType | None) -> None:
        # The guard outlives us and cleans up.
        os._exit(ExitCode.INTERRUPTED)

    def interrupt(_: int, __: FrameType | None) -> None:
        for number in signals:
            signal.signal(number, at_once)
        raise RunInterrupted(
            "interrupted", fix="what was measured until then is in the run directory"
        )

    before = {number: signal.signal(number, interrupt) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
