"""What a channel that sees only what it sent and what came back counts as processed."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from streamgauge.channels.base import ChannelContext
from streamgauge.channels.frontier import TIMELESS, FrontierChannel
from streamgauge.driver.sink import SinkStatus
from streamgauge.errors import ExperimentError
from streamgauge.events.spec import EVENT_TIME
from streamgauge.queries.base import ResultShape
from tests.loads import load_of

RATE = 1_000


class Seen(FrontierChannel):
    """A load whose events are all sent; what has arrived is given."""

    sink = SinkStatus(results=0)
    offer: dict[str, Any] = {}  # noqa: RUF012

    def poll(self) -> list[str]:
        return []

    def close(self) -> None: ...


def at_once(instance: int, taken: int, offered: int) -> int:  # noqa: ARG001
    return taken


def channel_of(
    folder: Path,
    instances: int = 2,
    disorder_us: int = 0,
    next_result: Callable[[int, int, int], int] = at_once,
    **shape: Any,
) -> Seen:
    load = load_of(
        rate_per_s=RATE, seconds=10, instances=instances, disorder_us=disorder_us
    ).build()
    context = ChannelContext(
        load=load,
        shape=ResultShape(keys=("key",), **shape),
        next_result=next_result,
        most_queued=[],
        folder=lambda number: folder / str(number),
        results=folder,
        rows=None,
        log=folder,
        start=lambda: None,
        service=str,
        check_services=lambda: None,
        timeout_s=1.0,
    )
    channel = Seen(context)
    channel.start(time.time_ns() // 1_000)
    for number in range(instances):
        channel.sent(number, load.feeds[number].times.total, 0)
    return channel


def taken(channel: Seen) -> int:
    return sum(status.drained for status in channel.statuses)


@pytest.mark.parametrize("per_event", [0.25, 1.0, 3.0])
def test_the_number_of_results_tells_how_many_events_are_processed(
    tmp_path: Path, per_event: float
) -> None:
    channel, counts = channel_of(tmp_path, per_event=per_event), []
    for events in (0, 4, 1_000, 4_320, 10_000, 20_000):
        channel.sink = SinkStatus(results=round(events * per_event), last_arrival_us=1)
        counts.append(taken(channel))
    assert counts == [0, 4, 1_000, 4_320, 10_000, 10_000]


def test_the_time_of_the_input_comes_before_the_number_of_results(tmp_path: Path) -> None:
    channel = channel_of(tmp_path, per_event=1.0)
    half_us = channel.start_us + 5_000_000
    channel.sink = SinkStatus(results=3, last_arrival_us=1, frontier_us=half_us - 1)
    assert taken(channel) == RATE * 5


def test_events_that_are_late_at_the_end_are_no_backlog_for_ever(tmp_path: Path) -> None:
    channel = channel_of(tmp_path, disorder_us=300_000)
    feeds = channel.load.feeds
    times = [feed.events.batch(0, feed.times.total, channel.start_us) for feed in feeds]
    latest_us = max(pc.max(batch[EVENT_TIME]).cast("int64").as_py() for batch in times)
    assert latest_us < channel.start_us + max(
        feed.times.times_us(0, feed.times.total)[-1] for feed in feeds
    )
    channel.sink = SinkStatus(results=3, last_arrival_us=1, frontier_us=latest_us)
    assert taken(channel) == RATE * 10
    channel.sink = SinkStatus(results=3, last_arrival_us=1, frontier_us=latest_us - 1)
    assert RATE * 9 < taken(channel) < RATE * 10
    channel.sink = SinkStatus(results=0)
    assert taken(channel) == 0


def test_results_that_tell_neither_are_refused_with_the_field_that_is_missing(
    tmp_path: Path,
) -> None:
    channel = channel_of(tmp_path, input_time="at")
    channel.sink = SinkStatus(results=TIMELESS - 1, last_arrival_us=1)
    assert taken(channel) == 0
    channel.sink = SinkStatus(results=TIMELESS, last_arrival_us=1)
    with pytest.raises(ExperimentError, match="the results have no `at`"):
        taken(channel)
