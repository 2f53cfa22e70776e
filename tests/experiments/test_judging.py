"""A probe is judged by what all driver instances say of one moment; nothing is started."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.experiments.running.trial import Trial
from streamgauge.measure.search import Look, ProbeJudge, ProbeOrder
from streamgauge.units import SECOND_US

RATE, CAPACITY = 6_000_000, 3_500_000
TICK_US = SECOND_US // 10


class Seconds:
    """A schedule: so many events every second."""

    def build(self) -> Seconds:
        return self

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


def said(instance: int, time_us: int, later: float = 0.0) -> dict[str, Any]:
    """What an instance says of itself at that time.

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
        **{"queue_max": 0, "queue_limits": (0, 0, 0)},
        "pulled": (from_us, until_us, pulled_us),
    }


def trial_of(instances: list[SimpleNamespace]) -> Trial:
    plan = SimpleNamespace(
        experiment=SimpleNamespace(duration=20 * SECOND_US),
        load=SimpleNamespace(schedule=Seconds()),
    )
    nobody = cast(Any, None)
    trial = Trial(cast(Any, plan), nobody, nobody, nobody)
    trial._instances = cast(Any, instances)
    return trial


@settings(max_examples=60, deadline=None)
@given(heard=st.lists(st.booleans(), min_size=200, max_size=200), later=st.floats(0.0, 0.9))
def test_a_pull_is_one_pull_whenever_the_instances_are_pulled_from_and_heard_of(
    heard: list[bool], later: float
) -> None:
    """On one core an instance waits for the other; on a busy machine its word is late besides."""
    first, late = SimpleNamespace(latest={}), SimpleNamespace(latest={})
    trial = trial_of([first, late])
    judge = ProbeJudge(ProbeOrder(RATE, 20 * SECOND_US, "saturate"), precision=0.05)
    for tick, also in enumerate(heard, 1):
        first.latest["status"] = said(0, tick * TICK_US)
        if also:
            late.latest["status"] = said(1, tick * TICK_US - TICK_US // 2, later)
        if trial._judged(judge) is not None:
            break
    outcome = judge.finish()
    assert outcome.verdict != "passed"
    if outcome.drained_per_s is not None and outcome.error is not None:
        assert 0.8 * CAPACITY < outcome.drained_per_s < 1.1 * CAPACITY


class Recorder(ProbeJudge):
    """Remembers what it is shown, and never makes up its mind."""

    def __init__(self) -> None:
        super().__init__(ProbeOrder(RATE, 20 * SECOND_US, "narrow"), precision=0.05)
        self.seen: list[Look] = []

    def look(self, look: Look) -> None:
        self.seen.append(look)


@settings(max_examples=30, deadline=None)
@given(later=st.floats(0.0, 0.9), apart_us=st.integers(-5_000, 5_000))
def test_both_streams_of_a_join_are_pulled_from_once_in_a_batch(
    later: float, apart_us: int
) -> None:
    """It asks the one, then the other, how far it may go; and reads the one, then the other."""
    trial = trial_of([SimpleNamespace(latest={}), SimpleNamespace(latest={})])
    judge = Recorder()
    for tick in range(1, 101):
        purchases, ads = said(0, tick * TICK_US), said(1, tick * TICK_US, later)
        ends = [max(0, us + apart_us) for us in ads["pulled"][:2]]
        ads |= {"stream": "ads", "pulled": (*ends, ads["pulled"][2])}
        trial._instances[0].latest["status"], trial._instances[1].latest["status"] = purchases, ads
        trial._judged(judge)
    pulled = [at_us for at_us, _ in itertools.takewhile(lambda p: p[0] <= 100 * TICK_US, pulls())]
    assert sorted({look.pulled_us for look in judge.seen} - {0}) == pulled
    assert len({look.drained for look in judge.seen} - {0}) == len(pulled)
