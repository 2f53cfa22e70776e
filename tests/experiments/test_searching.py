"""A search that is interrupted goes on, and asks no finished probe again; nothing is started."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from streamgauge.errors import RunInterrupted, UsageError
from streamgauge.experiments.planning.files import read_experiment
from streamgauge.experiments.planning.study import make_study
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.experiments.running.searching import Searching
from streamgauge.measure.search import ProbeJudge, ProbeOrder, ProbeOutcome, SearchResult
from streamgauge.measure.summary import TrialSummary
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
        self._keep(outcome, directory.path)
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
    nobody = cast(Any, None)
    return Pretended(study, study.groups[0], folder, nobody, lambda _: None, nobody, **changes)


def test_an_interrupted_search_goes_on_and_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
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
        assert second.confirmed is not None
        assert second.confirmed.offered_per_s == expected.maximum_sustainable_per_s


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


def test_a_confirmation_whose_generator_was_late_confirms_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Void:
        def __init__(self, *_: object) -> None: ...

        def run(self, _: ProbeJudge) -> TrialSummary:
            return made_up.summary(verdict="void", sustained=True, reasons=["100 ms late"])

    monkeypatch.setattr("streamgauge.experiments.running.searching.Measurement", Void)
    study = make_study(*read_experiment("quickstart", ["load.rate=search"]))
    nobody = cast(Any, None)
    search = Searching(study, study.groups[0], tmp_path, nobody, lambda _: None, lambda: nobody)
    outcome = search._confirm(ProbeOrder(1_000.0, 60_000_000, "confirm"), 1)
    assert (outcome.verdict, outcome.late, outcome.reason) == ("failed", True, "100 ms late")
    assert search.confirmed is None
