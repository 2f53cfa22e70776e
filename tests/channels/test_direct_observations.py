"""All driver instances together show each pull once; nothing is started."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.channels.direct.channel import _OpenDirect
from streamgauge.measure.search import BatchJudge, ProbeOrder
from streamgauge.units import SECOND_US

RATE, CAPACITY = 6_000_000, 3_500_000
TICK_US = SECOND_US // 10


class Seconds:
    """A schedule: so many events every second."""

    def count_before(self, time_us: int) -> int:
        return RATE * time_us // SECOND_US


def pulls() -> Iterator[tuple[int, int]]:
    """When a system of that capacity takes all that waits, and how long that keeps it busy."""
    at_us, until_us = SECOND_US // 10, 0
    while True:
        waited_us, until_us = at_us - until_us, at_us
        busy_us = waited_us * RATE // CAPACITY + SECOND_US // 10
        yield at_us, busy_us
        at_us += busy_us


def status_of(instance: int, time_us: int, later: float = 0.0) -> dict[str, Any]:
    """What an instance reports at that time.

    It is pulled from later than the other by a share of the time for which the pull lasts.
    """
    pulled_us = from_us = until_us = 0
    for at_us, busy_us in pulls():
        if at_us + later * busy_us > time_us:
            break
        pulled_us, from_us, until_us = round(at_us + later * busy_us), until_us, at_us
    offered, drained = (RATE // 2 * us // SECOND_US for us in (time_us, until_us))
    return {
        **{"instance": instance, "stream": "purchases", "time_us": time_us, "lag_p99_us": 0},
        **{"offered": offered, "drained": drained, "queued": offered - drained},
        "queue_max": 0,
        "pulled": (from_us, until_us, pulled_us),
    }


def channel_of(instances: list[SimpleNamespace]) -> _OpenDirect:
    """The driver's side with pretended instances; nothing is started."""
    channel = object.__new__(_OpenDirect)
    channel._instances = cast(Any, instances)
    channel._count_before = Seconds().count_before
    channel._observed_us = 0
    return channel


@settings(max_examples=60, deadline=None)
@given(heard=st.lists(st.booleans(), min_size=200, max_size=200), later=st.floats(0.0, 0.9))
def test_a_pull_is_one_pull_whenever_the_instances_are_pulled_from_and_heard_of(
    heard: list[bool], later: float
) -> None:
    """On one core an instance waits for the other; on a busy machine its word is late besides."""
    first, late = SimpleNamespace(latest={}), SimpleNamespace(latest={})
    channel = channel_of([first, late])
    judge = BatchJudge(ProbeOrder(RATE, 20 * SECOND_US, "saturate"), precision=0.05)
    for tick, also in enumerate(heard, 1):
        first.latest["status"] = status_of(0, tick * TICK_US)
        if also:
            late.latest["status"] = status_of(1, tick * TICK_US - TICK_US // 2, later)
        seen = channel.overall()
        if seen is not None and judge.look(seen) is not None:
            break
    outcome = judge.finish()
    assert outcome.verdict != "passed"
    if outcome.drained_per_s is not None and outcome.error is not None:
        assert 0.8 * CAPACITY < outcome.drained_per_s < 1.1 * CAPACITY


@settings(max_examples=30, deadline=None)
@given(later=st.floats(0.0, 0.9), apart_us=st.integers(-5_000, 5_000))
def test_both_streams_of_a_join_are_pulled_from_once_in_a_batch(
    later: float, apart_us: int
) -> None:
    """It asks the one, then the other, how far it may go; and reads the one, then the other."""
    instances = [SimpleNamespace(latest={}), SimpleNamespace(latest={})]
    channel = channel_of(instances)
    observations = []
    for tick in range(1, 101):
        purchases, ads = status_of(0, tick * TICK_US), status_of(1, tick * TICK_US, later)
        ends = [max(0, us + apart_us) for us in ads["pulled"][:2]]
        ads |= {"stream": "ads", "pulled": (*ends, ads["pulled"][2])}
        instances[0].latest["status"], instances[1].latest["status"] = purchases, ads
        observations.append(channel.overall())
    pulled = [at_us for at_us, _ in itertools.takewhile(lambda p: p[0] <= 100 * TICK_US, pulls())]
    seen = [one for one in observations if one is not None]
    assert sorted({one.taken_at_us for one in seen} - {0}) == pulled
    assert len({one.taken for one in seen} - {0}) == len(pulled)
