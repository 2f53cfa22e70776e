"""The share of one driver instance in a schedule."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamgauge.driver.schedules.base import Schedule


@dataclass(frozen=True, eq=False)
class InstanceSchedule:
    """Instance i of k takes the events g of the load with g mod k == i, in their order.

    Its own sequence numbers count only these: number n is event i + n·k of the load.
    """

    schedule: Schedule
    instance: int
    instances: int

    def __post_init__(self) -> None:
        if not 0 <= self.instance < self.instances:
            raise ValueError(f"there is no instance {self.instance} of {self.instances}")

    @property
    def duration_us(self) -> int:
        return self.schedule.duration_us

    @cached_property
    def total(self) -> int:
        """The number of events of this instance."""
        return self.count_before(self.duration_us)

    def times_us(self, first: int, last: int) -> NDArray[np.int64]:
        """Scheduled times of the instance's own events [first, last)."""
        own = np.arange(first, last, dtype=np.int64)
        return self.schedule.times_us(own * self.instances + self.instance)

    def time_us(self, sequence: int) -> int:
        return int(self.times_us(sequence, sequence + 1)[0])

    def counts_before(self, times_us: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many events of this instance are due before each time."""
        whole_load = self.schedule.counts_before(times_us)
        return (whole_load - self.instance + self.instances - 1) // self.instances

    def count_before(self, time_us: int) -> int:
        return int(self.counts_before(np.array([time_us], dtype=np.int64))[0])
