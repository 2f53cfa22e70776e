from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import pytest
from pydantic import BaseModel

from streamgauge.errors import UsageError
from streamgauge.measure.figures import (
    FIGURES,
    SHORT_NAMES,
    Direction,
    Figure,
    Use,
    figure_named,
    figures_for,
    find_figure,
    value_of,
)
from streamgauge.measure.summary import (
    FAULTS,
    InstanceSummary,
    MonitorCost,
    StudySummary,
    TrialSummary,
    Validation,
)
from streamgauge.measure.unit import Unit
from tests.compare import made_up

METRICS_PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
NOT_FIGURES = {
    "format_version": "describes the file",
    "quick": "describes how the run was started",
    "machine": "describes the machine",
    "without_system": "describes what ran",
    "repetition": "the number of a trial",
    "phases_s": "where the time of the run went",
    "thresholds": "the value of the figure that a threshold names",
    "limits": "their strength only puts them in an order",
    "tries": "the steps of a search",
    "components.growing": "whether the outside wait has a meaning",
    "paradigms.operations": "what each operation was doing, shown as a table",
    "paradigms.switches": "every switch, shown as a table",
    "TIME.growing": "whether the mean has a meaning",
    "validation.values_compared": "whether there was an oracle",
    "recovery.faults": "each fault by itself; the worst of them is the figure",
    "cases": "the spread of figures over trials, by their names in the registry",
    "scales": "what the rates of a study are shares of",
    "published": "the values of the figure that an entry names",
}
SECTIONS = {
    "latency_ms": "",
    "event_time": "TIME",
    "processing_time": "TIME",
    "visibility": "TIME",
    "resources": "resources.ROLE",
    "driver": "driver.INSTANCE",
}
"""How the registry names what is below a field."""


def numbers_in(model: type[BaseModel], section: str = "") -> Iterator[str]:
    """The names of all numbers and truth values, also of those in lists and dictionaries."""
    for name, field in model.model_fields.items():
        full = f"{section}.{name}" if section else name
        for kind in types_in(field.annotation):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                # The trials of a study are checked as trials.
                if kind is not TrialSummary:
                    yield from numbers_in(kind, SECTIONS.get(full, full))
            elif kind in (int, float, bool):
                yield full


def types_in(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) in (Union, UnionType, list, dict, tuple):
        yield from chain.from_iterable(map(types_in, get_args(annotation)))
    else:
        yield annotation


@pytest.mark.parametrize("model", [TrialSummary, StudySummary])
def test_every_number_in_a_summary_is_a_figure_or_exempt(model: type[BaseModel]) -> None:
    figures = {figure.documented_name for figure in FIGURES.values()}
    for name in numbers_in(model):
        exempt = any(name == one or name.startswith(f"{one}.") for one in NOT_FIGURES)
        assert (name in figures) != exempt, name


def test_every_exempt_name_is_in_a_summary() -> None:
    found = [name for model in (TrialSummary, StudySummary) for name in numbers_in(model)]
    for one in NOT_FIGURES:
        assert any(name == one or name.startswith(f"{one}.") for name in found), one


def test_every_figure_is_in_a_summary() -> None:
    """A name that no field has would never have a value."""
    numbers = set(numbers_in(TrialSummary))
    for figure in FIGURES.values():
        if figure.unit.is_number:
            assert figure.documented_name in numbers, figure.name


def row_of(figure: Figure) -> str:
    better = "" if figure.direction is Direction.NEITHER else figure.direction.value
    return f"| `{figure.documented_name}` | {figure.unit.value.replace('_', ' ')} | {better} |"


def test_the_metrics_page_has_one_entry_per_figure_in_the_order_of_the_registry() -> None:
    rows = re.findall(r"^(\| `[^`]+` \| [^|]* \| [^|]* \|) .+ \|$", METRICS_PAGE.read_text(), re.M)
    assert rows == list(dict.fromkeys(map(row_of, FIGURES.values())))


def test_thresholds_comparisons_and_cases_use_numbers_only() -> None:
    assert all(figure.unit.is_number for figure in figures_for(Use.ALL))


@pytest.mark.parametrize(
    ("short", "name"),
    [
        ("p99", "event_time.p99"),
        ("p99.9", "event_time.p99_9"),
        ("p99_9", "event_time.p99_9"),
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
    assert find_figure(short, Use.COMPARE).name == name


def test_a_short_name_belongs_to_one_figure() -> None:
    short = [name for figure in FIGURES.values() for name in figure.short_names]
    assert len(short) == len(set(short)) == len(SHORT_NAMES)
    assert not set(short) & set(FIGURES)


@pytest.mark.parametrize(
    ("wrong", "near"),
    [("p9", "p99"), ("thruput", "throughput"), ("event_tme.p99", "event_time.p99")],
)
def test_an_unknown_figure_is_refused_with_the_nearest(wrong: str, near: str) -> None:
    with pytest.raises(UsageError, match=f"there is no figure `{wrong}`") as caught:
        find_figure(wrong, Use.COMPARE)
    assert caught.value.fix == f"did you mean `{near}`?"


def test_an_unknown_figure_without_a_near_name_is_refused_with_all_names() -> None:
    with pytest.raises(UsageError) as caught:
        find_figure("zzzz", Use.COMPARE)
    assert "choose one of maximum, offered, throughput" in caught.value.fix


def test_a_figure_is_refused_where_it_has_no_use() -> None:
    with pytest.raises(UsageError):
        find_figure("maximum", Use.THRESHOLD)
    with pytest.raises(UsageError):
        find_figure("driver.INSTANCE.queue_max", Use.COMPARE)


def test_directions_of_figures() -> None:
    assert FIGURES["event_time.p99"].direction is Direction.LOWER
    assert FIGURES["drained_per_s"].direction is Direction.HIGHER
    assert FIGURES["offered_per_s"].direction is Direction.NEITHER
    for fault in FAULTS:
        assert FIGURES[f"validation.{fault}"].direction is Direction.LOWER


def test_values_are_read_from_the_summary() -> None:
    instance = InstanceSummary(
        instance=1,
        stream="ads",
        offered=9,
        drained=8,
        queue_max=7,
        queue_limits=(1, 2, 3),
        lag_p99_ms=0.5,
    )
    summary = made_up.single(800.0, driver=[instance], monitor=MonitorCost(samples=12))
    assert value_of(summary, "event_time.mean") == 800
    assert value_of(summary, "processing_time.p50") == 360
    assert value_of(summary, "validation.missing") == 0
    assert value_of(summary, "resources.system.memory_mb_max") == 3_070
    assert value_of(summary, "resources.sink.memory_mb_max") is None
    assert value_of(summary, "maximum_sustainable_per_s") is None
    assert value_of(summary, "driver.1.queue_max") == 7
    assert value_of(summary, "driver.0.queue_max") is None
    assert value_of(summary, "monitor.samples") == 12


def test_texts_and_truth_values_have_no_number() -> None:
    summary = made_up.single(validation=Validation(input_matches=True))
    for name in ("verdict", "sustained", "input_hash", "validation.input_matches"):
        assert value_of(summary, name) is None


@pytest.mark.parametrize(
    "empty", [TrialSummary(name="n", run="r"), StudySummary(name="n", run="r", trials=[])]
)
def test_a_run_without_results_has_no_values(empty: TrialSummary | StudySummary) -> None:
    assert {
        one.name for one in figures_for(Use.ALL) if value_of(empty, one.name) is not None
    } == set()


def test_a_label_outside_of_its_group_names_the_time() -> None:
    assert FIGURES["event_time.p99_9"].label == "p99.9"
    assert FIGURES["event_time.p99_9"].full_label == "event time p99.9"
    assert FIGURES["drained_per_s"].full_label == "drained"


def test_an_unknown_figure_of_a_file_is_written_as_a_number() -> None:
    assert figure_named("event_time.p99") is FIGURES["event_time.p99"]
    other = figure_named("of_a_later_version")
    assert (other.label, other.unit, other.write(1_234.0)) == (
        "of_a_later_version",
        Unit.RATIO,
        "1,234",
    )
