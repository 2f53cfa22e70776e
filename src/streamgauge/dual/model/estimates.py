"""The quantities of one operation, estimated from what is observed of it while it runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from streamgauge.dual.model.average import Average
from streamgauge.dual.model.latency import Paradigm

FAST_MEMORY_S = 2.0
"""Of the arrival rate, which a burst changes within seconds."""
SLOW_MEMORY_S = 30.0
"""Of everything that belongs to the operation and to the machine."""
TREND_POINTS = 20
"""The latest arrival rates, from which the slope is taken."""


@dataclass(frozen=True)
class Observation:
    """One operation over a short time, seen from outside, in one paradigm all the while."""

    time_s: float
    """The end of that time; all times are of one clock."""
    elapsed_s: float
    paradigm: Paradigm
    arrived: float
    """Records that came into its queue."""
    processed: float
    """Records that it took from its queue and finished."""
    emitted: float
    """Records that it put out."""
    busy_s: float | None = None
    """The time that it needed for what it processed, without scheduling: all the time if its queue
    never ran empty. None: not known, so that its speed is at least processed per time."""
    schedule_s: float | None = None
    """t_s of one micro-batch, the mean."""
    batches: int = 1
    """How many micro-batches there were."""
    transmission_s: float | None = None
    """On the way to the next operation, the mean."""

    def __post_init__(self) -> None:
        numbers = [value for value in vars(self).values() if isinstance(value, float | int)]
        if not all(math.isfinite(number) for number in numbers) or self.elapsed_s <= 0:
            raise ValueError(f"not an observation: {self}")
        if min(self.arrived, self.processed, self.emitted) < 0:
            raise ValueError(f"a count of records is negative: {self}")


_FAST = Average(FAST_MEMORY_S)
_SLOW = Average(SLOW_MEMORY_S)
_LASTING = Average(math.inf)


@dataclass(frozen=True)
class Estimates:
    """What is known of one operation; each value is None until it was observed."""

    arrival: Average = _FAST
    """V, records per second."""
    magnification: Average = _SLOW
    """λ, records out per record in."""
    data_speed: Average = _SLOW
    """PD, records per second."""
    operation_speed: Average = _SLOW
    """PO, records per second."""
    schedule: Average = _SLOW
    """t_s, seconds."""
    data_transmission: Average = _SLOW
    """t_dt, seconds."""
    operation_transmission: Average = _SLOW
    """t_ot, seconds."""
    preparation: Average = _LASTING
    """Seconds from the decision to prepare until the other paradigm can take over."""
    gap: Average = _LASTING
    """Seconds of a switch in which nothing is processed. Switches are rare: all count the same."""
    recent_arrivals: tuple[tuple[float, float], ...] = ()
    """Time in seconds and arrivals per second, the oldest first."""

    def updated(self, seen: Observation) -> Estimates:
        """With one more observation of the operation."""
        arrivals = (*self.recent_arrivals, (seen.time_s, seen.arrived / seen.elapsed_s))
        known = replace(
            self,
            arrival=self.arrival.updated(seen.arrived, seen.elapsed_s, seen.elapsed_s),
            magnification=self.magnification.updated(seen.emitted, seen.processed, seen.elapsed_s),
            recent_arrivals=arrivals[-TREND_POINTS:],
        )
        if seen.paradigm is Paradigm.DATA:
            return replace(
                known,
                data_speed=_speed(self.data_speed, seen, least_busy_s=0.0),
                data_transmission=_time(self.data_transmission, seen.transmission_s, seen),
            )
        schedule = _time(self.schedule, seen.schedule_s, seen)
        # Micro-batches that were mostly scheduling show the scheduling, not the speed.
        scheduling_s = (schedule.value or 0.0) * seen.batches
        return replace(
            known,
            schedule=schedule,
            operation_speed=_speed(self.operation_speed, seen, least_busy_s=scheduling_s),
            operation_transmission=_time(self.operation_transmission, seen.transmission_s, seen),
        )

    def switched(self, preparation_s: float, gap_s: float) -> Estimates:
        """With one more switch of the operation, as it was measured."""
        return replace(
            self,
            preparation=self.preparation.updated(preparation_s, 1.0, 0.0),
            gap=self.gap.updated(gap_s, 1.0, 0.0),
        )


def _speed(speed: Average, seen: Observation, least_busy_s: float) -> Average:
    if not seen.processed:
        # A pause is not a speed.
        return speed
    if seen.busy_s is not None and seen.busy_s > least_busy_s:
        return speed.updated(seen.processed, seen.busy_s, seen.elapsed_s)
    # It may be able to do more than this, but not less.
    faster = speed.value is not None and seen.processed / seen.elapsed_s > speed.value
    return speed.updated(seen.processed, seen.elapsed_s, seen.elapsed_s) if faster else speed


def _time(average: Average, seconds: float | None, seen: Observation) -> Average:
    if seconds is None or not seen.processed:
        return average
    return average.updated(seconds, 1.0, seen.elapsed_s)
