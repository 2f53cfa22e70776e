"""The section about faults: a time line of each recovery, its figures, and what was delivered."""

from __future__ import annotations

from collections.abc import Iterator

from streamgauge import writing
from streamgauge.measure.figures import FIGURES
from streamgauge.measure.guarantee import keeps
from streamgauge.measure.recovery_figures import FaultRecovery, Recovery
from streamgauge.measure.summary import StudySummary, TrialSummary, Validation
from streamgauge.report.cases import ONLY_CASE, case_label
from streamgauge.report.cells import heading, value_cell
from streamgauge.report.markup import (
    EMPTY,
    Html,
    cards,
    element,
    joined,
    left,
    note,
    section,
    table,
)

NEVER = "never within the run"
COLUMNS = (
    "detection_ms",
    "outage_ms",
    "reload_ms",
    "replay_ms",
    "catch_up_ms",
    "p99_back_ms",
    "recovery_ms",
)
MORE = ("longest_gap_ms", "backlog_max", "catch_up_per_s", "late_results")
_MOST_ROWS = 1_000
_DELIVERY = ("missing", "duplicate", "extra", "wrong", "late")
_PARTS = {
    "reload": "until it took input again",
    "replay": "until it was where it had been",
    "catching up": "until throughput and latency were in their band again",
}


def recovery(summary: TrialSummary) -> Html:
    """Empty of a run without faults."""
    found = summary.recovery
    if found is None:
        return EMPTY
    return section(
        "Faults and recovery",
        _headline(found),
        *_time_lines(found),
        _faults(found, COLUMNS),
        _faults(found, MORE),
        _guarantee(found, summary.validation),
    )


def recoveries(summary: StudySummary) -> Html:
    """Every fault of every trial, and what each trial has delivered."""
    names = ("outage_ms", "reload_ms", "replay_ms", "p99_back_ms", "recovery_ms")
    head = (
        "case",
        "fault",
        *(heading(FIGURES[f"recovery.{name}"]) for name in names),
        *_DELIVERY,
        "delivery shown",
        "claimed",
    )
    rows = []
    for trial in summary.trials:
        counts = [_count(trial.validation, name) for name in _DELIVERY]
        found = trial.recovery or Recovery()
        for fault in found.faults:
            shown = (_shown(found), found.guarantee_claimed or "nothing")
            title = left(_title(fault) if fault.done else f"{fault.name}: {fault.failed}")
            values = [_value(name, getattr(fault, name)) for name in names]
            label = case_label(trial.varied) or ONLY_CASE
            rows.append((label, title, *values, *counts, *shown))
    if not rows:
        return EMPTY
    shown_rows = rows[:_MOST_ROWS]
    rest = note(f"The first {_MOST_ROWS} of {len(rows):,} faults.") if rows[_MOST_ROWS:] else EMPTY
    return section("Faults and recovery", table(head, shown_rows, class_="numbers"), rest)


def _headline(found: Recovery) -> Html:
    names = ("recovery_ms", "outage_ms", "reload_ms", "replay_ms")
    worst = "the longest of all faults" if len(found.faults) > 1 else ""
    return cards(
        (
            heading(FIGURES[f"recovery.{name}"]),
            _value(name, getattr(found, name)),
            worst,
        )
        for name in names
    )


def _time_lines(found: Recovery) -> Iterator[Html]:
    """One bar for each fault; all have the same scale."""
    done = [fault for fault in found.faults if fault.done]
    longest_ms = max((sum(length for _, length in parts_of(one)) for one in done), default=0.0)
    if not longest_ms:
        return
    rows = [(_title(fault), _bar(parts_of(fault), longest_ms)) for fault in done]
    yield table((), rows, class_="recoveries")
    shown = (
        element("span", element("i", class_=f"part-{number}"), f" {name}: {meaning}. ")
        for number, (name, meaning) in enumerate(_PARTS.items(), 1)
    )
    yield note(*shown, f"The longest bar is {writing.duration(longest_ms)}.")


def parts_of(fault: FaultRecovery) -> list[tuple[str, float]]:
    """The parts of a recovery in the order of time, in milliseconds."""
    reload, replay = fault.reload_ms or 0.0, fault.replay_ms or 0.0
    rest = max(0.0, (fault.recovery_ms or 0.0) - reload - replay)
    return list(zip(_PARTS, (reload, replay, rest), strict=True))


def _bar(parts: list[tuple[str, float]], longest_ms: float) -> Html:
    pieces = (
        element(
            "i",
            class_=f"part-{number}",
            style=f"width:{100 * length / longest_ms:.2f}%",
            title=f"{name}: {writing.duration(length)}",
        )
        for number, (name, length) in enumerate(parts, 1)
    )
    return element("span", *pieces, class_="parts")


def _title(fault: FaultRecovery) -> str:
    return f"{fault.name} at {fault.at_s:.1f} s"


def _faults(found: Recovery, names: tuple[str, ...]) -> Html:
    head = ("fault", *(heading(FIGURES[f"recovery.{name}"]) for name in names))
    rows = []
    for fault in found.faults:
        if fault.done:
            cells = [_value(name, getattr(fault, name)) for name in names]
        else:
            cells = [element("span", f"not done: {fault.failed}", class_="nothing")]
            cells += [EMPTY] * (len(names) - 1)
        title = joined(_title(fault), f" ({fault.victim})" if fault.victim else "")
        rows.append((title, *cells))
    return table(head, rows, class_="numbers")


def _value(name: str, value: float | None) -> Html:
    if value is None and name == "recovery_ms":
        return element("span", NEVER, class_="bad")
    return value_cell(FIGURES[f"recovery.{name}"], value, why_not="not seen")


def _guarantee(found: Recovery, validation: Validation) -> Html:
    head = ("delivery", "claimed", "shown", *_DELIVERY)
    counts = (_count(validation, name) for name in _DELIVERY)
    row = ("of all results", found.guarantee_claimed or "nothing", _shown(found), *counts)
    return table(head, [row], class_="numbers")


def _count(validation: Validation, name: str) -> Html:
    return value_cell(FIGURES[f"validation.{name}"], getattr(validation, name))


def _shown(found: Recovery) -> Html:
    shown = found.guarantee_shown
    kept = keeps(shown, found.guarantee_claimed)
    mark = "" if not shown else "✓ " if kept else "✗ "
    return element("span", f"{mark}{shown or 'not known'}", class_="good" if kept else "bad")
