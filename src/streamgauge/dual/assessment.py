"""How one operation is doing in its paradigm, looked at by itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from streamgauge.dual.decision import Figures, Standing
from streamgauge.dual.model.cost import saved_by_switching
from streamgauge.dual.model.estimates import Estimates
from streamgauge.dual.model.interval import best_interval_s
from streamgauge.dual.model.latency import Paradigm, Quantities
from streamgauge.dual.model.limits import (
    chosen,
    excess_queue,
    limits,
    sustained_as_data_stream,
)
from streamgauge.dual.model.trend import (
    arrival_after,
    certain_fall,
    certain_rise,
    crosses_within,
    latest_arrival,
)
from streamgauge.dual.settings import DualSettings

OUTLOOK_S = 5.0
"""A ramp must lead beyond the limit within this time after a switch, or it is none worth one. A
load that falls by a good share of itself within this time is not calm yet."""


class Pressure(Enum):
    """What the load does to an operation."""

    UNKNOWN = "unknown"
    CALM = "calm"
    RAMP = "ramp"
    """Calm, but certainly a burst by the time that a switch is prepared."""
    BURST = "burst"
    """It belongs into the operation stream, whichever paradigm it is in."""
    PAST = "past"
    """The burst is over, but going back is not worth it yet; it concerns no other operation."""


@dataclass(frozen=True)
class Assessment:
    """The pressure on an operation, and why."""

    pressure: Pressure
    reason: str
    figures: Figures | None = None

    @property
    def data_stream_is_faster(self) -> bool:
        """Whether the operation stream would lower the throughput: K ≥ 1, as measured."""
        if self.figures is None or self.figures.speed_ratio_assumed:
            return False
        return self.figures.quantities.speed_ratio >= 1


def assess(standing: Standing, settings: DualSettings) -> Assessment:
    """The pressure on an operation from its queue, its estimates and what a switch would cost."""
    figures = _figures(standing, settings)
    if figures is None:
        return Assessment(Pressure.UNKNOWN, "its speed is not yet known: no queue so far")
    if standing.paradigm is Paradigm.DATA:
        pressure, reason = _as_data_stream(standing, figures, settings)
    else:
        pressure, reason = _as_operation_stream(standing, figures, settings)
    return Assessment(pressure, reason, figures)


def quantities_of(estimates: Estimates, settings: DualSettings) -> Quantities | None:
    """The estimates, with what is assumed where nothing is known; None without any speed."""
    data, operation = estimates.data_speed.value, estimates.operation_speed.value
    if data is None and operation is None:
        return None
    data = data or settings.assumed_speed_ratio * (operation or 0.0)
    operation = operation or data / settings.assumed_speed_ratio
    schedule = estimates.schedule.value
    schedule_s = settings.assumed_schedule_s if schedule is None else schedule
    arrival_per_s = estimates.arrival.value or 0.0
    # No margin: a micro-batch that takes longer than its interval is followed by the next at once.
    interval_s = best_interval_s(
        arrival_per_s,
        operation,
        schedule_s,
        margin=0.0,
        shortest_s=settings.shortest_interval_s,
        longest_s=settings.longest_interval_s,
    )
    return Quantities(
        arrival_per_s,
        data,
        operation,
        interval_s,
        schedule_s,
        estimates.data_transmission.value or 0.0,
        estimates.operation_transmission.value or 0.0,
    )


def _figures(standing: Standing, settings: DualSettings) -> Figures | None:
    estimates = standing.estimates
    quantities = quantities_of(estimates, settings)
    if quantities is None:
        return None
    queue = excess_queue(standing.queue, standing.paradigm, quantities)
    gap_s = _known(estimates.gap.value, settings.assumed_gap_s)
    return Figures(
        queue,
        limits(quantities, settings.hysteresis),
        quantities,
        None in (estimates.data_speed.value, estimates.operation_speed.value),
        saved_by_switching(quantities, standing.paradigm, queue, gap_s, settings.ahead_s),
        certain_rise(estimates.recent_arrivals),
    )


def _as_data_stream(
    standing: Standing, figures: Figures, settings: DualSettings
) -> tuple[Pressure, str]:
    queue, up = figures.queue, figures.limits.up
    if chosen(Paradigm.DATA, queue, figures.limits) is Paradigm.OPERATION:
        above = f"queue {queue:,.0f} > upper limit {up:,.0f}"
        if figures.saved_record_s < 0:
            return Pressure.CALM, f"{above}, but a switch {_cost(figures, settings)}"
        return Pressure.BURST, f"{above}; {_terms(figures)}; a switch {_gain(figures, settings)}"
    if figures.slope_per_s2 is not None and figures.slope_per_s2 > 0:
        ramp = _on_a_ramp(standing, figures, figures.slope_per_s2, settings)
        if ramp is not None:
            return ramp
    return Pressure.CALM, f"queue {queue:,.0f} ≤ upper limit {up:,.0f}; {_terms(figures)}"


def _on_a_ramp(
    standing: Standing, figures: Figures, slope: float, settings: DualSettings
) -> tuple[Pressure, str] | None:
    """A switch takes time, in which the load grows on: it is prepared and made in advance."""
    queue, q = figures.queue, figures.quantities
    ready_s, lead_s = _ready_and_lead_s(standing.estimates, settings)
    now_per_s = max(q.arrival_per_s, latest_arrival(standing.estimates.recent_arrivals))
    then_per_s = arrival_after(now_per_s, slope, lead_s)
    safe_per_s = (1 - settings.hysteresis) * q.data_speed_per_s
    grows = f"V grows by at least {slope:,.0f}/s per second; {_terms(figures)}"
    beyond = replace(q, arrival_per_s=now_per_s)
    lasting = crosses_within(beyond, queue, slope, settings.hysteresis, lead_s + OUTLOOK_S)
    if standing.prepared and then_per_s > safe_per_s and lasting:
        return Pressure.BURST, (
            f"in {lead_s:.1f} s, which a switch takes, {then_per_s:,.0f}/s will arrive, and a data"
            f" stream is safe up to {safe_per_s:,.0f}/s; {grows}"
        )
    if (lasting and then_per_s > safe_per_s) or crosses_within(
        q, queue, slope, settings.hysteresis, ready_s
    ):
        return Pressure.RAMP, (
            f"queue {queue:,.0f} will pass its upper limit, now {figures.limits.up:,.0f}, and"
            f" preparing a switch takes {ready_s:.1f} s; {grows}"
        )
    return None


def _ready_and_lead_s(estimates: Estimates, settings: DualSettings) -> tuple[float, float]:
    """Until a switch is prepared, and until it is over."""
    ready_s = _known(estimates.preparation.value, settings.assumed_preparation_s)
    return ready_s, ready_s + _known(estimates.gap.value, settings.assumed_gap_s)


def _known(measured_s: float | None, assumed_s: float) -> float:
    return assumed_s if measured_s is None else measured_s


def _as_operation_stream(
    standing: Standing, figures: Figures, settings: DualSettings
) -> tuple[Pressure, str]:
    queue, down, q = figures.queue, figures.limits.down, figures.quantities
    pays = figures.saved_record_s >= 0
    if not figures.speed_ratio_assumed and q.speed_ratio > 1 and pays:
        return Pressure.CALM, (
            f"the data stream is faster, {q.data_speed_per_s:,.0f}/s against"
            f" {q.operation_speed_per_s:,.0f}/s; going back {_gain(figures, settings)}"
        )
    if chosen(Paradigm.OPERATION, queue, figures.limits) is Paradigm.OPERATION:
        return Pressure.BURST, f"queue {queue:,.0f} ≥ lower limit {down:,.0f}; {_terms(figures)}"
    below = f"queue {queue:,.0f} < lower limit {down:,.0f}"
    if not sustained_as_data_stream(q, settings.hysteresis):
        most = (1 - settings.hysteresis) * q.data_speed_per_s
        return Pressure.BURST, (
            f"{below}, but {q.arrival_per_s:,.0f}/s arrive and a data stream is safe"
            f" up to {most:,.0f}/s"
        )
    if not pays:
        return Pressure.PAST, f"{below}, but going back {_cost(figures, settings)}"
    _, lead_s = _ready_and_lead_s(standing.estimates, settings)
    fall = certain_fall(standing.estimates.recent_arrivals)
    if fall is not None and fall * (lead_s + OUTLOOK_S) > settings.hysteresis * q.arrival_per_s:
        return Pressure.PAST, (
            f"{below}, but V still falls by at least {fall:,.0f}/s per second, and a later switch"
            " holds up fewer records"
        )
    return Pressure.CALM, f"{below}; {_terms(figures)}; going back {_gain(figures, settings)}"


def _terms(figures: Figures) -> str:
    q = figures.quantities
    assumed = " assumed" if figures.speed_ratio_assumed else ""
    return (
        f"V {q.arrival_per_s:,.0f}/s, PD {q.data_speed_per_s:,.0f}/s, T {q.interval_s:.2f} s,"
        f" K {q.speed_ratio:.2f}{assumed}, C {q.constant_s:.2f} s"
    )


def _gain(figures: Figures, settings: DualSettings) -> str:
    saved = figures.saved_record_s
    return f"saves {saved:,.0f} record-seconds in {settings.ahead_s:.0f} s"


def _cost(figures: Figures, settings: DualSettings) -> str:
    cost = -figures.saved_record_s
    return f"costs {cost:,.0f} record-seconds more than it saves in {settings.ahead_s:.0f} s"
