"""Running an experiment from Python: `streamgauge.run("quickstart", quick=True)`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamgauge.errors import ExitCode
from streamgauge.experiments.planning.files import read_experiment
from streamgauge.experiments.planning.study import make_study
from streamgauge.experiments.running.log import Event, Subscriber
from streamgauge.experiments.running.run_directory import DEFAULT_RUNS, RunDirectory
from streamgauge.experiments.running.runner import begun, execute
from streamgauge.experiments.summarising.outcome import exit_code
from streamgauge.measure.summary import Series, StudySummary, Summary


@dataclass(frozen=True)
class Result:
    """What came out of a run."""

    summary: Summary
    path: Path

    @classmethod
    def read(cls, path: str | Path) -> Result:
        """The result of an earlier run, from its directory."""
        return cls(RunDirectory(Path(path)).read_summary(), Path(path))

    @property
    def report(self) -> Path:
        return RunDirectory(self.path).report

    @property
    def trials(self) -> list[Result]:
        """Of a sweep or search; a single trial has none."""
        trials = self.summary.trials if isinstance(self.summary, StudySummary) else []
        return [Result(trial, self.path / trial.run) for trial in trials]

    @property
    def series(self) -> Series:
        return RunDirectory(self.path).read_series()

    @property
    def exit_code(self) -> ExitCode:
        return exit_code(self.summary)


def run(
    experiment: str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    quick: bool = False,
    runs_dir: str | Path = DEFAULT_RUNS,
    subscriber: Subscriber | None = None,
) -> Result:
    """Runs an experiment file or a built-in experiment and waits for the result.

    A bad verdict is not an exception; a component that does not start is (`ComponentError`), and
    so are a wrong file (`ExperimentError`) and Ctrl-C (`RunInterrupted`).
    """
    changes = [
        f"{key}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in (settings or {}).items()
    ]
    loaded, base = read_experiment(str(experiment), changes, quick=quick)
    study = make_study(loaded, base)
    command = repeat_command(str(experiment), changes, quick=quick)
    directory = execute(study, Path(runs_dir), subscriber or _ignore, command=command, quick=quick)
    return Result.read(directory.path)


def resume(
    run: str | Path, *, runs_dir: str | Path = DEFAULT_RUNS, subscriber: Subscriber | None = None
) -> Result:
    """Goes on with a sweep or search that was interrupted."""
    directory = begun(str(run), Path(runs_dir)).proceed(subscriber or _ignore)
    return Result.read(directory.path)


def repeat_command(experiment: str, settings: list[str], *, quick: bool) -> str:
    """The command line that does the same again."""
    parts = ["streamgauge", "run", experiment]
    for setting in settings:
        parts += ["--set", setting]
    if quick:
        parts.append("--quick")
    return shlex.join(parts)


def _ignore(_: Event) -> None: ...
