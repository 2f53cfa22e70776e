from __future__ import annotations

from typing import Any

import pytest

from streamgauge.compare.comparison import compare
from streamgauge.compare.fail_if import CheckResult, check, parse_fail_if
from streamgauge.compare.measured import run_subject
from streamgauge.errors import UsageError
from streamgauge.measure.summary import Summary

from . import made_up


def checked(expression: str, base: Summary, *others: Summary) -> list[CheckResult]:
    comparison = compare(run_subject(base), [run_subject(other) for other in others])
    return check([parse_fail_if(expression)], comparison)


def one(expression: str, base: Summary, other: Summary) -> CheckResult:
    (result,) = checked(expression, base, other)
    return result


@pytest.mark.parametrize(
    ("text", "figure", "sign", "amount", "relative"),
    [
        ("p99:+5%", "event_time.p99", 1, 5, True),
        (" p99 : + 5.5 % ", "event_time.p99", 1, 5.5, True),
        ("throughput:-2%", "drained_per_s", -1, 2, True),
        ("throughput:−2%", "drained_per_s", -1, 2, True),
        ("p99:+200ms", "event_time.p99", 1, 200, False),
        ("processing_time.p50:+1.5 s", "processing_time.p50", 1, 1_500, False),
        ("drained_per_s:-10k", "drained_per_s", -1, 10_000, False),
        ("maximum:-5000/s", "maximum_sustainable_per_s", -1, 5_000, False),
        ("missing:+0", "validation.missing", 1, 0, False),
        ("memory:+1.5 GB", "resources.system.memory_mb_max", 1, 1_500, False),
        ("memory:+200MB", "resources.system.memory_mb_max", 1, 200, False),
        ("cpu:+20", "resources.system.cpu_percent_mean", 1, 20, False),
    ],
)
def test_expressions(text: str, figure: str, sign: int, amount: float, relative: bool) -> None:
    rule = parse_fail_if(text)
    assert (rule.figure.name, rule.sign, rule.amount, rule.relative) == (
        figure,
        sign,
        amount,
        relative,
    )


@pytest.mark.parametrize(
    ("text", "cause", "fix"),
    [
        ("p99", "is not of the form", "p99:+5%"),
        ("p99:5%", "is not of the form", "p99:+5%"),
        ("p99:+", "is not of the form", "p99:+5%"),
        ("p99>5%", "is not of the form", "p99:+5%"),
        (":+5%", "is not of the form", "p99:+5%"),
        ("p98:+5%", "no figure `p98`", "did you mean `p9"),
        ("thruput:-5%", "no figure `thruput`", "did you mean `throughput`?"),
        ("p99:+200", "needs a unit", "p99:+200 ms"),
        ("p99:+200 km", "unknown unit", "p99:+200 ms"),
        ("memory:+200", "in MB or GB", "memory:+500 MB"),
        ("missing:+5 ms", "unknown unit", "missing:+0"),
        ("drained:-5%%", "unknown unit", "drained:-5%"),
    ],
)
def test_a_wrong_expression_has_a_fix(text: str, cause: str, fix: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_fail_if(text)
    assert f"`--fail-if {text}`" in caught.value.cause
    assert cause in caught.value.cause
    assert fix in caught.value.fix


@pytest.mark.parametrize(
    ("expression", "passed"),
    [
        ("mean:+9.9%", False),
        ("mean:+10%", True),
        ("mean:-1%", True),
        ("mean:+79ms", False),
        ("mean:+80ms", True),
        ("throughput:-0%", True),
        ("throughput:+0", True),
    ],
)
def test_the_sign_is_the_direction_and_the_amount_may_be_reached(
    expression: str, passed: bool
) -> None:
    assert one(expression, made_up.single(800), made_up.single(880)).passed is passed


def test_a_fall_can_fail_as_well() -> None:
    result = one("throughput:-5%", made_up.single(), made_up.single(drained=90_000))
    assert not result.passed
    assert result.reason == ("−9.1 % (99,000/s → 90,000/s); one run each: the noise is unknown")


def test_a_change_inside_the_noise_passes_with_that_reason() -> None:
    result = one("mean:+1%", made_up.repeated([700, 800, 900]), made_up.repeated([730, 830, 930]))
    assert result.passed
    assert "+3.8 %" in result.reason
    assert "inside the noise margin of ± 227 ms" in result.reason


def test_a_significant_change_fails() -> None:
    result = one("mean:+1%", made_up.repeated([800, 801, 802]), made_up.repeated([830, 831, 832]))
    assert not result.passed
    assert "more than the noise margin" in result.reason


def lost(count: int | None) -> Summary:
    found = made_up.single().validation.model_copy(update={"missing": count})
    return made_up.single(validation=found)


@pytest.mark.parametrize("expression", ["missing:+0", "missing:+50%"])
def test_from_zero_any_rise_is_too_much(expression: str) -> None:
    assert one(expression, lost(0), lost(0)).passed
    result = one(expression, lost(0), lost(7))
    assert not result.passed
    assert "from 0 (0 → 7)" in result.reason


def test_zero_cannot_fall() -> None:
    assert one("missing:-50%", lost(0), lost(7)).passed


@pytest.mark.parametrize(
    ("base", "other", "reason"),
    [
        (lost(None), lost(0), "the base does not have this figure"),
        (lost(0), lost(None), "the other does not have this figure"),
        (lost(None), lost(None), "neither side has this figure"),
    ],
)
def test_a_figure_that_is_not_there_fails(base: Summary, other: Summary, reason: str) -> None:
    result = one("missing:+0", base, other)
    assert (result.passed, result.reason) == (False, reason)


def test_a_growing_latency_has_no_mean_to_pass_with() -> None:
    growing: dict[str, Any] = {"event_time": made_up.statistics(100, growing=True)}
    result = one("mean:+50%", made_up.single(), made_up.single(latency_ms=growing))
    assert (result.passed, result.reason) == (False, "latency grows in other: it has no mean")


def test_every_case_is_checked_and_a_case_of_one_side_fails() -> None:
    base = made_up.sweep({1: [800, 801], 2: [800, 801], 3: [800, 801]}, "workload.keys")
    other = made_up.sweep({1: [800, 801], 2: [900, 901], 4: [800, 801]}, "workload.keys")
    results = checked("mean:+5%", base, other)
    assert [(one.varied["workload.keys"], one.passed) for one in results] == [
        (1, True),
        (2, False),
        (3, False),
        (4, False),
    ]
    assert [one.reason for one in results[2:]] == [
        "only the base has this case",
        "only the other has this case",
    ]


def test_every_other_is_checked() -> None:
    base, *others = (made_up.single(mean, run=f"r{mean}") for mean in (800, 700, 900))
    assert [(one.other, one.passed) for one in checked("p99:+5%", base, *others)] == [
        ("r700", True),
        ("r900", False),
    ]
