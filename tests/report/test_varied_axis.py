from __future__ import annotations

import pytest

from streamgauge.report.varied_axis import varied_axis


@pytest.mark.parametrize(
    ("key", "values", "unit", "places"),
    [
        ("workload.keys", [10, "1k", 2], "events", [2, 10, 1_000]),
        ("load.rate", [2_000, "1k"], "per_s", [1_000, 2_000]),
        ("system.trigger", ["2 s", "500 ms"], "s", [0.5, 2]),
        ("load.rate", ["120 %", "90%"], "percent", [90, 120]),
    ],
)
def test_values_are_places_in_their_unit(
    key: str, values: list[object], unit: str, places: list[float]
) -> None:
    cases = [{key: value} for value in values]
    axis = varied_axis(cases)
    assert axis is not None
    assert (axis.key, axis.unit, axis.places) == (key, unit, places)
    assert sorted(map(axis.place_of, cases)) == places


@pytest.mark.parametrize(
    "cases",
    [
        [],
        [{}],
        [{"a": 1}],
        [{"a": 1}, {"a": 1.0}],
        [{"a": "x"}, {"a": "y"}],
        [{"a": 1}, {"b": 2}],
    ],
)
def test_without_two_places_in_an_order_there_is_no_axis(cases: list[dict[str, object]]) -> None:
    assert varied_axis(cases) is None


def test_the_setting_with_the_most_values_is_the_axis() -> None:
    cases = [{"a": a, "b": b, "c": "word"} for a in (1, 2) for b in (1, 2, 3)]
    axis = varied_axis(cases)
    assert axis is not None
    assert axis.key == "b"


@pytest.mark.parametrize(
    ("rates", "log"), [([1_000, 10_000, 100_000], True), ([50_000, 100_000, 200_000], False)]
)
def test_rates_over_decades_have_a_log_axis(rates: list[int], log: bool) -> None:
    axis = varied_axis([{"load.rate": rate} for rate in rates])
    assert axis is not None
    assert axis.axis.log is log
    assert ("log scale" in axis.axis.label) is log
