"""Reports of a made-up pipeline of three operations; times in seconds."""

from __future__ import annotations

from streamgauge.dual.model.latency import Paradigm
from streamgauge.dual.reports import Decided, Place, Placed, Report, Seen, SegmentSeen, Switched

OPERATIONS = ("filter", "join", "count")
SECOND_US = 1_000_000


def placed(at: float, paradigm: Paradigm) -> Placed:
    """Each operation a segment of its own, all in one paradigm."""
    places = tuple(Place(operations=(name,), paradigm=paradigm) for name in OPERATIONS)
    return Placed(at_us=_us(at), segments=places)


def seen(at: float, paradigm: Paradigm, queue: int = 100) -> Seen:
    segments = tuple(
        SegmentSeen(
            operations=(name,),
            paradigm=paradigm,
            queue=queue,
            arrival_per_s=1_000.0,
            processed_per_s=990.0,
            magnification=0.33,
            data_speed_per_s=4_000.0,
            operation_speed_per_s=20_000.0,
            upper_limit=500.0,
            lower_limit=300.0,
        )
        for name in OPERATIONS
    )
    return Seen(at_us=_us(at), segments=segments)


def decided(at: float, operations: tuple[str, ...] = ("filter",)) -> Decided:
    return Decided(
        at_us=_us(at),
        operations=operations,
        action="switch",
        paradigm=Paradigm.DATA,
        target=Paradigm.OPERATION,
        reason="queue 900 > upper limit 500",
        figures={"queue": 900.0, "upper": 500.0, "slope": None},
    )


def switched(
    at: float,
    after: Paradigm,
    *,
    asked: float | None = None,
    operations: tuple[str, ...] = ("filter",),
    gap_ms: int = 800,
) -> Switched:
    at_us = _us(at)
    return Switched(
        at_us=at_us,
        operations=operations,
        paradigm=after,
        asked_us=at_us - 1_000_000 if asked is None else _us(asked),
        last_output_us=at_us - 1_000 * gap_ms,
        first_output_us=at_us,
        parts_ms={"stop": 300.0, "settle": 100.0, "start": 350.0, "first result": 250.0},
        interval_ms=500.0 if after is Paradigm.OPERATION else None,
    )


def line(report: Report) -> str:
    """As the runtime writes it."""
    return f'{{"event": "{report.event}", {report.model_dump_json()[1:]}'


def _us(seconds: float) -> int:
    return round(seconds * SECOND_US)
