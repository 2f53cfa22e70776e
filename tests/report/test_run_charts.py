from __future__ import annotations

import math

from streamgauge.measure.summary import (
    Histogram,
    LatencySeries,
    PullSeries,
    ResourceSeries,
    Series,
    SingleLatencies,
)
from streamgauge.report.chart import Chart, aligned
from streamgauge.report.run_charts import load_charts, resource_charts

from . import samples


def run_charts(series: Series) -> list[Chart]:
    return [*load_charts(series), *resource_charts(series)]


def chart(series: Series, chart_id: str) -> Chart:
    return next(one for one in run_charts(series) if one.id == chart_id)


def values(found: Chart, label: str) -> list[float | None]:
    return next(one.values for one in found.series if one.label == label)


def test_every_series_is_as_long_as_its_axis() -> None:
    for one in run_charts(samples.series()):
        assert {len(line.values) for line in one.series} == {len(one.x.values)}
        assert {line.axis for line in one.series} == {axis.side for axis in one.axes}


def test_a_series_cut_short_is_filled_up() -> None:
    assert aligned([1.0, math.nan, None], 5) == [1.0, None, None, None, None]
    assert aligned([1.0, 2.0, 3.0], 2) == [1.0, 2.0]


def test_the_warm_up_is_shaded_over_time_only() -> None:
    charts = {
        one.id: [(band.start, band.end) for band in one.bands]
        for one in run_charts(samples.series())
    }

    assert charts.pop("histogram") == []
    assert all(bands == [(0, 15)] for bands in charts.values())


def test_without_warm_up_nothing_is_shaded() -> None:
    series = samples.series().model_copy(update={"warm_up_s": 0.0})

    assert all(not one.bands for one in run_charts(series))


def test_rates_are_on_the_left_and_queued_on_the_right() -> None:
    found = chart(samples.series(), "pull")

    assert {line.label: line.axis for line in found.series} == {
        "offered": "left",
        "drained": "left",
        "queued": "right",
    }


def test_pulls_in_bursts_are_drawn_as_the_mean_of_the_last_second() -> None:
    times = [step / 10 for step in range(40)]
    drained = [1000.0 if step % 10 == 9 else 0.0 for step in range(40)]
    pull = PullSeries(
        time_s=times, offered_per_s=[100.0] * 40, drained_per_s=drained, queued=[0.0] * 40
    )

    found = chart(Series(pull=pull), "pull")

    assert values(found, "drained") == [0.0] * 9 + [100.0] * 31
    assert values(found, "offered") == [100.0] * 40


def test_rates_sampled_every_second_are_drawn_as_they_are() -> None:
    pull = PullSeries(
        time_s=[0.0, 1.0, 2.0], offered_per_s=[1.0, 2.0, 3.0], drained_per_s=[5.0], queued=[]
    )

    found = chart(Series(pull=pull), "pull")

    assert values(found, "offered") == [1.0, 2.0, 3.0]
    assert values(found, "drained") == [5.0, None, None]
    assert values(found, "queued") == [None, None, None]


def latency_at(seconds: set[int], length: int) -> Series:
    line: list[float | None] = [float(at) if at in seconds else None for at in range(length)]
    times = [float(at) for at in range(length)]
    return Series(latency=LatencySeries(time_s=times, event_time_p50=line))


def test_windows_that_close_every_fourth_second_make_one_line() -> None:
    found = chart(latency_at(set(range(0, 40, 4)), 40), "latency")

    assert values(found, "event time p50") == [float(at) for at in range(0, 40, 4)]


def test_no_line_is_drawn_over_a_pause_in_the_results() -> None:
    found = chart(latency_at(set(range(10)) | set(range(20, 30)), 30), "latency")

    assert found.x.values == [float(at) for at in [*range(11), *range(20, 30)]]
    assert values(found, "event time p50")[10] is None


def test_the_histogram_shows_the_filled_part_between_its_edges() -> None:
    histogram = Histogram(
        edges_ms=[1, 10, 100, 1000, 10_000], event_time=[0, 0, 7, 0], processing_time=[0, 3, 0, 0]
    )

    found = chart(Series(histogram=histogram), "histogram")

    assert found.x.edges == [10, 100, 1000]
    assert found.x.log
    assert values(found, "event time") == [0, 7]
    assert values(found, "processing time") == [3, 0]


def test_a_first_edge_of_zero_finds_a_place_on_the_log_axis() -> None:
    histogram = Histogram(edges_ms=[0, 10, 100], event_time=[1, 1], processing_time=[0, 0])

    found = chart(Series(histogram=histogram), "histogram")

    assert found.x.edges == [1, 10, 100]


def test_latencies_below_zero_are_drawn_on_a_plain_axis() -> None:
    histogram = Histogram(edges_ms=[-10, 10, 30], event_time=[1, 1], processing_time=[0, 0])

    found = chart(Series(histogram=histogram), "histogram")

    assert not found.x.log
    assert found.x.values == [0, 20]


def test_a_histogram_of_zeros_is_empty() -> None:
    histogram = Histogram(edges_ms=[1, 10, 100], event_time=[0, 0], processing_time=[0, 0])

    assert not chart(Series(histogram=histogram), "histogram").has_points


def test_roles_keep_their_colours() -> None:
    cpu, memory = chart(samples.series(), "cpu"), chart(samples.series(), "memory")

    assert [line.colour for line in cpu.series] == [line.colour for line in memory.series]
    assert len({line.colour for line in cpu.series}) == 3


def test_an_empty_histogram_says_why() -> None:
    full = samples.series()
    warm_up_only = full.model_copy(update={"histogram": Histogram()})
    assert "warm-up" in chart(warm_up_only, "histogram").empty
    assert "no results arrived" in chart(Series(), "histogram").empty


def test_a_role_without_samples_of_a_resource_has_no_line() -> None:
    full = samples.series()
    others = {"others": ResourceSeries(cpu_percent=[1.0] * len(full.resources.time_s))}
    more = full.resources.model_copy(update={"roles": {**full.resources.roles, **others}})
    series = full.model_copy(update={"resources": more})
    assert "others" in {line.label for line in chart(series, "cpu").series}
    assert "others" not in {line.label for line in chart(series, "memory").series}


def test_single_latencies_are_points_on_a_logarithmic_axis() -> None:
    singles = SingleLatencies(time_s=[0.0, 1.0, 2.0], latency_ms=[0.0, 5.0, -1.0], every=4, count=9)
    (chart,) = (
        one
        for one in load_charts(samples.series().model_copy(update={"singles": singles}))
        if one.id == "singles"
    )
    assert chart.axes[0].log
    assert chart.series[0].style == "points"
    # A logarithmic axis has neither 0 nor negative values.
    assert chart.series[0].values == [0.1, 5.0, 0.1]
    assert "3 of 9 results, one in 4" in chart.note


def test_a_run_without_single_latencies_has_no_chart_of_them() -> None:
    assert "singles" not in {one.id for one in load_charts(samples.series())}
