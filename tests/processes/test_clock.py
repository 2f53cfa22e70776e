from __future__ import annotations

import time

import pytest

from streamgauge.processes.clock import SYSTEM_CLOCK, Clock
from tests.clocks import ManualClock


@pytest.mark.parametrize("clock", [SYSTEM_CLOCK, ManualClock()], ids=["system", "manual"])
def test_sleeping_advances_both_times(clock: Clock) -> None:
    wall_us, monotonic_s = clock.now_us(), clock.monotonic_s()
    clock.sleep(0.02)
    assert clock.monotonic_s() - monotonic_s >= 0.02
    assert clock.now_us() > wall_us


def test_the_system_clock_gives_wall_clock_microseconds() -> None:
    before = time.time_ns() // 1_000
    assert before <= SYSTEM_CLOCK.now_us() <= time.time_ns() // 1_000
