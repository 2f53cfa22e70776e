"""At which queue length an operation changes its paradigm."""

from __future__ import annotations

from dataclasses import dataclass

from streamgauge.dual.model.latency import Paradigm, Quantities


@dataclass(frozen=True)
class Limits:
    """Queue lengths in records, `down` ≤ `switch` ≤ `up`."""

    switch: float
    """L_switch, at which both paradigms have the same latency."""
    up: float
    """L_up: with a longer queue the data stream becomes an operation stream."""
    down: float
    """L_down: with a shorter queue the operation stream becomes a data stream again."""


def switch_queue(quantities: Quantities) -> float:
    """L_switch = K·V·T + C·PD, in records.

    It is zero where even an empty queue is no advantage of the data stream, because its
    transmission takes so long.
    """
    q = quantities
    batch = q.speed_ratio * q.arrival_per_s * q.interval_s
    return max(0.0, batch + q.constant_s * q.data_speed_per_s)


def limits(quantities: Quantities, hysteresis: float) -> Limits:
    """L_up = (1+δ)·L_switch and L_down = (1−δ)·L_switch, with δ = `hysteresis`, 0 < δ < 1."""
    if not 0 < hysteresis < 1:
        raise ValueError(f"the hysteresis must lie between 0 and 1, both excluded: {hysteresis}")
    switch = switch_queue(quantities)
    return Limits(switch, (1 + hysteresis) * switch, (1 - hysteresis) * switch)


def chosen(paradigm: Paradigm, queue: float, limits: Limits) -> Paradigm:
    """The paradigm that the queue asks for; between the limits it is the present one."""
    if queue > limits.up:
        return Paradigm.OPERATION
    if queue < limits.down:
        return Paradigm.DATA
    return paradigm


def excess_queue(queue: float, paradigm: Paradigm, quantities: Quantities) -> float:
    """The records that wait although the paradigm is what it is.

    An operation stream gathers up to V·T records for its next micro-batch. They are no sign of a
    burst: counted as a queue, they would keep it from ever going back.
    """
    gathering = paradigm is Paradigm.OPERATION
    batch = quantities.arrival_per_s * quantities.interval_s if gathering else 0.0
    return max(0.0, queue - batch)


def sustained_as_data_stream(quantities: Quantities, hysteresis: float) -> bool:
    """Whether the data stream keeps up, by a margin of δ: V ≤ (1−δ)·PD.

    In the middle of a burst the operation stream has a short queue, too. Without this condition it
    would go back, fall behind and come again for as long as the burst lasts.
    """
    return quantities.arrival_per_s <= (1 - hysteresis) * quantities.data_speed_per_s
