"""What a real browser makes of the page of a comparison."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.compare.comparison import compare
from streamgauge.compare.measured import run_subject
from streamgauge.compare.page import render_comparison
from tests.report import samples
from tests.report.test_report_in_browser import BROWSER, drawn_points, opened

from . import made_up

pytestmark = pytest.mark.skipif(
    BROWSER is None,
    reason="NOTICE: no Chromium installed, the comparison was not opened in a browser",
)


def test_all_charts_are_drawn(tmp_path: Path) -> None:
    runs = [made_up.single(mean, run=f"r{mean}") for mean in (800, 700)]
    comparison = compare(*(run_subject(runs[0]), [run_subject(runs[1])]))
    series = {run.run: samples.series() for run in runs}

    page = opened(render_comparison(comparison, series), tmp_path)

    root = page.one("html").attributes
    assert "data-error" not in root
    assert root.get("data-ready") == "true"
    seconds = sum(value is not None for value in samples.series().latency.event_time_p50)
    assert drawn_points(page) == {"latency-p50": 2 * seconds, "latency-p99": 2 * seconds}
    labels = [one.text for one in page.all("div", class_="u-label")]
    assert labels.count("r800") == 2
    assert page.row("p99")[-1] == "? noise unknown"


def test_a_page_without_charts_opens_without_an_error(tmp_path: Path) -> None:
    subject = run_subject(made_up.repeated([800, 801]))

    page = opened(render_comparison(compare(subject, [subject])), tmp_path)

    root = page.one("html").attributes
    assert "data-error" not in root
    assert root.get("data-ready") == "true"
