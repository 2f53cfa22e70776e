"""The latency of an operation in both paradigms, from the quantities that determine it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum


class Paradigm(Enum):
    """How an operation runs."""

    DATA = "data stream"
    """The operation stays and records flow through it, one by one (real-time mode)."""
    OPERATION = "operation stream"
    """Records stay in micro-batches and the operation is scheduled on them."""

    @property
    def other(self) -> Paradigm:
        return Paradigm.OPERATION if self is Paradigm.DATA else Paradigm.DATA


@dataclass(frozen=True)
class Quantities:
    """What both latencies of one operation depend on; speeds and rates in records per second."""

    arrival_per_s: float
    """V: records that arrive in front of the operation."""
    data_speed_per_s: float
    """PD: records that it can process as data stream."""
    operation_speed_per_s: float
    """PO: records that it can process as operation stream, without the scheduling."""
    interval_s: float
    """T: the micro-batch interval that it has, or would have, as operation stream."""
    schedule_s: float = 0.0
    """t_s: what scheduling one micro-batch takes, however few records it has."""
    data_transmission_s: float = 0.0
    """t_dt: on the way to the next operation, as data stream."""
    operation_transmission_s: float = 0.0
    """t_ot: on the way to the next operation, as operation stream."""

    def __post_init__(self) -> None:
        values = vars(self)
        if not all(math.isfinite(value) and value >= 0 for value in values.values()):
            raise ValueError(f"a quantity is negative or not a number: {values}")
        if not all((self.data_speed_per_s, self.operation_speed_per_s, self.interval_s)):
            raise ValueError(f"a speed or the interval is zero: {values}")

    @property
    def speed_ratio(self) -> float:
        """K = PD / PO, without unit."""
        return self.data_speed_per_s / self.operation_speed_per_s

    @property
    def constant_s(self) -> float:
        """C = T/2 + t_s + t_ot − t_dt: what the operation stream costs besides processing."""
        waiting_s = self.interval_s / 2 + self.schedule_s
        return waiting_s + self.operation_transmission_s - self.data_transmission_s

    def speed_per_s(self, paradigm: Paradigm) -> float:
        """PD or PO."""
        is_data = paradigm is Paradigm.DATA
        return self.data_speed_per_s if is_data else self.operation_speed_per_s

    def delay_s(self, paradigm: Paradigm) -> float:
        """The latency of a record that finds no queue; a micro-batch that gathers is none."""
        if paradigm is Paradigm.DATA:
            return self.data_transmission_s
        batch_s = self.arrival_per_s * self.interval_s / self.operation_speed_per_s
        waiting_s = self.interval_s / 2 + self.schedule_s
        return waiting_s + batch_s + self.operation_transmission_s


def data_stream_latency_s(quantities: Quantities, queue: float) -> float:
    """L/PD + t_dt of a record that finds `queue` records (L) before it."""
    return queue / quantities.data_speed_per_s + quantities.data_transmission_s


def operation_stream_latency_s(quantities: Quantities) -> float:
    """T/2 + t_s + V·T/PO + t_ot: the mean over the records of a micro-batch."""
    return quantities.delay_s(Paradigm.OPERATION)
