from __future__ import annotations

import pytest

from streamgauge.measure.unit import Unit


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [
        (Unit.MS, 1_234, "1.23 s"),
        (Unit.MS_PER_S, 12.34, "12.30 ms/s"),
        (Unit.PER_S, 100_000, "100,000/s"),
        (Unit.COUNT, 12, "12"),
        (Unit.COUNT, 12.5, "12.50"),
        (Unit.PERCENT, 12.5, "12.5 %"),
        (Unit.MB, 1_500, "1.50 GB"),
        (Unit.RATIO, 0.25, "0.2500"),
    ],
)
def test_a_value_is_written_in_its_unit(unit: Unit, value: float, text: str) -> None:
    assert unit.write(value) == text


@pytest.mark.parametrize(
    ("unit", "delta", "text"),
    [
        (Unit.MS, 12.3, "+12 ms"),
        (Unit.MS, -1_500, "−1.50 s"),
        (Unit.PER_S, -2_000, "−2,000/s"),
        (Unit.COUNT, 7, "+7"),
        (Unit.PER_S, 0, "0"),
        (Unit.PERCENT, 126.2, "+126 points"),
    ],
)
def test_changes_have_a_sign(unit: Unit, delta: float, text: str) -> None:
    assert unit.write_change(delta) == text


@pytest.mark.parametrize(
    ("unit", "text", "value"),
    [
        (Unit.MS, "5 s", 5_000),
        (Unit.MS, "5", 5_000),
        (Unit.PER_S, "100k", 100_000),
        (Unit.COUNT, "0", 0),
        (Unit.PERCENT, "150 %", 150),
        (Unit.PERCENT, "150", 150),
        (Unit.MB, "1.5 GB", 1_500),
    ],
)
def test_limits_are_read_in_human_units(unit: Unit, text: str, value: float) -> None:
    assert unit.parse_limit(text) == value


@pytest.mark.parametrize(
    ("unit", "text"), [(Unit.MS, "5 MB"), (Unit.MB, "5"), (Unit.COUNT, "5 s"), (Unit.PER_S, "x")]
)
def test_a_limit_of_another_unit_is_refused(unit: Unit, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        unit.parse_limit(text)


def test_the_amount_of_a_latency_must_have_its_unit() -> None:
    assert Unit.MS.parse_amount("200 ms") == 200
    with pytest.raises(ValueError, match="needs a unit"):
        Unit.MS.parse_amount("200")


@pytest.mark.parametrize("unit", [unit for unit in Unit if unit.is_number])
def test_the_example_of_a_unit_can_be_read(unit: Unit) -> None:
    assert unit.parse_amount(unit.example) >= 0
