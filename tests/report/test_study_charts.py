"""What the report of a study draws."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.report.chart import Chart
from streamgauge.report.study_charts import (
    MOST_CHARTS,
    against_varied,
    case_charts,
    probe_chart,
)

from .studies import (
    page_of,
    stored,
    study,
    throughput_study,
    trial,
    tries,
    two_cases,
    with_workers,
)


@pytest.mark.parametrize(
    ("form", "ids", "labels"),
    [
        ("latency-over-time", ["latency-1", "latency-2"], ["p50", "p99", "max"]),
        ("two-times", ["latency-1", "latency-2"], ["event time p50", "processing time p50"]),
        ("pull", ["pull-1", "pull-2"], ["queued", "drained", "offered"]),
    ],
)
def test_forms_over_time_have_a_chart_per_case(
    form: str, ids: list[str], labels: list[str], tmp_path: Path
) -> None:
    summary = study(form, two_cases())
    drawn = case_charts(summary, stored(summary, tmp_path))

    assert [chart.id for chart in drawn.charts] == ids
    for chart, case in zip(drawn.charts, ("none", "single key"), strict=True):
        assert chart.title.endswith(f": skew {case}")
        assert [line.label for line in chart.series] == [
            label if form != "latency-over-time" else f"event time {label}" for label in labels
        ]
        assert chart.has_points
        if form != "pull":
            assert [band.label for band in chart.bands] == ["warm-up"]


def test_resources_have_a_pair_of_charts_with_a_line_per_node(tmp_path: Path) -> None:
    summary = study("resources", two_cases())
    series = with_workers()
    cpu, network, *others = case_charts(summary, stored(summary, tmp_path, series)).charts

    assert [one.id for one in (cpu, network, *others)] == [
        "cpu-1", "network-1", "cpu-2", "network-2"
    ]  # fmt: skip
    for chart in (cpu, network):
        assert [line.label for line in chart.series] == list(series.resources.roles)
        looks = [(line.colour, line.dashed) for line in chart.series]
        assert len(set(looks)) == len(looks)
    sent = series.resources.roles["worker 2"].network_mb_per_s
    assert network.series[1].values == pytest.approx(sent, rel=1e-4)


@pytest.mark.parametrize("content", [None, "", "{}garbage", '{"load_s": "long"}'])
def test_a_series_that_cannot_be_read_is_reported_and_raises_nothing(
    content: str | None, tmp_path: Path
) -> None:
    summary = study("latency-over-time", two_cases())
    stored(summary, tmp_path)
    broken = tmp_path / "trials/01/series.json"
    if content is None:
        broken.unlink()
    else:
        broken.write_text(content)

    page = page_of(summary, tmp_path)

    assert "cannot be read" in page.one("p", data_empty="latency-1").text
    assert list(page.charts()) == ["latency-2"]


def test_another_repetition_is_drawn_when_the_first_has_no_series(tmp_path: Path) -> None:
    trials = [trial(f"trials/0{n}", {"a.b": 1}, repetition=n) for n in (1, 2)]
    summary = study("pull", trials)
    stored(summary, tmp_path)
    (tmp_path / "trials/01/series.json").unlink()

    assert case_charts(summary, tmp_path).charts[0].has_points


def test_too_many_cases_are_left_out_and_named(tmp_path: Path) -> None:
    trials = [trial(f"trials/{n:02d}", {"workload.keys": n}) for n in range(1, 31)]
    summary = study("latency-over-time", trials)

    page = page_of(summary, stored(summary, tmp_path))

    assert len(page.charts()) == MOST_CHARTS
    note = page.one("section", id="figure").text
    assert f"{30 - MOST_CHARTS} more cases (keys 13; keys 14;" in note
    assert page.row("keys 30") != []


def test_pairs_of_charts_stay_together(tmp_path: Path) -> None:
    trials = [trial(f"trials/{n:02d}", {"workload.keys": n}) for n in range(1, 31)]
    drawn = case_charts(study("resources", trials), tmp_path)

    assert len(drawn.charts) == MOST_CHARTS
    assert len(drawn.left_out) == 30 - MOST_CHARTS // 2


def by_case(chart: Chart) -> dict[str, list[float | None]]:
    return {line.label: line.values for line in chart.series}


@pytest.mark.parametrize(
    ("values", "unit", "places"),
    [
        ([300_000, 100_000, 200_000], "per_s", [100_000, 200_000, 300_000]),
        (["120 %", "90 %", "100 %"], "percent", [90, 100, 120]),
    ],
)
def test_figures_are_drawn_against_what_is_varied(
    values: list[object], unit: str, places: list[float]
) -> None:
    trials = [
        trial(f"trials/{n}", {"load.rate": value}, slower=n)
        for n, value in zip((3, 1, 2), values, strict=True)
    ]
    latency, rates = against_varied(study("cases", trials))

    assert latency.x.values == places
    assert (latency.x.unit, latency.x.label) == (unit, "load.rate")
    assert by_case(latency)["event time p50"] == [1_384, 2_768, 4_152]
    assert list(by_case(rates)) == ["drained", "offered"]


def test_other_settings_make_lines_of_their_own() -> None:
    trials = [
        trial(f"trials/{n}", {"workload.window": window, "workload.skew": skew}, slower=n)
        for n, (window, skew) in enumerate(
            [("5 s", "none"), ("10 s", "none"), ("1 min", "none"), ("5 s", "one key")], 1
        )
    ]
    latency, _ = against_varied(study("cases", trials))

    assert latency.x.values == [5, 10, 60]
    assert by_case(latency)["event time p50, skew none"] == [1_384, 2_768, 4_152]
    assert by_case(latency)["event time p50, skew one key"] == [5_536, None, None]


def test_a_searched_sweep_draws_its_maxima() -> None:
    summary = throughput_study().model_copy(update={"figure": "cases"})
    (chart,) = against_varied(summary)

    assert by_case(chart) == {"maximum sustainable": [1_200_000, 2_130_000]}
    assert chart.x.values == [1, 2]


def test_settings_that_are_no_numbers_are_bars(tmp_path: Path) -> None:
    summary = study("cases", two_cases())
    assert against_varied(summary) == []

    page = page_of(summary, tmp_path)

    assert page.row("skew none")[:1] == ["3.12 s"]
    assert page.all("i", class_="fill")[0].attributes["style"].startswith("width:50.00%")


def test_probes_are_columns_and_the_bracket_closes() -> None:
    chart = probe_chart(tries(1_000_000), 1, "")
    at = {number: chart.x.values.index(number) for number in range(1, 8)}
    lines = by_case(chart)

    def found(label: str) -> dict[int, float]:
        values = lines[label]
        return {n: value for n in at if (value := values[at[n]]) is not None}

    assert found("✓ passed") == {2: 900_000, 6: 1_000_000, 7: 1_000_000}
    assert found("✗ failed") == {3: 1_150_000, 5: 1_050_000}
    assert found("? doubtful") == {4: 1_050_000}
    assert found("drained when saturated") == {1: 1_030_000}
    assert [found("highest passed").get(n) for n in (1, 2, 5, 6)] == [None, 9e5, 9e5, 1e6]
    assert [found("lowest failed").get(n) for n in (2, 3, 4, 5)] == [None, 1.15e6, 1.15e6, 1.05e6]
    assert [band.label for band in chart.bands] == list("✗✓✗?✗✓✓")


def test_rates_over_decades_have_a_log_axis_on_both_sides(tmp_path: Path) -> None:
    rates = (1_000.0, 10_000.0, 100_000.0)
    found = [
        trial(f"trials/{n}", {"load.rate": rate}, offered_per_s=rate, drained_per_s=rate)
        for n, rate in enumerate(rates)
    ]
    charts = page_of(study("cases", found), tmp_path).charts()
    assert charts["rates-by-case"]["x"]["log"]
    assert charts["rates-by-case"]["axes"][0]["log"]
    assert not charts["latency-by-case"]["axes"][0]["log"]
