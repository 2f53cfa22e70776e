from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from streamgauge.driver.instance import AHEAD_US, DriverInstance, InstanceStatus
from tests.loads import instance_of, load_of


@pytest.mark.parametrize("schedule", ["constant", "ramp", "bursts"])
def test_a_full_queue_leaves_room_for_the_busiest_moment_of_the_schedule(
    tmp_path: Path, schedule: str
) -> None:
    """Until the load is cut the generator must not be late only because the system is slow."""
    load = load_of(rate_per_s=1_000_000, seconds=6, instances=1, schedule=schedule)
    config = instance_of(load, 0, tmp_path).model_copy(update={"most_queued": 18_000})
    instance = DriverInstance(config, lambda *_, **__: None)
    count = instance.schedule.count_before
    starts = range(0, instance.schedule.duration_us, 500_000)
    busiest = max(count(start + AHEAD_US) - count(start) for start in starts)
    wanted = config.most_queued + busiest
    assert wanted < instance.schedule.total
    instance.start(time.time_ns() // 1_000 - 10_000_000)
    try:
        deadline = time.monotonic() + 20
        while instance.queue.generated < wanted:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        instance.finish()


def test_the_time_of_a_pull_is_reported_and_a_repeated_range_is_no_new_pull(tmp_path: Path) -> None:
    """A task that is tried again asks for the same once more."""
    load = load_of(rate_per_s=10_000, seconds=2, instances=1)
    reported: list[dict[str, Any]] = []
    config = instance_of(load, 0, tmp_path)
    instance = DriverInstance(
        config, lambda event, **what: reported.append({"event": event, **what})
    )
    instance.start(time.time_ns() // 1_000 - 1_000_000)
    try:
        while instance.queue.head_us(instance.now_us) < 500_000:
            time.sleep(0.01)
        before_us = instance.now_us
        instance.pull(0, 500_000)
        after_us = instance.now_us
        time.sleep(0.05)
        assert sum(block.last - block.first for block in instance.pull(0, 500_000)) == 5_000
        seen = len(reported)
        while len(reported) < seen + 2:
            time.sleep(0.01)
    finally:
        instance.finish()
    last = InstanceStatus.model_validate(reported[-1])
    assert (last.pulled.from_us, last.pulled.until_us) == (0, 500_000)
    assert before_us <= last.pulled.at_us <= after_us
