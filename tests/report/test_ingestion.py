"""Reports of senders and broker alone."""

from __future__ import annotations

from pathlib import Path

from streamgauge.measure.spread import spread_of
from streamgauge.measure.summary import (
    Case,
    Ingestion,
    IngestionSeries,
    Series,
    StudySummary,
    TrialSummary,
    Verdict,
)
from streamgauge.report.html import render_report
from streamgauge.report.study import render_study
from tests.report.page import Page

SECONDS = 10
RATES = {"0": 240_000.0, "1": 100_000.0}


def _series(rate: float) -> Series:
    seconds = [float(second) for second in range(SECONDS)]
    return Series(
        load_s=SECONDS,
        warm_up_s=2,
        ingestion=IngestionSeries(
            time_s=seconds, messages_per_s=[rate] * SECONDS, mb_per_s=[rate / 5_000] * SECONDS
        ),
        append_times_ms=[float(number // 11) for number in range(500)],
    )


def _study(form: str, folder: Path) -> StudySummary:
    trials, cases = [], []
    for place, (acks, rate) in enumerate(RATES.items()):
        found = Ingestion(
            configured_per_s=1e6,
            achieved_per_s=rate,
            peak_per_s=rate,
            mb_per_s=rate / 5_000,
            variation_percent=3.0,
            records_per_step=11 if place else 1.2,
            step_ms=1,
        )
        varied: dict[str, object] = {"channel.acks": acks, "load.rate": 1e6}
        trial = TrialSummary(
            name="broker",
            run=f"trials/{place}",
            verdict=Verdict.VALID,
            without_system=True,
            ingestion=found,
            varied=varied,
        )
        trials.append(trial)
        figures = {
            f"ingestion.{name}": spread_of([value])
            for name, value in found.model_dump().items()
            if name != "configured_per_s"
        }
        cases.append(Case(varied=varied, trials=[place], figures=figures))
        (folder / trial.run).mkdir(parents=True)
        (folder / trial.run / "series.json").write_text(_series(rate).model_dump_json())
    return StudySummary(
        name="broker",
        run="broker",
        verdict=Verdict.VALID,
        without_system=True,
        machine={"loopback_mb_per_s": 900.0, "synced_write_mb_per_s": 70.0},
        trials=trials,
        cases=cases,
        figure=form,
    )


def test_configured_and_achieved_rates_are_side_by_side(tmp_path: Path) -> None:
    page = Page(render_study(_study("ingestion", tmp_path), tmp_path))
    row = page.row("acks 0")
    assert row[:2] == ["1,000,000/s", "240,000/s"]
    assert row[-1] == "24.0 %"
    (chart,) = page.charts().values()
    assert [line["label"] for line in chart["series"]] == ["acks 0", "acks 1"]
    assert chart["series"][0]["values"] == [240_000.0] * SECONDS
    text = "".join(note.text for note in page.all(class_="note"))
    assert "900 MB/s" in text
    assert "70 MB/s" in text


def test_append_times_are_drawn_for_100_and_500_messages(tmp_path: Path) -> None:
    page = Page(render_study(_study("append-times", tmp_path), tmp_path))
    lengths = [len(chart["x"]["values"]) for chart in page.charts().values()]
    assert lengths == [100, 500, 100, 500]
    assert page.row("acks 0, rate 1,000,000/s")[-1] == "linear"
    assert page.row("acks 1, rate 1,000,000/s")[-1] == "steps"


def test_a_run_without_a_system_says_nothing_of_sustaining(tmp_path: Path) -> None:
    trial = _study("ingestion", tmp_path).trials[0]
    page = Page(render_report(trial, _series(240_000.0)))
    assert page.all(id="sustained") == []
    assert "in the broker once" in page.one("p", class_="meaning").text
    assert {"ingestion", "append-times-100"} <= set(page.charts())
    assert page.row("achieved") == ["240,000/s"]
