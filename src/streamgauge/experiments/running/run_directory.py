"""The run directory: the files of one run, each written as soon as its content is known."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel

from streamgauge.errors import ComponentError, UsageError
from streamgauge.measure.summary import (
    Series,
    Status,
    Summary,
    TrialSummary,
    read_summary,
    read_trial_summary,
)
from streamgauge.measure.summary_table import summary_csv

Model = TypeVar("Model", bound=BaseModel)
Content = TypeVar("Content")
LATEST = "latest"
DEFAULT_RUNS = Path("runs")


class RunDirectory:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.experiment = path / "experiment.yaml"
        self.environment = path / "environment.json"
        self.record = path / "record.json"
        self.events = path / "events.ndjson"
        self.results = path / "results"
        self.mirror = path / "mirror"
        self.log = path / "log"
        self.resources = path / "resources"
        self.logs = path / "logs"
        self.summary = path / "summary.json"
        self.table = path / "summary.csv"
        self.series = path / "series.json"
        self.latencies = path / "latencies.parquet"
        self.report = path / "report.html"
        self.origin = path / "origin.json"
        self.trials = path / "trials"
        self.searches = path / "searches"

    @classmethod
    def create(cls, runs: Path, name: str, today: datetime) -> RunDirectory:
        """`runs/<date>-<n>-<name>`, and `runs/latest` that points at it."""
        try:
            return cls._create(runs, name, today)
        except (OSError, ValueError) as error:
            cause = getattr(error, "strerror", None) or error
            fix = "choose a folder that can be written to (--runs-dir), or make room on its disk"
            raise ComponentError(f"cannot make a run in {runs}: {cause}", fix=fix) from error

    @classmethod
    def _create(cls, runs: Path, name: str, today: datetime) -> RunDirectory:
        runs.mkdir(parents=True, exist_ok=True)
        day = today.strftime("%Y-%m-%d")
        taken = [re.match(rf"{day}-(\d+)-", entry.name) for entry in runs.iterdir()]
        number = max((int(match[1]) for match in taken if match), default=0) + 1
        directory = cls(runs / f"{day}-{number}-{name}")
        try:
            directory.path.mkdir()
        except FileExistsError:
            # Another run has just taken the number.
            return cls._create(runs, name, today)
        directory.logs.mkdir()
        unfinished = runs / f".{LATEST}-{directory.path.name}"
        unfinished.symlink_to(directory.path.name)
        unfinished.replace(runs / LATEST)
        return directory

    @classmethod
    def open(cls, name: str, runs: Path) -> RunDirectory:
        """A run by its path or by its name below the runs folder."""
        for path in (Path(name), runs / name):
            # A name may be one that no file can have.
            with suppress(OSError, ValueError):
                if (path / "experiment.yaml").is_file():
                    return cls(path.resolve())
        raise UsageError(f"there is no run `{name}`", fix="`streamgauge list runs` shows all runs")

    @classmethod
    def inside(cls, path: Path) -> RunDirectory:
        """The directory of one trial of a study, empty."""
        shutil.rmtree(path, ignore_errors=True)
        directory = cls(path)
        directory.logs.mkdir(parents=True)
        return directory

    @property
    def address(self) -> str:
        """The name by which `open` finds it, or its path where it is not in the default folder."""
        default = self.path.parent.resolve() == DEFAULT_RUNS.resolve()
        return self.path.name if default else str(self.path)

    @property
    def finished(self) -> bool:
        return self.summary.is_file() and self.read_summary().status is Status.FINISHED

    def keep(self, experiment: Mapping[str, Any]) -> None:
        """The experiment as it was resolved, without secrets."""
        self.experiment.write_text(yaml.safe_dump(dict(experiment), sort_keys=False))

    def driver(self, instance: int) -> Path:
        return self.path / "driver" / str(instance)

    def write(self, path: Path, model: BaseModel) -> None:
        """Atomically: a reader sees the old file or the new one."""
        self._write(path, model.model_dump_json(indent=2) + "\n")

    def write_summary(self, summary: Summary) -> None:
        """The table first: a run with a summary is finished."""
        self._write(self.table, summary_csv(summary))
        self.write(self.summary, summary)

    def _write(self, path: Path, text: str) -> None:
        unfinished = path.with_suffix(".unfinished")
        # A name may hold bytes that are no UTF-8.
        unfinished.write_text(text, encoding="utf-8", errors="replace")
        unfinished.replace(path)

    def read(self) -> tuple[Summary, Series]:
        """Summary and series of a finished run; a study has no series of its own."""
        try:
            return self.read_summary(), self.read_series() if self.series.exists() else Series()
        except FileNotFoundError:
            raise UsageError(
                f"{self.path} has no summary: the run was killed or is still running",
                fix="choose another run; `streamgauge list runs` shows how each ended",
            ) from None

    def read_summary(self) -> Summary:
        return written_by_a_run(self.summary, read_summary)

    def read_trial_summary(self) -> TrialSummary:
        return written_by_a_run(self.summary, read_trial_summary)

    def read_series(self) -> Series:
        return written_by_a_run(self.series, read_json(Series))


def read_json(model: type[Model]) -> Callable[[Path], Model]:
    return lambda path: model.model_validate_json(path.read_text())


def written_by_a_run(path: Path, read: Callable[[Path], Content]) -> Content:
    """The content of a file; one that is damaged is refused by name."""
    try:
        return read(path)
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(
            f"{path} cannot be read ({type(error).__name__})",
            fix="it is damaged or of another version of streamgauge; run the experiment again",
        ) from error
