"""Runs an experiment, a trial or a study; the measurements are kept however it ends."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from types import FrameType

from pydantic import BaseModel, ConfigDict

from streamgauge.errors import ExitCode, RunInterrupted, StreamgaugeError, UsageError
from streamgauge.experiments.planning.files import read_experiment
from streamgauge.experiments.planning.study import Study, make_study
from streamgauge.experiments.running.environment import Environment
from streamgauge.experiments.running.log import (
    Interrupted,
    LogFile,
    RunLog,
    RunStarted,
    Subscriber,
    Warned,
)
from streamgauge.experiments.running.measurement import Measurement
from streamgauge.experiments.running.run_directory import (
    RunDirectory,
    read_json,
    written_by_a_run,
)
from streamgauge.experiments.running.station import Station
from streamgauge.experiments.running.study_run import StudyRun
from streamgauge.experiments.summarising.trial import RunState
from streamgauge.processes.machine import other_work


class Origin(BaseModel):
    """`RUN/origin.json`: what is needed to resume the run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: str
    quick: bool
    base: Path


def execute(
    study: Study, runs_dir: Path, subscriber: Subscriber, *, command: str, quick: bool = False
) -> RunDirectory:
    """Runs it; afterwards the directory has a summary and a report, even if an error is raised."""
    directory = RunDirectory.create(runs_dir, study.experiment.name, datetime.now())
    origin = Origin(command=command, quick=quick, base=study.base)
    directory.write(directory.origin, origin)
    directory.keep(study.stored)
    own_query, _, _ = study.first_plan.query_config.name.rpartition(":")
    if own_query.endswith(".py"):
        shutil.copy(study.base / own_query, directory.path)
    return Begun(study, directory, origin).proceed(subscriber)


@dataclass(frozen=True)
class Begun:
    """A run with its directory, of which parts may be finished."""

    study: Study
    directory: RunDirectory
    origin: Origin

    def proceed(self, subscriber: Subscriber) -> RunDirectory:
        """Runs the parts that are not finished."""
        study, directory = self.study, self.directory
        environment = Environment.of(study.first_plan.system)
        run_log = RunLog(LogFile(directory.events), subscriber)
        warnings: list[str] = []

        def warn(text: str) -> None:
            warnings.append(text)
            run_log.publish(Warned(text))

        subscriber(RunStarted(directory.path))
        try:
            with interruptible(subscriber):
                _warn_if_busy(warn)
                with Station(directory.logs, warn) as station:
                    if study.first_plan.query.results_are_the_log:
                        environment = environment.with_limits(station.scratch)
                    origin = self.origin
                    new_state = partial(
                        RunState, origin.command, origin.quick, environment, warnings
                    )
                    if study.is_single:
                        plan, state = study.first_plan, new_state()
                        Measurement(plan, directory, station, subscriber, state, last=True).run()
                    else:
                        StudyRun(study, directory, station, subscriber, new_state).run()
        except StreamgaugeError as error:
            error.run = directory.path
            raise
        return directory


def _warn_if_busy(warn: Callable[[str], None]) -> None:
    others = other_work()
    if others.is_much:
        warn(f"this machine is busy, and figures may be worse than on an idle one: {others}")


def begun(run: str, runs_dir: Path) -> Begun:
    """A study that was interrupted or has failed trials, to be resumed."""
    directory = RunDirectory.open(run, runs_dir)
    if not directory.origin.exists():
        raise UsageError(
            f"`{run}` cannot be resumed: it has no {directory.origin.name}", fix="begin a new run"
        )
    origin = written_by_a_run(directory.origin, read_json(Origin))
    repeat = f"repeat it with `{origin.command}`"
    if directory.finished:
        raise UsageError(f"`{run}` is finished; there is nothing to resume", fix=repeat)
    experiment, _ = read_experiment(str(directory.experiment))
    study = make_study(experiment, origin.base if origin.base.is_dir() else directory.path)
    if study.is_single:
        raise UsageError(f"`{run}` is a single trial, which cannot be resumed", fix=repeat)
    return Begun(study, directory, origin)


@contextmanager
def interruptible(subscriber: Subscriber) -> Iterator[None]:
    """Ctrl-C and SIGTERM become `RunInterrupted`; a second one ends everything at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def at_once(_: int, __: FrameType | None) -> None:
        # The guard is another process, which cleans up.
        os._exit(ExitCode.INTERRUPTED)

    def interrupt(_: int, __: FrameType | None) -> None:
        for number in signals:
            signal.signal(number, at_once)
        subscriber(Interrupted())
        fix = "what was measured until then is in the run directory"
        raise RunInterrupted("interrupted", fix=fix)

    before = {number: signal.signal(number, interrupt) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
