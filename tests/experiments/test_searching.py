"""A resumed search repeats no finished probe; void confirmations; nothing is started."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from streamgauge.errors import ExitCode, RunInterrupted, UsageError
from streamgauge.experiments.planning.files import read_experiment
from streamgauge.experiments.planning.study import make_study
from streamgauge.experiments.running.environment import Environment
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.experiments.running.searching import Searching
from streamgauge.experiments.running.study_run import StudyRun
from streamgauge.experiments.summarising.trial import RunState
from streamgauge.measure.outcome import outcome_of
from streamgauge.measure.search import ProbeJudge, ProbeOrder, ProbeOutcome, SearchResult
from streamgauge.measure.summary import Latency, LatencyStatistics, TrialSummary
from tests.cli import made_up

CAPACITY = 730_000.0


@dataclass
class Pretended(Searching):
    """Probes of a system that takes exactly its capacity; may be interrupted after some."""

    done: list[float] = field(default_factory=list)
    stop_after: int | None = None

    def _probe(self, order: ProbeOrder, number: int) -> ProbeOutcome:
        del number
        if self.stop_after is not None and len(self.done) == self.stop_after:
            raise RunInterrupted("interrupted")
        self.done.append(order.rate_per_s)
        return self._outcome(order)

    def _confirm(self, order: ProbeOrder, number: int) -> ProbeOutcome:
        outcome = self._probe(order, number)
        directory = RunDirectory.inside(self._place(number))
        found = made_up.summary(offered_per_s=order.rate_per_s, sustained=True)
        directory.write(directory.summary, found)
        return outcome

    def _outcome(self, order: ProbeOrder) -> ProbeOutcome:
        return ProbeOutcome(
            rate_per_s=order.rate_per_s,
            kind=order.kind,
            verdict="passed" if order.rate_per_s <= CAPACITY else "failed",
            length_us=order.length_us,
            drained_per_s=CAPACITY,
            error=0.01,
        )


def searching(folder: Path, **changes: Any) -> Pretended:
    settings = ["load.rate=search", "search.warm_up=0 s"]
    study = make_study(*read_experiment("quickstart", settings))
    unused = cast(Any, None)
    return Pretended(study, study.groups[0], folder, unused, lambda _: None, unused, **changes)


def test_a_resumed_search_has_the_same_result_as_an_uninterrupted_one(tmp_path: Path) -> None:
    whole = searching(tmp_path / "whole")
    expected: SearchResult = whole.run()
    assert expected.confirmed
    assert expected.maximum_sustainable_per_s == pytest.approx(CAPACITY, rel=0.06)
    assert len(whole.done) >= 3
    for stop_after in range(len(whole.done)):
        folder = tmp_path / str(stop_after)
        first = searching(folder, stop_after=stop_after)
        with pytest.raises(RunInterrupted):
            first.run()
        second = searching(folder)
        assert second.run() == expected
        assert first.done + second.done == whole.done
        assert second.confirmed_in is not None
        confirmed = RunDirectory(second.confirmed_in).read_trial_summary()
        assert confirmed.offered_per_s == expected.maximum_sustainable_per_s


def test_a_probe_whose_line_was_cut_off_by_a_crash_is_done_again(tmp_path: Path) -> None:
    whole = searching(tmp_path)
    expected = whole.run()
    log = tmp_path / "probes.ndjson"
    text = log.read_text()
    log.write_text(text[: len(text) - 20])
    again = searching(tmp_path)
    assert again.run() == expected
    assert again.done == whole.done[-1:]
    assert searching(tmp_path).run() == expected


def test_probes_of_another_search_are_refused_and_kept(tmp_path: Path) -> None:
    searching(tmp_path).run()
    log = tmp_path / "probes.ndjson"
    first, *others = log.read_text().splitlines(keepends=True)
    strange = ProbeOutcome.model_validate_json(first).model_copy(update={"rate_per_s": 12.0})
    text = strange.model_dump_json() + "\n" + "".join(others)
    log.write_text(text)
    with pytest.raises(UsageError, match="does not fit this search"):
        searching(tmp_path).run()
    assert log.read_text() == text


@pytest.mark.parametrize("damage", [b"nonsense\n", b"\xff\xfe\n", b"{}\n", b"[1]\n"])
def test_damaged_probes_are_refused(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "probes.ndjson").write_bytes(damage)
    with pytest.raises(UsageError, match="does not fit this search"):
        searching(tmp_path).run()


LATE = {
    "instance": 0,
    "stream": "purchases",
    "offered": 1,
    "drained": 1,
    "queue_max": 1,
    "queue_limits": (1, 2, 3),
    "lag_p99_ms": 150.0,
}


def void_confirmations(
    monkeypatch: pytest.MonkeyPatch, folder: Path, reason: str, lag_p99_ms: float
) -> Searching:
    """A search whose probes pass, and whose confirmations are void."""

    class Void:
        def __init__(self, _: object, directory: RunDirectory, *__: object) -> None:
            self._directory = directory

        def run(self, _: ProbeJudge) -> TrialSummary:
            driver = [{**LATE, "lag_p99_ms": lag_p99_ms}]
            found = made_up.summary(verdict="void", reasons=[reason], driver=driver)
            self._directory.write(self._directory.summary, found)
            return found

    monkeypatch.setattr("streamgauge.experiments.running.searching.Measurement", Void)
    settings = ["load.rate=search", "search.warm_up=0 s"]
    study = make_study(*read_experiment("quickstart", settings))
    unused = cast(Any, None)
    search = Searching(study, study.groups[0], folder, unused, lambda _: None, lambda: unused)
    pretended = searching(folder)
    monkeypatch.setattr(search, "_probe", pretended._probe)
    return search


def test_a_confirmation_whose_generator_was_late_fails_and_a_lower_rate_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = void_confirmations(monkeypatch, tmp_path, "150 ms late", 150.0)
    outcome = search._confirm(ProbeOrder(1_000.0, 60_000_000, "confirm"), 1)
    assert outcome is not None
    assert (outcome.verdict, outcome.late, outcome.reason) == ("failed", True, "150 ms late")
    tried = [one.rate_per_s for one in search.run().tries if one.kind == "confirm"]
    assert len(tried) > 1
    assert tried == sorted(tried, reverse=True)
    assert (search.confirmed_in, search.void_in) == (None, None)


def test_another_void_confirmation_ends_the_search_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = void_confirmations(monkeypatch, tmp_path, "the events differ", 3.0)
    found = search.run()
    assert found.maximum_sustainable_per_s is None
    assert found.in_words == "the search ended at a void confirmation: the events differ"
    assert [one for one in found.tries if one.kind == "confirm"] == []
    assert search.confirmed_in is None
    assert search.void_in is not None
    # The void confirmation is not among the outcomes, so a resumed search repeats it.
    assert '"confirm"' not in (tmp_path / "probes.ndjson").read_text()


def test_a_study_whose_search_ended_at_a_void_confirmation_is_void(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = RunDirectory.inside(tmp_path / "run")
    search = void_confirmations(
        monkeypatch, directory.searches / "01", "the events differ", lag_p99_ms=3.0
    )
    monkeypatch.setattr("streamgauge.experiments.running.study_run.Searching", lambda *_: search)
    environment = Environment(versions={}, machine={})
    unused = cast(Any, None)
    study_run = StudyRun(
        search.study, directory, unused, lambda _: None, lambda: RunState("", False, environment)
    )
    summary = study_run.run()
    assert outcome_of(summary).exit_code is ExitCode.VOID
    assert summary.reasons == ["the events differ"]
    assert summary.confidence.endswith("void confirmation: the events differ")
    (trial,) = summary.trials
    assert (directory.path / trial.run / "summary.json").is_file()


def test_a_rate_at_which_the_latency_grows_is_not_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Growing:
        def __init__(self, *_: object) -> None: ...

        def run(self, _: ProbeJudge) -> TrialSummary:
            latency = Latency(event_time=LatencyStatistics(growing=True, growth_per_s=90.0))
            return made_up.summary(sustained=True, latency_ms=latency)

    monkeypatch.setattr("streamgauge.experiments.running.searching.Measurement", Growing)
    study = make_study(*read_experiment("quickstart", ["load.rate=search"]))
    unused = cast(Any, None)
    search = Searching(study, study.groups[0], tmp_path, unused, lambda _: None, lambda: unused)
    outcome = search._confirm(ProbeOrder(1_000.0, 60_000_000, "confirm"), 1)
    assert outcome is not None
    assert (outcome.verdict, outcome.reason) == ("failed", "the latency grows by 90 ms per second")
    assert search.confirmed_in is None
