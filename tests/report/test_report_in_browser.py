"""What a real browser makes of the report."""

from __future__ import annotations

import html
import shutil
import subprocess
from pathlib import Path

import pytest

from streamgauge.measure.summary import Series, TrialSummary
from streamgauge.report.html import render_report
from streamgauge.report.study import render_study

from . import samples, studies, test_paradigms
from .page import Page

HOSTILE = "</script><b>driver</b>"
BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="NOTICE: no Chromium installed, the report was not opened in a browser"
)


def opened(source: str, folder: Path) -> Page:
    """The page after the browser has run its scripts."""
    report = folder / "report.html"
    report.write_text(source, encoding="utf-8")
    assert BROWSER is not None
    command = [
        BROWSER,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={folder / 'profile'}",
        "--virtual-time-budget=5000",
        "--dump-dom",
        report.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return Page(done.stdout)


def drawn_points(page: Page) -> dict[str, int]:
    """Points on the canvas of every chart that has one."""
    plots = [one for one in page.all("div", class_="plot") if "data-points" in one.attributes]
    return {one.attributes["data-chart"]: int(one.attributes["data-points"]) for one in plots}


def test_all_charts_are_drawn(tmp_path: Path) -> None:
    page = opened(render_report(samples.summary(), samples.series()), tmp_path)

    root = page.one("html").attributes
    assert "data-error" not in root
    assert root.get("data-ready") == "true"
    assert page.one(id="outcome").text == "THRESHOLD FAILED"
    series = samples.series()
    seconds_with_results = sum(value is not None for value in series.latency.event_time_p50)
    assert drawn_points(page) == {
        "latency": 5 * seconds_with_results,
        "histogram": 2 * len(page.charts()["histogram"]["x"]["values"]),
        "pull": 3 * len(series.pull.time_s),
        "cpu": 3 * len(series.resources.time_s),
        "memory": 3 * len(series.resources.time_s),
    }
    assert len(page.all("canvas")) == 5


def test_the_lanes_of_the_paradigms_are_drawn(tmp_path: Path) -> None:
    paradigms = test_paradigms.found()
    series = samples.series().model_copy(update={"paradigms": paradigms})
    summary = samples.summary().model_copy(update={"paradigms": paradigms})
    page = opened(render_report(summary, series), tmp_path)
    assert "data-error" not in page.one("html").attributes
    places = len(page.charts()["paradigms"]["x"]["values"])
    assert drawn_points(page)["paradigms"] == places * len(paradigms.operations)
    assert len(page.all("canvas")) == 6


def test_legends_name_every_series_and_hostile_names_stay_text(tmp_path: Path) -> None:
    series = samples.series().model_dump()
    series["resources"]["roles"][HOSTILE] = series["resources"]["roles"].pop("driver")
    summary = samples.summary().model_copy(update={"name": HOSTILE})

    page = opened(render_report(summary, Series.model_validate(series)), tmp_path)

    labels = [one.text for one in page.all("div", class_="u-label")]
    assert labels.count(HOSTILE) == 2
    assert {"event time p50", "processing time", "offered", "queued", "sink"} <= set(labels)
    assert page.one("h1").text.startswith(HOSTILE)
    assert page.all("b") == []
    assert page.one("html").attributes.get("data-ready") == "true"


def test_a_run_without_anything_opens_without_an_error(tmp_path: Path) -> None:
    page = opened(render_report(TrialSummary(name="nothing", run="r"), Series()), tmp_path)

    root = page.one("html").attributes
    assert "data-error" not in root
    assert root.get("data-ready") == "true"
    assert drawn_points(page) == {}


CUT_OFF = """<script>
document.querySelectorAll("details").forEach((one) => { one.open = true; });
const cut = [...document.querySelectorAll("main, main *:not(.plot *)")].filter((one) =>
  one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline");
parent.document.documentElement.dataset.cut = cut.map((one) => one.outerHTML.slice(0, 200)).join();
parent.document.documentElement.dataset.width = innerWidth;
</script></body>"""


@pytest.mark.parametrize("of_study", [False, True])
def test_at_400_pixels_nothing_is_cut_off(of_study: bool, tmp_path: Path) -> None:
    long = {"reasons": ["x" * 90], "name": "n" * 60, "command": "streamgauge run " + "y" * 90}
    summary = samples.summary().model_copy(update=long)
    if of_study:
        trials = [*studies.two_cases(), studies.trial("t", {"load.rate": 1e5}, **long)]
        found = studies.study("cases", trials, **long, **studies.searched())
        source = render_study(found, studies.stored(found, tmp_path))
    else:
        source = render_report(summary, samples.series())

    # No window of the browser is so narrow, but a frame can be.
    page = html.escape(source.replace("</body>", CUT_OFF))
    frame = f'<html><iframe srcdoc="{page}" style="width:400px;border:0"></iframe></html>'
    root = opened(frame, tmp_path).one("html").attributes

    assert root["data-width"] == "400"
    assert root["data-cut"] == ""


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(("new uPlot(", "new noPlot("), id="while the page loads"),
        pytest.param(("ctx.fillRect(", "ctx.noRect("), id="while a chart is drawn"),
    ],
)
def test_an_error_in_a_script_is_seen(broken: tuple[str, str], tmp_path: Path) -> None:
    source = render_report(samples.summary(), samples.series())
    assert broken[0] in source

    page = opened(source.replace(*broken), tmp_path)

    root = page.one("html").attributes
    assert broken[1].split(".")[-1].removeprefix("new ").removesuffix("(") in root["data-error"]
    assert "data-ready" not in root
