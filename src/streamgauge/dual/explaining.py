"""Where each operation is, since when and why, and how it came there: for `dual explain`."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from streamgauge.dual.history import History
from streamgauge.dual.model.latency import Paradigm
from streamgauge.dual.reports import SegmentSeen
from streamgauge.models import StrictModel

_SECOND_US = 1_000_000
NEVER_DECIDED = "nothing has been decided yet: it is where it was placed"


class OperationExplained(StrictModel):
    """Where an operation is; times in seconds since the beginning."""

    operation: str
    paradigm: Paradigm
    since_s: float
    reason: str
    decided_s: float | None = None
    """When the decision was made that the reason is from."""
    action: str = ""
    figures: dict[str, float | None] = Field(default={})
    """Those behind the decision."""
    seen: SegmentSeen | None = None
    """The latest figures."""


class SwitchExplained(StrictModel):
    """A switch that was made."""

    at_s: float
    operations: tuple[str, ...]
    before: Paradigm
    after: Paradigm
    took_ms: float
    """From the request to the first result in the new paradigm."""
    gap_ms: float | None
    parts_ms: dict[str, float]
    interval_ms: float | None = None


class Explanation(StrictModel):
    """Of one run of the runtime."""

    begin_us: int
    length_s: float
    operations: list[OperationExplained]
    switches: list[SwitchExplained]


def explain(history: History, begin_us: int | None = None) -> Explanation:
    """From the reports; the times are since the first report, or since `begin_us`."""
    first_us, last_us = history.reports[0].at_us, history.reports[-1].at_us
    begin = first_us if begin_us is None else begin_us
    return Explanation(
        begin_us=begin,
        length_s=(last_us - begin) / _SECOND_US,
        operations=[_operation(name, history, begin) for name in history.operations],
        switches=[
            SwitchExplained(
                at_s=(switch.at_us - begin) / _SECOND_US,
                operations=switch.operations,
                before=switch.paradigm.other,
                after=switch.paradigm,
                took_ms=(switch.at_us - switch.asked_us) / 1_000,
                gap_ms=switch.gap_ms,
                parts_ms=switch.parts_ms,
                interval_ms=switch.interval_ms,
            )
            for switch in history.switches
        ],
    )


def _operation(name: str, history: History, begin_us: int) -> OperationExplained:
    first_us, last_us = history.reports[0].at_us, history.reports[-1].at_us
    now = history.bands(name, first_us, last_us + 1)[-1]
    decided = history.last_decided(name)
    return OperationExplained(
        operation=name,
        paradigm=now.paradigm,
        since_s=(now.from_us - begin_us) / _SECOND_US,
        reason=decided.reason if decided else NEVER_DECIDED,
        decided_s=(decided.at_us - begin_us) / _SECOND_US if decided else None,
        action=decided.action if decided else "",
        figures=decided.figures if decided else {},
        seen=history.last_seen(name),
    )


def in_words(found: Explanation) -> Iterator[str]:
    """Lines to print: each operation with its reason and figures, then the switches."""
    for one in found.operations:
        yield f"{one.operation}: {one.paradigm.value} since {one.since_s:.1f} s"
        when = "" if one.decided_s is None else f" (decided at {one.decided_s:.1f} s: {one.action})"
        yield f"  why: {one.reason}{when}"
        if figures := _figures(one.figures):
            yield f"  decided by: {figures}"
        if one.seen is not None and (figures := _figures(_of(one.seen))):
            yield f"  now: {figures}"
    yield ""
    if not found.switches:
        yield f"no switch within {found.length_s:.1f} s"
        return
    count = len(found.switches)
    yield f"{count} switch{'es' if count > 1 else ''} within {found.length_s:.1f} s:"
    for switch in found.switches:
        gap = "no result within a minute"
        if switch.gap_ms is not None:
            gap = f"gap {switch.gap_ms:,.0f} ms"
        parts = ", ".join(f"{name} {value:,.0f} ms" for name, value in switch.parts_ms.items())
        interval = f", batches of {switch.interval_ms:,.0f} ms" if switch.interval_ms else ""
        yield (
            f"  {switch.at_s:8.1f} s  {', '.join(switch.operations)}: {switch.before.value} → "
            f"{switch.after.value}, {gap}{f' ({parts})' if parts else ''}{interval}"
        )


def _of(seen: SegmentSeen) -> dict[str, float | None]:
    return seen.model_dump(exclude={"operations", "paradigm"})


def _figures(figures: dict[str, float | None]) -> str:
    known = ((name, value) for name, value in figures.items() if value is not None)
    return ", ".join(f"{name} {_number(value)}" for name, value in known)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == round(value) else f"{value:.3g}"
