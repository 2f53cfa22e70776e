"""Running an experiment from Python: `streamgauge.run("quickstart", quick=True)`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamgauge.errors import ExitCode, UsageError
from streamgauge.experiments.notebook import as_html, in_words, notebook_progress
from streamgauge.experiments.planning.files import read_experiment
from streamgauge.experiments.planning.lines import naming_lines
from streamgauge.experiments.planning.study import make_study
from streamgauge.experiments.running.log import Event, Subscriber
from streamgauge.experiments.running.run_directory import DEFAULT_RUNS, RunDirectory
from streamgauge.experiments.running.runner import begun, execute
from streamgauge.measure.outcome import outcome_of
from streamgauge.measure.summary import Series, StudySummary, Summary


@dataclass(frozen=True, repr=False)
class Result:
    """The summary of a run, and its directory; a notebook shows headline, figures and charts."""

    summary: Summary
    path: Path

    @classmethod
    def read(cls, path: str | Path) -> Result:
        """The result of an earlier run, from its directory or its name in `runs`."""
        directory = RunDirectory.open(str(path), DEFAULT_RUNS)
        return cls(directory.read()[0], directory.path)

    def __repr__(self) -> str:
        return f"<Result: {in_words(self.summary)}, {self.path}>"

    def _repr_html_(self) -> str:
        series = Series() if isinstance(self.summary, StudySummary) else self.series
        return as_html(self.summary, self.path, series)

    @property
    def report(self) -> Path:
        return RunDirectory(self.path).report

    @property
    def trials(self) -> list[Result]:
        """The trials of a study; empty for a single trial."""
        trials = self.summary.trials if isinstance(self.summary, StudySummary) else []
        return [Result(trial, self.path / trial.run) for trial in trials]

    @property
    def series(self) -> Series:
        """The series of a trial, each with `to_pandas()`."""
        if isinstance(self.summary, StudySummary):
            raise UsageError(
                f"{self.path.name} is a study, which has no series of its own",
                fix="take those of a trial, such as `result.trials[0].series`",
            )
        return RunDirectory(self.path).read_series()

    @property
    def exit_code(self) -> ExitCode:
        return outcome_of(self.summary).exit_code


def run(
    experiment: str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    quick: bool = False,
    runs_dir: str | Path = DEFAULT_RUNS,
    subscriber: Subscriber | None = None,
) -> Result:
    """Runs an experiment file or a built-in experiment, and returns when it has ended.

    A notebook shows the progress below the cell, unless there is a subscriber.
    Raises ExperimentError for a wrong file, ComponentError when a component does not start or dies,
    and RunInterrupted at Ctrl-C; a bad verdict raises nothing.
    """
    changes = [
        f"{key}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in (settings or {}).items()
    ]
    with naming_lines(str(experiment), changes, quick=quick):
        study = make_study(*read_experiment(str(experiment), changes, quick=quick))
    command = repeat_command(str(experiment), changes, quick=quick)
    watch = subscriber or notebook_progress() or _ignore
    directory = execute(study, Path(runs_dir), watch, command=command, quick=quick)
    return Result.read(directory.path)


def resume(
    run: str | Path, *, runs_dir: str | Path = DEFAULT_RUNS, subscriber: Subscriber | None = None
) -> Result:
    """Resumes a study that was interrupted or has failed trials."""
    watch = subscriber or notebook_progress() or _ignore
    directory = begun(str(run), Path(runs_dir)).proceed(watch)
    return Result.read(directory.path)


def repeat_command(experiment: str, settings: list[str], *, quick: bool) -> str:
    """The command line that repeats a run."""
    options = [part for setting in settings for part in ("--set", setting)]
    options += ["--quick"] if quick else []
    return shlex.join(["streamgauge", "run", experiment, *options])


def _ignore(_: Event) -> None: ...
