"""Results in Python and in a notebook, without a run."""

from __future__ import annotations

import html
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import streamgauge
from streamgauge.errors import UsageError
from streamgauge.experiments import notebook
from streamgauge.experiments.running.log import Finished, Progress, RunStarted
from streamgauge.measure.summary import LatencySeries, StudySummary
from tests.cli import made_up
from tests.report import samples, studies


@pytest.fixture
def trial(tmp_path: Path) -> streamgauge.Result:
    directory = made_up.stored(tmp_path, samples.summary().model_copy(update={"thresholds": []}))
    directory.write(directory.series, samples.series())
    return streamgauge.Result.read(directory.path)


@pytest.fixture
def study(tmp_path: Path) -> streamgauge.Result:
    lost = {"sustained": False, "unsustained_because": ["<the queue> grew"]}
    return streamgauge.Result(studies.study("cases", studies.two_cases(), **lost), tmp_path)


def test_a_result_has_a_short_repr(trial: streamgauge.Result, study: streamgauge.Result) -> None:
    assert repr(trial) == f"<Result: ✓ PASSED aggregation-latency, {trial.path}>"
    assert "✗ NOT SUSTAINED" in repr(study)
    for long in (trial.summary, trial.series, study.summary):
        assert len(repr(long)) < 200


def test_a_notebook_shows_headline_and_charts(
    trial: streamgauge.Result, study: streamgauge.Result
) -> None:
    shown = trial._repr_html_()
    before, _, frame = shown.partition('<iframe srcdoc="')
    assert "✓ PASSED" in before
    page = html.unescape(frame.partition('" onload=')[0])
    assert 'data-chart="latency"' in page
    assert "uPlot" in page
    of_study = study._repr_html_()
    assert "✗ NOT SUSTAINED" in of_study
    assert "<li>&lt;the queue&gt; grew</li>" in of_study


def test_series_and_latencies_are_tables(trial: streamgauge.Result) -> None:
    series = trial.series
    latency = series.latency.to_pandas()
    assert latency.index.name == "time_s"
    assert list(latency["event_time_p50"].dropna()) == [
        value for value in series.latency.event_time_p50 if value is not None
    ]
    assert len(series.pull.to_pandas()) == len(series.pull.time_s)
    assert series.resources.to_pandas()["driver", "memory_mb"].iloc[0] == 330
    assert series.histogram.to_pandas()["event_time"].sum() == sum(series.histogram.event_time)
    assert trial.summary.latency_ms.to_pandas().loc["p99", "event_time"] == 3120.5


def test_a_series_that_broke_off_is_a_table_too() -> None:
    cut = LatencySeries(time_s=[1.0, 2.0], event_time_p50=[3.0]).to_pandas()
    assert cut["event_time_p50"].to_list()[0] == 3.0
    assert cut["event_time_p50"].isna().to_list() == [False, True]


def test_a_study_has_no_series_and_says_where_they_are(study: streamgauge.Result) -> None:
    assert isinstance(study.summary, StudySummary)
    with pytest.raises(UsageError, match=r"trials\[0\]\.series"):
        _ = study.series


@pytest.mark.parametrize("path", ["nowhere", "."])
def test_a_path_that_is_no_run_is_refused_by_name(path: str) -> None:
    with pytest.raises(UsageError, match=f"there is no run `{path}`"):
        streamgauge.Result.read(path)


def test_an_error_as_text_has_its_fix() -> None:
    assert str(streamgauge.StreamgaugeError("it broke", fix="mend it")) == "it broke\nfix: mend it"
    assert str(streamgauge.StreamgaugeError("it broke")) == "it broke"


def test_the_public_names_can_be_completed() -> None:
    assert dir(streamgauge) == streamgauge.__all__


def test_progress_in_a_notebook_is_one_line_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []

    def display(*_: Any, **options: Any) -> Any:
        assert options["display_id"]
        return SimpleNamespace(update=lambda data, **_: lines.append(data["text/plain"]))

    monkeypatch.setitem(sys.modules, "ipykernel", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    watch = notebook.notebook_progress()
    assert watch is not None
    watch(RunStarted(Path("runs/1")))
    for _ in range(10):
        watch(Progress("load", "", 6.0, 32.0, 9_970.0))
    watch(Finished(made_up.summary()))
    assert lines == [
        "run: runs/1",
        "[6 s] load, offered 9,970/s, about 32 s left",
        "✓ PASSED quickstart",
    ]


def test_outside_a_notebook_there_is_no_progress() -> None:
    assert notebook.notebook_progress() is None
