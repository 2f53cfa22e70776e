"""A probe is judged by what all driver instances say of one moment; nothing is started."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.experiments.trial import Trial
from streamgauge.measure.search import ProbeJudge, ProbeOrder
from streamgauge.units import SECOND_US

RATE, CAPACITY = 6_000_000, 3_500_000
TICK_US = SECOND_US // 4


def pulls() -> Iterator[tuple[int, int]]:
    """When a system of that capacity takes all that waits, and until which event of an instance."""
    at_us, drained = SECOND_US // 10, 0
    while True:
        until = RATE // 2 * at_us // SECOND_US
        yield at_us, until
        at_us += round((until - drained) * 2 / CAPACITY * SECOND_US) + SECOND_US // 10
        drained = until


def said(instance: int, time_us: int) -> dict[str, Any]:
    """What an instance says of itself at that time."""
    drained = 0
    for at_us, until in pulls():
        if at_us > time_us:
            break
        drained = until
    offered = RATE // 2 * time_us // SECOND_US
    return {
        **{"instance": instance, "stream": "purchases", "time_us": time_us, "lag_p99_us": 0},
        **{"offered": offered, "drained": drained, "queued": offered - drained},
        **{"queue_max": 0, "queue_limits": (0, 0, 0)},
    }


@settings(max_examples=60, deadline=None)
@given(heard=st.lists(st.booleans(), min_size=80, max_size=80))
def test_an_instance_whose_word_is_late_makes_no_pull_look_fast(heard: list[bool]) -> None:
    """On a busy machine one of them may be heard of half a second after the other."""
    plan = SimpleNamespace(experiment=SimpleNamespace(duration=20 * SECOND_US))
    nobody = cast(Any, None)
    trial = Trial(cast(Any, plan), nobody, nobody, nobody)
    first, late = SimpleNamespace(latest={}), SimpleNamespace(latest={})
    trial._instances = cast(Any, [first, late])
    judge = ProbeJudge(ProbeOrder(RATE, 20 * SECOND_US, "saturate"), precision=0.05)
    for tick, also in enumerate(heard, 1):
        first.latest["status"] = said(0, tick * TICK_US)
        if also:
            late.latest["status"] = said(1, tick * TICK_US - TICK_US // 2)
        if trial._judged(judge) is not None:
            break
    outcome = judge.finish()
    assert outcome.verdict != "passed"
    assert (outcome.drained_per_s or 0.0) < 1.2 * CAPACITY
