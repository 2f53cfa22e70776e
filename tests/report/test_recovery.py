"""The recovery of a run and of a study, as a report shows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.measure.recovery_figures import FaultRecovery, Recovery
from streamgauge.measure.summary import FaultWindow
from streamgauge.report.html import render_report
from streamgauge.report.recovery import parts_of
from tests.report import samples, studies
from tests.report.page import Page

KILLED = FaultRecovery(
    name="kill executor",
    victim="executor 1",
    at_s=30.0,
    recovered=True,
    outage_ms=4_000,
    reload_ms=3_500,
    replay_ms=250,
    p99_back_ms=9_000,
    recovery_ms=9_000,
    late_results=40,
)
DEAD = FaultRecovery(name="kill program", victim="spark", at_s=45.0)
UNDONE = FaultRecovery(name="kill worker", at_s=50.0, done=False, failed="there was no worker")
RECOVERY = Recovery(
    faults=[KILLED, DEAD, UNDONE],
    outage_ms=4_000,
    reload_ms=3_500,
    replay_ms=250,
    guarantee_claimed="exactly once",
    guarantee_shown="at least once",
)


@pytest.fixture
def page() -> Page:
    windows = [FaultWindow(start_s=30, end_s=39, label="kill executor")]
    series = samples.series().model_copy(update={"faults": windows})
    return Page(render_report(samples.summary().model_copy(update={"recovery": RECOVERY}), series))


def test_every_chart_over_time_shades_the_fault(page: Page) -> None:
    over_time = [chart for chart in page.charts().values() if chart["group"] == "time"]
    assert len(over_time) >= 4
    for chart in over_time:
        bands = [(band["start"], band["end"], band["label"]) for band in chart["bands"]]
        assert (30, 39, "kill executor") in bands


def test_the_parts_of_a_recovery_add_up() -> None:
    assert sum(length for _, length in parts_of(KILLED)) == KILLED.recovery_ms
    assert [length for _, length in parts_of(DEAD)] == [0, 0, 0]


def test_each_fault_has_its_row(page: Page) -> None:
    row = page.row("kill executor at 30.0 s (executor 1)")
    assert row[1:4] == ["4.00 s", "3.50 s", "250 ms"]
    assert page.row("kill program at 45.0 s (spark)")[-1] == "never within the run"
    assert page.row("kill worker at 50.0 s")[0] == "not done: there was no worker"


def test_the_guarantee_is_set_beside_the_claim(page: Page) -> None:
    assert page.row("of all results")[:2] == ["exactly once", "✗ at least once"]


def test_a_run_without_faults_has_no_such_section() -> None:
    page = render_report(samples.summary(), samples.series())
    assert "Faults and recovery" not in page


def test_a_study_has_every_fault_of_every_trial(tmp_path: Path) -> None:
    trials = [
        studies.trial("trials/01", {"system.trigger": "1 s"}, recovery=RECOVERY),
        studies.trial("trials/02", {"system.trigger": "5 s"}, recovery=RECOVERY),
    ]
    page = studies.page_of(studies.study("cases", trials), tmp_path)
    text = page.one("main").text
    assert text.count("kill executor at 30.0 s") == 2
    assert "Reload and replay" in text or "reload" in text
