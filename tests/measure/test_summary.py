"""Reading summaries: which kind a file holds, and which versions are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from streamgauge.errors import UsageError
from streamgauge.measure.record import RunRecord
from streamgauge.measure.summary import (
    FAULTS,
    StudySummary,
    TrialSummary,
    Validation,
    read_summary,
    read_trial_summary,
)
from streamgauge.version import FORMAT_VERSION
from tests.compare import made_up


def written(path: Path, found: BaseModel, **changes: Any) -> Path:
    path.write_text(json.dumps({**found.model_dump(mode="json"), **changes}))
    return path


def test_a_summary_with_trials_is_that_of_a_study(tmp_path: Path) -> None:
    trial, study = made_up.single(), made_up.repeated([800, 810])
    assert read_summary(written(tmp_path / "trial.json", trial)) == trial
    assert read_summary(written(tmp_path / "study.json", study)) == study
    nothing = StudySummary(name="n", run="r", trials=[])
    assert read_summary(written(tmp_path / "nothing.json", nothing)) == nothing


def test_the_summary_of_a_study_is_refused_as_that_of_a_trial(tmp_path: Path) -> None:
    path = written(tmp_path / "study.json", made_up.repeated([800, 810]))
    with pytest.raises(ValidationError):
        read_trial_summary(path)


@pytest.mark.parametrize("version", [1, FORMAT_VERSION + 1, "2"])
@pytest.mark.parametrize("read", [read_summary, read_trial_summary])
def test_another_format_version_is_refused_with_a_fix(
    tmp_path: Path, read: Any, version: object
) -> None:
    path = written(tmp_path / "summary.json", made_up.single(), format_version=version)
    with pytest.raises(
        UsageError, match=f"format version {version}, and .* {FORMAT_VERSION}\nfix: "
    ) as caught:
        read(path)
    assert "run the experiment again" in caught.value.fix


def test_a_summary_from_before_there_were_versions_is_refused(tmp_path: Path) -> None:
    data = made_up.single().model_dump(mode="json", exclude={"format_version"})
    path = tmp_path / "summary.json"
    path.write_text(json.dumps(data))
    with pytest.raises(UsageError, match="format version 1"):
        read_summary(path)


@pytest.mark.parametrize("text", ["[]", "3", '"name"'])
def test_a_file_without_an_object_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "summary.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="is not a summary"):
        read_summary(path)


def test_record_and_summaries_carry_the_version() -> None:
    for model in (TrialSummary, StudySummary, RunRecord):
        assert model.model_fields["format_version"].default == FORMAT_VERSION


def test_scripts_find_the_fields_of_the_contract() -> None:
    """The named fields of `summary.json`, see the contract in `docs/architecture.md`."""
    head = {"verdict", "sustained", "input_hash", "seed", "versions", "machine", "thresholds"}
    measured = {"offered_per_s", "drained_per_s", "latency_ms", "validation"}
    search = {"maximum_sustainable_per_s", "passed", "failed", "tries"}
    for model in (TrialSummary, StudySummary):
        assert head | measured | search | {"parameters"} <= set(model.model_fields)
    assert {"trials", "cases"} <= set(StudySummary.model_fields)
    assert set(FAULTS) < set(Validation.model_fields)
