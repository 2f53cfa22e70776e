"""Runs that never happened: summaries and run directories for tests."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import Any

from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.measure.summary import Series, StudySummary, Summary, TrialSummary

STATISTICS = {"count": 1_000, "mean": 900.0, "min": 400.0, "max": 2_400.0, "p50": 850.0}


def summary(**changes: Any) -> TrialSummary:
    """Of a run that went well."""
    return TrialSummary.model_validate(
        {
            "name": "quickstart",
            "run": "2026-01-02-1-quickstart",
            "verdict": "valid",
            "sustained": True,
            "offered_per_s": 100_000.0,
            "drained_per_s": 99_990.0,
            "latency_ms": {
                "event_time": {**STATISTICS, "p99": 1_234.0},
                "processing_time": STATISTICS,
            },
            "validation": {
                "expected": 60_000,
                "actual": 60_000,
                "missing": 0,
                "extra": 0,
                "duplicate": 0,
                "wrong": 0,
                "late": 0,
                "oracle": "independent",
            },
            "thresholds": [
                {"expression": "event_time.p99 < 5 s", "value": 1_234.0, "passed": True}
            ],
            **changes,
        }
    )


def study(**changes: Any) -> StudySummary:
    """Of a study with the figures of that run; it needs `trials`."""
    only_of_trials = {"driver", "monitor", "functions", "varied", "repetition"}
    return StudySummary.model_validate({**summary().model_dump(exclude=only_of_trials), **changes})


def stored(runs: Path, found: Summary | None, *, age_s: float = 0.0) -> RunDirectory:
    """A run directory; without a summary it is that of a run which goes on or was killed."""
    directory = RunDirectory.create(runs, "quickstart", datetime(2026, 1, 2))
    directory.experiment.write_text("name: quickstart\n")
    if found is not None:
        directory.write(directory.summary, found.model_copy(update={"run": directory.path.name}))
        directory.write(directory.series, Series())
    make_older(directory.path, age_s)
    return directory


def make_older(folder: Path, age_s: float) -> None:
    """Sets the times of everything below back by that long."""
    for path in (folder, *folder.rglob("*")):
        moment = path.lstat().st_mtime - age_s
        os.utime(path, (moment, moment), follow_symlinks=False)
