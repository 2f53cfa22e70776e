from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamgauge.cli.results import show
from streamgauge.cli.terminal import Session

from . import made_up

REPORT = Path("runs/x/report.html")


def shown(capsys: pytest.CaptureFixture[str], **changes: Any) -> str:
    show(Session(), made_up.summary(**changes), REPORT)
    return capsys.readouterr().out


def test_verdict_then_thresholds_then_figures_then_the_report(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = shown(capsys)
    order = ["✓ valid", "sustained: ✓ yes", "thresholds", "throughput", "latency", "validation"]
    places = [text.index(word) for word in [*order, f"report: {REPORT}"]]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("verdict", "mark"), [("valid", "✓"), ("invalid", "✗"), ("unknown", "?"), ("void", "∅")]
)
def test_each_verdict_has_a_mark_besides_its_colour(
    verdict: str, mark: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = shown(capsys, verdict=verdict, reasons=["12 results are missing"])
    first, second = text.splitlines()[:2]
    assert first.startswith(f"{mark} {verdict} ")
    assert second == "  12 results are missing"


@pytest.mark.parametrize(("sustained", "word"), [(True, "✓ yes"), (False, "✗ no"), (None, "? unk")])
def test_sustained(sustained: bool | None, word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"sustained: {word}" in shown(capsys, sustained=sustained)


def test_thresholds_show_mark_and_value_in_its_unit(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(
        capsys,
        thresholds=[
            {"expression": "event_time.p99 < 1 s", "value": 1_234.0, "passed": False},
            {"expression": "validation.missing == 0", "value": 0.0, "passed": True},
            {"expression": "drained_per_s >= 100k", "value": 100_000.0, "passed": True},
            {"expression": "event_time.p99_9 < 1 s", "value": None, "passed": False},
        ],
    )
    lines = [line.split("   ") for line in text.splitlines()]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    assert ["✗ event_time.p99 < 1 s", "1.23 s"] in cells
    assert ["✓ validation.missing == 0", "0"] in cells
    assert ["✓ drained_per_s >= 100k", "100,000/s"] in cells
    assert ["✗ event_time.p99_9 < 1 s", "not measured"] in cells


def test_a_quantile_that_nobody_could_measure_is_hidden(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys)
    assert "p99 " in text
    assert "p99.9" not in text


def test_the_mean_of_a_growing_latency_is_not_given(capsys: pytest.CaptureFixture[str]) -> None:
    growing = {**made_up.STATISTICS, "growing": True, "growth_per_s": 120.0}
    text = shown(capsys, latency_ms={"event_time": growing, "processing_time": growing})
    assert "growing by 120 ms/s" in text
    assert "900 ms" not in text


def test_a_quick_run_is_stamped(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, quick=True).startswith("quick run: the numbers are meaningless\n")


def test_a_run_of_which_nothing_is_known_can_be_shown(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(
        capsys,
        status="failed",
        verdict="unknown",
        offered_per_s=None,
        drained_per_s=None,
        latency_ms={},
        validation={},
        thresholds=[],
        resources={"system": {"cpu_percent_mean": 99.0, "memory_mb_max": 1, "disk_mb_written": 0}},
    )
    assert text.startswith("? unknown (failed)")
    assert "compared with: nothing" in text
    assert "99.0 %" in text
