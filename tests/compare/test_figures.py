from __future__ import annotations

import pytest

from streamgauge.compare.figures import FIGURES, SHORT_NAMES, Better, figure_named, value_of
from streamgauge.errors import UsageError
from streamgauge.experiments.planning.thresholds import METRICS
from streamgauge.measure.summary import Summary

from . import made_up


def test_whatever_can_be_a_threshold_can_be_compared() -> None:
    assert set(METRICS) <= set(FIGURES)


@pytest.mark.parametrize(
    ("short", "name"),
    [
        ("p99", "event_time.p99"),
        ("p99.9", "event_time.p99_9"),
        ("mean", "event_time.mean"),
        ("throughput", "drained_per_s"),
        ("maximum", "maximum_sustainable_per_s"),
        ("missing", "validation.missing"),
        ("cpu", "resources.system.cpu_percent_mean"),
        ("processing_time.p50", "processing_time.p50"),
        ("resources.sink.memory_mb_max", "resources.sink.memory_mb_max"),
    ],
)
def test_short_and_full_names(short: str, name: str) -> None:
    assert figure_named(short).name == name


def test_every_short_name_leads_somewhere() -> None:
    assert set(SHORT_NAMES.values()) <= set(FIGURES)


@pytest.mark.parametrize(
    ("wrong", "near"),
    [("p9", "p99"), ("thruput", "throughput"), ("event_tme.p99", "event_time.p99")],
)
def test_an_unknown_figure_is_refused_with_the_nearest(wrong: str, near: str) -> None:
    with pytest.raises(UsageError, match=f"there is no figure `{wrong}`") as caught:
        figure_named(wrong)
    assert caught.value.fix == f"did you mean `{near}`?"


def test_a_figure_like_none_is_refused_with_all_of_them() -> None:
    with pytest.raises(UsageError) as caught:
        figure_named("zzzz")
    assert "choose one of maximum, throughput" in caught.value.fix


def test_what_is_better() -> None:
    assert FIGURES["event_time.p99"].better is Better.LOWER
    assert FIGURES["drained_per_s"].better is Better.HIGHER
    assert FIGURES["validation.missing"].better is Better.LOWER
    assert FIGURES["offered_per_s"].better is Better.NEITHER


def test_values_are_read_from_the_summary() -> None:
    summary = made_up.single(800.0)
    assert value_of(summary, "event_time.mean") == 800
    assert value_of(summary, "processing_time.p50") == 360
    assert value_of(summary, "validation.missing") == 0
    assert value_of(summary, "resources.system.memory_mb_max") == 3_070
    assert value_of(summary, "resources.sink.memory_mb_max") is None
    assert value_of(summary, "maximum_sustainable_per_s") is None


def test_a_run_without_results_has_no_latencies() -> None:
    empty = Summary(name="nothing", run="r")
    assert {name for name in FIGURES if value_of(empty, name) is not None} == set()


@pytest.mark.parametrize(
    ("name", "delta", "text"),
    [
        ("event_time.p99", 12.3, "+12 ms"),
        ("event_time.p99", -1_500, "−1.50 s"),
        ("drained_per_s", -2_000, "−2,000/s"),
        ("validation.missing", 7, "+7"),
        ("drained_per_s", 0, "0"),
        ("resources.system.cpu_percent_mean", 126.2, "+126 points"),
    ],
)
def test_changes_have_a_sign(name: str, delta: float, text: str) -> None:
    assert FIGURES[name].write_change(delta) == text
