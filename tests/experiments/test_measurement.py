"""Which trials are calculated; nothing is started."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from streamgauge.experiments.planning.files import read_experiment
from streamgauge.experiments.planning.study import make_study
from streamgauge.experiments.running.environment import Environment
from streamgauge.experiments.running.measurement import Measurement
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.experiments.summarising.trial import RunState
from streamgauge.measure.record import RunRecord
from streamgauge.measure.search import BatchJudge, ProbeJudge, ProbeOrder, ProbeVerdict
from streamgauge.measure.summary import TrialSummary, Verdict
from streamgauge.queries.gaming.aggregation import AggregationQuery
from tests.measure.test_validation import record_of, replay_of


class Pretended(Measurement):
    """A trial that left this record."""

    record: RunRecord
    measured = False

    def trial(self, judge: BatchJudge | None = None) -> RunRecord:  # noqa: ARG002
        self.state.record = self.record
        return self.record

    def measure(self, record: RunRecord) -> None:  # noqa: ARG002
        self.measured = True


class Judge(BatchJudge):
    """Has a fixed verdict."""

    def __init__(self, verdict: ProbeVerdict) -> None:
        super().__init__(ProbeOrder(1_000.0, 60_000_000, "confirm"), precision=0.05)
        self._verdict = verdict


def measured(
    folder: Path,
    judge: ProbeJudge | None,
    *,
    unsustained_because: str = "",
    master: str = "local[2]",
) -> tuple[bool, TrialSummary]:
    study = make_study(*read_experiment("quickstart", [f"system.master={master}"]))
    plan = study.first_plan
    state = RunState("", quick=False, environment=Environment.of(plan.system))
    unused = cast(Any, None)
    trial = Pretended(plan, RunDirectory.inside(folder), unused, lambda _: None, state)
    record = record_of(replay_of(AggregationQuery(keys=5), seconds=1))
    changes = {"unsustained_because": unsustained_because}
    instances = [one.model_copy(update=changes) for one in record.instances]
    trial.record = record.model_copy(update={"instances": instances})
    summary = trial.run(judge)
    return trial.measured, summary


def test_a_rate_that_a_search_cannot_confirm_is_not_calculated(tmp_path: Path) -> None:
    done, summary = measured(tmp_path, Judge("passed"), unsustained_because="full")
    assert not done
    assert (summary.verdict, summary.sustained) == (Verdict.UNKNOWN, False)
    assert summary.unsustained_because[0].endswith("full")
    assert len(summary.reasons) == 1
    assert "did not hold" in summary.reasons[0]


@pytest.mark.parametrize(("verdict", "expected"), [("passed", True), ("failed", False)])
def test_a_confirmation_is_calculated_only_if_its_judge_passes_it(
    tmp_path: Path, verdict: ProbeVerdict, expected: bool
) -> None:
    done, _ = measured(tmp_path, Judge(verdict))
    assert done == expected


def test_a_demanded_rate_is_calculated_whether_it_holds_or_not(tmp_path: Path) -> None:
    done, summary = measured(tmp_path, None, unsustained_because="full")
    assert done
    assert summary.sustained is False


def test_what_the_monitor_cannot_see_of_a_foreign_cluster_is_said(tmp_path: Path) -> None:
    _, here = measured(tmp_path / "here", None)
    _, foreign = measured(tmp_path / "foreign", None, master="spark://elsewhere:7077")
    assert here.warnings == []
    (warning,) = foreign.warnings
    assert "not measured" in warning
