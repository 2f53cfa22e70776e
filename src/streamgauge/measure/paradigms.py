"""The paradigms of a run of the dual-paradigm runtime: bands, switches, shares, last figures."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from streamgauge.dual.history import Band, History
from streamgauge.dual.model.latency import Paradigm
from streamgauge.dual.reports import Switched

_SECOND_US = 1_000_000
ParadigmName = Annotated[Paradigm, PlainSerializer(lambda one: one.value, return_type=str)]


class _Figures(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ParadigmBand(_Figures):
    """Seconds since the load started."""

    from_s: float
    to_s: float
    paradigm: ParadigmName


class OperationParadigms(_Figures):
    """One operation; figures of its segment, as it was last seen during the load."""

    operation: str
    segment: list[str] = Field(default=[], description="the operations that run as one query")
    bands: list[ParadigmBand] = Field(default=[], description="cover the whole load")
    operation_stream_percent: float = Field(description="of the time of the load")
    queue: int | None = Field(default=None, description="L")
    arrival_per_s: float | None = Field(default=None, description="V")
    processed_per_s: float | None = None
    magnification: float | None = Field(default=None, description="λ")
    data_speed_per_s: float | None = Field(default=None, description="PD")
    operation_speed_per_s: float | None = Field(default=None, description="PO")
    upper_limit: float | None = Field(default=None, description="L_up")
    lower_limit: float | None = Field(default=None, description="L_down")
    latency_ms: float | None = Field(
        default=None,
        description="mean time in front of and in the segment after the warm-up: mean queue by "
        "mean arrival rate",
    )


class Switch(_Figures):
    """A segment went to the other paradigm; times in seconds since the load started."""

    at_s: float = Field(description="first result in the new paradigm")
    asked_s: float
    operations: list[str]
    before: ParadigmName
    after: ParadigmName
    gap_s: tuple[float, float] | None = Field(
        default=None, description="last result of the old run, first of the new one"
    )
    gap_ms: float | None = None
    parts_ms: dict[str, float] = {}
    interval_ms: float | None = Field(default=None, description="of the micro-batches")


class Paradigms(_Figures):
    """What the runtime did during the load, as it reports it itself."""

    switch_count: int = 0
    longest_gap_ms: float | None = None
    operation_stream_percent: float = Field(
        default=0.0, description="of the time of the load, mean of all operations"
    )
    operations: list[OperationParadigms] = []
    switches: list[Switch] = []


def paradigms_of(
    history: History, start_us: int, end_us: int, warm_up_us: int = 0
) -> Paradigms | None:
    """During the load, from its start to its end, in wall-clock time; None without reports."""
    if not history or start_us >= end_us:
        return None
    operations = [
        _operation(name, history, start_us, end_us, warm_up_us) for name in history.operations
    ]
    switches = [
        _switch(one, start_us) for one in history.switches if start_us <= one.at_us <= end_us
    ]
    gaps = [one.gap_ms for one in switches if one.gap_ms is not None]
    shares = [one.operation_stream_percent for one in operations]
    return Paradigms(
        switch_count=len(switches),
        longest_gap_ms=max(gaps, default=None),
        operation_stream_percent=round(sum(shares) / len(shares), 2),
        operations=operations,
        switches=switches,
    )


def _operation(
    name: str, history: History, start_us: int, end_us: int, warm_up_us: int
) -> OperationParadigms:
    bands = history.bands(name, start_us, end_us)
    seen = [(at_us, one) for at_us, one in history.seen(name) if at_us <= end_us]
    last = seen[-1][1] if seen else None
    counted = [one for at_us, one in seen if at_us >= start_us + warm_up_us]
    same = OperationParadigms.model_fields.keys() & (type(last).model_fields.keys() if last else ())
    return OperationParadigms(
        operation=name,
        segment=list(last.operations) if last else [],
        bands=[_band(band, start_us) for band in bands],
        operation_stream_percent=_percent(bands, end_us - start_us),
        latency_ms=_latency_ms(
            [one.queue for one in counted],
            (one.arrival_per_s for one in counted if one.arrival_per_s is not None),
        ),
        **(last.model_dump(include=set(same)) if last else {}),
    )


def _band(band: Band, start_us: int) -> ParadigmBand:
    from_s, to_s = ((at - start_us) / _SECOND_US for at in (band.from_us, band.to_us))
    return ParadigmBand(from_s=from_s, to_s=to_s, paradigm=band.paradigm)


def _percent(bands: Iterable[Band], length_us: int) -> float:
    held = sum(one.to_us - one.from_us for one in bands if one.paradigm is Paradigm.OPERATION)
    return round(100 * held / length_us, 2)


def _latency_ms(queues: list[int], arrivals: Iterable[float]) -> float | None:
    """By Little's law, so that it needs no stamps inside of the system."""
    rates = list(arrivals)
    if not rates or not sum(rates):
        return None
    return round(1_000 * (sum(queues) / len(queues)) / (sum(rates) / len(rates)), 3)


def _switch(one: Switched, start_us: int) -> Switch:
    def since(at_us: int) -> float:
        return (at_us - start_us) / _SECOND_US

    outputs = (one.last_output_us, one.first_output_us)
    first, last = (None if at_us is None else since(at_us) for at_us in outputs)
    return Switch(
        at_s=since(one.at_us),
        asked_s=since(one.asked_us),
        operations=list(one.operations),
        before=one.paradigm.other,
        after=one.paradigm,
        gap_s=None if first is None or last is None else (first, last),
        gap_ms=one.gap_ms,
        parts_ms=one.parts_ms,
        interval_ms=one.interval_ms,
    )


def parts_of(switches: Iterable[Switch]) -> list[str]:
    """The names of the parts of all switches, in their order."""
    return list(dict.fromkeys(chain.from_iterable(one.parts_ms for one in switches)))
