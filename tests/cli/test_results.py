from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamgauge.cli.results import show
from streamgauge.cli.terminal import Session

from . import made_up

REPORT = Path("runs/x/report.html")


def shown(capsys: pytest.CaptureFixture[str], **changes: Any) -> str:
    make = made_up.study if "trials" in changes else made_up.summary
    show(Session(), make(**changes), REPORT)
    return capsys.readouterr().out


def test_outcome_then_thresholds_then_figures_then_the_report(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = shown(capsys)
    order = [
        "✓ PASSED",
        "results: ✓ valid",
        "sustained: ✓ yes",
        "thresholds",
        "throughput",
        "latency",
        "validation",
    ]
    places = [text.index(word) for word in [*order, f"report: {REPORT}"]]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("changes", "headline"),
    [
        ({}, "✓ PASSED"),
        ({"sustained": False}, "✗ NOT SUSTAINED"),
        ({"verdict": "invalid"}, "✗ INVALID"),
        ({"verdict": "unknown"}, "? UNKNOWN"),
        ({"verdict": "void"}, "∅ VOID"),
    ],
)
@pytest.mark.parametrize("of_study", [False, True])
def test_the_first_line_is_the_outcome(
    changes: dict[str, Any], headline: str, of_study: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    study: dict[str, Any] = {"trials": [trial()], "cases": [case([0], {})]} if of_study else {}
    text = shown(capsys, **changes, **study)
    assert text.splitlines()[0].startswith(f"{headline}   quickstart, run ")


def test_reasons_are_below_what_they_explain(capsys: pytest.CaptureFixture[str]) -> None:
    reasons = {"reasons": ["12 results are missing"], "unsustained_because": ["the queue grew"]}
    text = shown(capsys, verdict="invalid", sustained=False, **reasons)
    assert text.splitlines()[1:5] == [
        "results: ✗ invalid",
        "  12 results are missing",
        "sustained: ✗ no",
        "  the queue grew",
    ]


@pytest.mark.parametrize(("sustained", "word"), [(True, "✓ yes"), (False, "✗ no"), (None, "? unk")])
def test_sustained(sustained: bool | None, word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"sustained: {word}" in shown(capsys, sustained=sustained)


def test_thresholds_show_mark_and_value_in_its_unit(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(
        capsys,
        thresholds=[
            {"expression": "event_time.p99 < 1 s", "value": 1_234.0, "passed": False},
            {"expression": "validation.missing == 0", "value": 0.0, "passed": True},
            {"expression": "drained_per_s >= 100k", "value": 100_000.0, "passed": True},
            {"expression": "event_time.p99_9 < 1 s", "passed": False, "reason": "54 results"},
        ],
    )
    lines = [line.split("   ") for line in text.splitlines()]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    assert ["✗ event_time.p99 < 1 s", "1.23 s"] in cells
    assert ["✓ validation.missing == 0", "0"] in cells
    assert ["✓ drained_per_s >= 100k", "100,000/s"] in cells
    assert ["✗ event_time.p99_9 < 1 s", "54 results"] in cells


def test_a_quantile_of_too_few_results_shows_how_many_it_needs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    few = {**made_up.STATISTICS, "count": 54}
    text = shown(capsys, latency_ms={"event_time": few, "processing_time": few})
    wanted = "p90 needs 100, p95 needs 200, p99 needs 1,000, p99.9 needs 10,000"
    assert f"  not measured: 54 results; {wanted}\n" in text


def test_the_mean_of_a_growing_latency_is_not_given(capsys: pytest.CaptureFixture[str]) -> None:
    growing = {**made_up.STATISTICS, "growing": True, "growth_per_s": 120.0}
    text = shown(capsys, latency_ms={"event_time": growing, "processing_time": growing})
    assert "growing by 120 ms/s" in text
    assert "900 ms" not in text


def test_a_quick_run_is_stamped(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, quick=True).startswith("quick run: the numbers are meaningless\n")


def test_a_run_of_which_nothing_is_known_can_be_shown(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(
        capsys,
        status="failed",
        verdict="unknown",
        offered_per_s=None,
        drained_per_s=None,
        latency_ms={},
        validation={},
        thresholds=[],
        resources={"system": {"cpu_percent_mean": 99.0, "memory_mb_max": 1, "disk_mb_written": 0}},
    )
    assert text.startswith("✗ BROKEN OFF   ")
    assert "compared with: nothing" in text
    assert "99.0 %" in text


def trial(**changes: Any) -> dict[str, Any]:
    return made_up.summary(run="trials/01", **changes).model_dump()


def spread(mean: float) -> dict[str, Any]:
    return {"count": 1, "mean": mean, "min": mean, "max": mean}


def case(trials: list[int], varied: dict[str, object], **changes: Any) -> dict[str, Any]:
    figures = {
        "offered_per_s": spread(100_000),
        "drained_per_s": spread(98_000),
        "event_time.p50": spread(850),
        "event_time.p99": spread(1_234),
    }
    return {"varied": varied, "trials": trials, "figures": figures, **changes}


FOUND: dict[str, Any] = {
    "maximum_sustainable_per_s": 2_130_000.0,
    "passed": 2_130_000.0,
    "failed": 2_200_000.0,
    "confidence": "confirmed by a trial of 60 s",
    "tries": [
        {"rate_per_s": 2_130_000.0, "kind": "confirm", "verdict": "passed", "length_s": 60.0}
    ],
}


def cells(text: str, first: str) -> list[str]:
    """The cells of the line of a table that begins with a word."""
    line = next(line for line in text.splitlines() if line.strip().startswith(first))
    return [cell.strip() for cell in line.split("   ") if cell.strip()]


def test_a_search_shows_its_maximum_below_the_outcome(capsys: pytest.CaptureFixture[str]) -> None:
    only = case([0], {})
    only["figures"]["maximum_sustainable_per_s"] = spread(2_130_000)
    text = shown(capsys, trials=[trial(**FOUND)], cases=[only], **FOUND)
    assert text.splitlines()[3:6] == [
        "maximum sustainable throughput: 2,130,000 events/s",
        "  passed 2,130,000/s, failed 2,200,000/s",
        "  confirmed by a trial of 60 s",
    ]
    assert cells(text, "cases")[1] == "offered"


def test_a_search_without_a_maximum_shows_none_found(capsys: pytest.CaptureFixture[str]) -> None:
    nothing = {**FOUND, "maximum_sustainable_per_s": None, "passed": None}
    text = shown(capsys, trials=[trial(**nothing)], cases=[case([0], {})], **nothing)
    assert "\nmaximum sustainable throughput: none found\n  failed 2,200,000/s\n" in text


def test_a_study_shows_its_cases_instead_of_one_trial(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(
        capsys,
        trials=[trial(), trial(verdict="invalid", sustained=False), trial(sustained=None)],
        cases=[
            case([0], {"system.executors": 1}),
            case([1, 2], {"system.executors": 2}, growing=True),
        ],
    )
    assert cells(text, "executors 1") == [
        "executors 1", "1", "100,000/s", "98,000/s", "850 ms", "1.23 s", "✓ valid", "✓ yes"
    ]  # fmt: skip
    assert cells(text, "executors 2")[1:2] == ["2"]
    assert cells(text, "executors 2")[4:] == [
        "850 ms, growing", "1.23 s", "1 ✗ invalid, 1 ✓ valid", "✗ no"
    ]  # fmt: skip
    assert "maximum" not in text
    assert "validation" not in text
    assert text.index("thresholds") < text.index("executors 1") < text.index(f"report: {REPORT}")


def test_every_search_of_a_study_has_its_maximum(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = case([0], {"system.executors": 1}), case([1], {"system.executors": 2})
    first["figures"]["maximum_sustainable_per_s"] = spread(2_130_000)
    second["figures"]["maximum_sustainable_per_s"] = spread(2_130_000)
    text = shown(capsys, trials=[trial(**FOUND), trial(**FOUND)], cases=[first, second])
    assert cells(text, "cases")[1] == "maximum sustainable"
    assert cells(text, "executors 1")[1] == "2,130,000/s"
    assert cells(text, "executors 2")[1] == "2,130,000/s"


def test_published_figures_are_beside_ours(capsys: pytest.CaptureFixture[str]) -> None:
    beside = [
        {"label": "spark, 2 nodes", "figure": "event_time.p99", "value": 5_990, "ours": 1_198},
        {"label": "spark, 4 nodes", "figure": "event_time.p99", "value": 4_955},
    ]
    text = shown(capsys, trials=[trial()], cases=[case([0], {})], published=beside)
    assert cells(text, "spark, 2")[1:] == ["event time p99", "5.99 s", "1.20 s", "0.2 ×"]
    assert cells(text, "spark, 4")[1:] == ["event time p99", "4.96 s", "–", "–"]
    assert "other hardware" in text


def limit(kind: str, strength: float) -> dict[str, Any]:
    return {"kind": kind, "shown_by": f"{kind} 71 %", "advice": "do", "strength": strength}


def test_the_three_strongest_limits_of_a_run_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    kinds = (("state", 0.1), ("CPU", 0.9), ("source", 0.7), ("shuffle", 0.5))
    text = shown(capsys, limits=[limit(*one) for one in kinds])
    lines = text[text.index("limited by") : text.index("report:")].split("\n")
    assert lines[1:3] == ["  CPU: CPU 71 %", "    do"]
    assert [line for line in lines if "71 %" in line][1:] == [
        "  source: source 71 %",
        "  shuffle: shuffle 71 %",
    ]


def test_the_limits_of_several_trials_are_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    trials = [trial(limits=[limit("CPU", strength)]) for strength in (0.4, 0.9)]
    text = shown(capsys, trials=trials, cases=[case([0, 1], {})])
    assert text.count("CPU 71 %") == 1


def test_hundreds_of_reasons_do_not_hide_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, verdict="invalid", reasons=[f"reason {n}" for n in range(300)])
    assert "  and 290 more reasons" in text
    assert "reason 11" not in text
