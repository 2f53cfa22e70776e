from __future__ import annotations

import pytest

from streamgauge.compare import change_text
from streamgauge.compare.comparison import Change, Finding, Value, compare
from streamgauge.compare.measured import run_subject

from . import made_up


def change(base: float, other: float, margin: float | None, finding: Finding) -> Change:
    return Change(
        figure="event_time.p99",
        base=Value(mean=base, count=3),
        other=Value(mean=other, count=3),
        delta=other - base,
        percent=100 * (other - base) / base if base else None,
        margin=margin,
        finding=finding,
    )


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (Finding.BETTER, "▲ better"),
        (Finding.WORSE, "▼ worse"),
        (Finding.CHANGED, "≠ changed"),
        (Finding.NOT_SIGNIFICANT, "= not significant"),
        (Finding.EQUAL, "= no change"),
        (Finding.NOISE_UNKNOWN, "? noise unknown"),
        (Finding.GROWING, "↗ growing"),
        (Finding.NOT_MEASURED, "– not measured"),
    ],
)
def test_every_finding_has_words_besides_its_mark(finding: Finding, text: str) -> None:
    assert change_text.finding(change(1, 2, None, finding)) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0 %"),
        (0.04, "< 0.1 %"),
        (-0.04, "< 0.1 %"),
        (0.05, "+0.1 %"),
        (-3.21, "−3.2 %"),
        (250.4, "+250 %"),
        (123456, "+123,456 %"),
    ],
)
def test_percentages(share: float, text: str) -> None:
    assert change_text.signed_percent(share) == text


def test_a_change_with_its_margin() -> None:
    one = change(800, 900, 40, Finding.WORSE)
    assert (change_text.delta(one), change_text.percent(one)) == ("+100 ms", "+12.5 %")
    assert change_text.margin(one) == "± 40 ms (5.0 %)"


def test_from_zero_nothing_is_divided() -> None:
    one = change(0, 900, 40, Finding.WORSE)
    assert (change_text.percent(one), change_text.margin(one)) == ("from 0", "± 40 ms")


def test_an_unknown_margin_is_written() -> None:
    assert change_text.margin(change(1, 2, None, Finding.NOISE_UNKNOWN)) == "unknown"


def test_how_much_was_measured() -> None:
    runs = (
        made_up.single(),
        made_up.repeated([1, 2, 3]),
        made_up.sweep({1: [5, 6], 2: [7, 8]}, "workload.keys"),
    )
    comparison = compare(run_subject(runs[0]), [run_subject(one) for one in runs])
    assert [change_text.shape(pair.other) for pair in comparison.pairs] == [
        "one run",
        "3 repetitions",
        "2 cases, 2 repetitions each",
    ]


def test_findings_are_counted() -> None:
    base, other = made_up.repeated([800, 801, 802]), made_up.repeated([700, 701, 702])
    (pair,) = compare(run_subject(base), [run_subject(other)]).pairs
    assert change_text.tally(pair) == "16 better, 19 no change"
    assert change_text.noise_sources(pair) == ["Welch's test at 95 %, 3 and 3 repetitions"]
