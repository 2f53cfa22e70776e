from __future__ import annotations

import time
from pathlib import Path

import pytest

from streamgauge.driver.config import PolicyConfig
from streamgauge.driver.instance import AHEAD_US, DriverInstance
from tests.loads import instance_of, load_of


@pytest.mark.parametrize("schedule", ["constant", "ramp", "bursts"])
def test_a_full_queue_leaves_room_for_the_busiest_moment_of_the_schedule(
    tmp_path: Path, schedule: str
) -> None:
    """Until the load is cut the generator must not be late only because the system is slow."""
    load = load_of(rate_per_s=1_000_000, seconds=6, instances=1, schedule=schedule)
    policy = PolicyConfig(shares=(0.001, 0.002, 0.003))
    config = instance_of(load, 0, tmp_path).model_copy(update={"policy": policy})
    instance = DriverInstance(config, lambda *_, **__: None)
    count = instance.schedule.count_before
    starts = range(0, instance.schedule.duration_us, 500_000)
    busiest = max(count(start + AHEAD_US) - count(start) for start in starts)
    wanted = instance.marks.capacity + busiest
    assert wanted < instance.schedule.total
    instance.start(time.time_ns() // 1_000 - 10_000_000)
    try:
        deadline = time.monotonic() + 20
        while instance.queue.generated < wanted:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        instance.finish()
