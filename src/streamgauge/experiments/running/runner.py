"""Runs an experiment, a trial or a whole study, and keeps what was measured however it ends."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import FrameType

from pydantic import BaseModel, ConfigDict

from streamgauge.errors import ExitCode, RunInterrupted, StreamgaugeError, UsageError
from streamgauge.experiments.planning.files import read_experiment
from streamgauge.experiments.planning.study import Study, make_study
from streamgauge.experiments.running.environment import Environment
from streamgauge.experiments.running.log import RunStarted, Subscriber
from streamgauge.experiments.running.measurement import Measurement
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.experiments.running.station import Station
from streamgauge.experiments.running.study_run import StudyRun
from streamgauge.experiments.summarising.trial import RunState


class Origin(BaseModel):
    """`RUN/origin.json`: what a study needs to know of its beginning to go on."""

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
    _keep_own_query(study, directory)
    return _proceed(study, directory, origin, subscriber)


@dataclass(frozen=True)
class Begun:
    """A study that was begun before."""

    study: Study
    directory: RunDirectory
    origin: Origin

    def proceed(self, subscriber: Subscriber) -> RunDirectory:
        """Does whatever has not been done yet."""
        return _proceed(self.study, self.directory, self.origin, subscriber)


def begun(run: str, runs_dir: Path) -> Begun:
    """A sweep or search that did not come to its end."""
    directory = RunDirectory.open(run, runs_dir)
    if not directory.origin.exists():
        raise UsageError(
            f"`{run}` does not say how it was begun, so it cannot go on", fix="begin a new run"
        )
    origin = Origin.model_validate_json(directory.origin.read_text())
    if directory.finished:
        raise UsageError(
            f"`{run}` came to its end; there is nothing to resume",
            fix=f"repeat it with `{origin.command}`",
        )
    experiment, _ = read_experiment(str(directory.experiment))
    study = make_study(experiment, origin.base if origin.base.is_dir() else directory.path)
    if study.is_single:
        raise UsageError(
            f"`{run}` is a single trial, which has no finished parts to go on from",
            fix=f"repeat it with `{origin.command}`",
        )
    return Begun(study, directory, origin)


def _proceed(
    study: Study, directory: RunDirectory, origin: Origin, subscriber: Subscriber
) -> RunDirectory:
    environment = Environment.look(study.first_plan.system)
    subscriber(RunStarted(directory.path))

    def facts() -> RunState:
        return RunState(command=origin.command, quick=origin.quick, environment=environment)

    try:
        with interruptible(), Station(directory.logs) as station:
            if study.is_single:
                plan = study.first_plan
                Measurement(plan, directory, station, subscriber, facts(), last=True).run()
            else:
                StudyRun(study, directory, station, subscriber, facts).run()
    except StreamgaugeError as error:
        error.run = directory.path
        raise
    return directory


def _keep_own_query(study: Study, directory: RunDirectory) -> None:
    """A run directory explains itself, so the file of a user's query goes into it."""
    location, _, _ = study.first_plan.query_config.name.rpartition(":")
    if location.endswith(".py"):
        shutil.copy(study.base / location, directory.path)


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
