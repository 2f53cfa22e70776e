"""The recovery from faults, found in what was seen of a system that is made up."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.measure.gaps import Handed, calm_after
from streamgauge.measure.record import DeathRecord, FaultRecord
from streamgauge.measure.recovery import Observed, recovery_of
from streamgauge.measure.recovery_figures import FaultRecovery

SECOND = 1_000_000
TOLERANCE_MS = 200
RATE = 1_000
SPEED = 4
"""A system that catches up takes so many times what is offered."""


@dataclass(frozen=True)
class MadeUp:
    """Pulls every `step_us`; at the fault it stands still, goes back, and catches up."""

    seconds: int = 60
    step_us: int = 200_000
    fault_us: int = 30 * SECOND
    reload_us: int = 5 * SECOND
    back_us: int = 2 * SECOND
    """How far it goes back in its input."""
    latency_us: int = 100_000
    instances: int = 2
    dead: bool = False

    def seen(self) -> Observed:
        handed, outputs, inputs = [], [], []
        now = position = checkpoint = 0
        samples, drained = [], []
        end_us = self.seconds * SECOND
        while now < end_us or position < end_us:
            now += self.step_us
            if now - self.step_us < self.fault_us <= now:
                if self.dead:
                    break
                now = self.fault_us + self.reload_us
                position = max(0, position - self.back_us)
            reach = min(now, end_us, position + SPEED * self.step_us)
            handed.append((now, reach))
            # A result that has come already does not come again.
            if reach > checkpoint:
                outputs.append(now + self.latency_us)
                inputs.append(reach)
            checkpoint = max(checkpoint, reach)
            samples.append(now)
            drained.append(checkpoint * RATE / SECOND)
            position = reach
        grid = np.arange(0, end_us + 1, 100_000)
        index = np.searchsorted(samples, grid, side="right") - 1
        at_us, until_us = np.array(handed).T
        return Observed(
            end_us=end_us,
            warm_up_us=10 * SECOND,
            output_us=np.array(outputs),
            input_us=np.array(inputs),
            sample_us=grid,
            offered=grid * RATE / SECOND,
            drained=np.where(index >= 0, np.array(drained)[index], 0.0),
            handed=[Handed(at_us, until_us)] * self.instances,
        )


def fault(at_us: int, name: str = "kill") -> FaultRecord:
    return FaultRecord(name=name, target="program", asked_us=at_us, began_us=at_us, done_us=at_us)


def found_in(system: MadeUp, seen: Observed | None = None) -> FaultRecovery:
    (one,) = recovery_of([fault(system.fault_us)], seen or system.seen()).faults
    return one


systems = st.builds(
    MadeUp,
    step_us=st.integers(100, 500).map(lambda ms: ms * 1_000),
    fault_us=st.integers(20_000, 35_000).map(lambda ms: ms * 1_000),
    reload_us=st.integers(1_500, 8_000).map(lambda ms: ms * 1_000),
    back_us=st.integers(0, 3_000).map(lambda ms: ms * 1_000),
)


@given(systems)
@settings(max_examples=60)
def test_reload_replay_and_outage_are_found(system: MadeUp) -> None:
    one = found_in(system)
    assert one.recovered
    assert one.seen_in == "pulls"
    # It pulls in steps, and is known to within one of them.
    near = TOLERANCE_MS + system.step_us / 1_000
    assert one.reload_ms == pytest.approx(system.reload_us / 1_000, abs=TOLERANCE_MS)
    replay_us = system.back_us / SPEED
    assert one.replay_ms == pytest.approx(replay_us / 1_000, abs=near)
    outage_us = system.reload_us + replay_us + system.latency_us
    assert one.outage_ms == pytest.approx(outage_us / 1_000, abs=near)


@given(systems)
@settings(max_examples=40)
def test_the_parts_are_in_order(system: MadeUp) -> None:
    one = found_in(system)
    assert one.reload_ms is not None
    assert one.replay_ms is not None
    assert one.p99_back_ms is not None
    assert one.recovery_ms is not None
    assert one.outage_ms is not None
    assert one.reload_ms <= one.outage_ms + 1
    assert one.recovery_ms == max(one.p99_back_ms, one.throughput_back_ms or 0)
    # All that queued up until it took input again must be caught up with.
    behind_us = system.reload_us + system.back_us
    assert one.p99_back_ms >= one.reload_ms
    caught_up_us = system.reload_us + behind_us / (SPEED - 1)
    near = 700 + 2 * system.step_us / 1_000
    assert one.p99_back_ms == pytest.approx(caught_up_us / 1_000, abs=near)
    waited_us = system.reload_us + system.back_us / SPEED
    assert one.backlog_max == pytest.approx(RATE * waited_us / SECOND, rel=0.2, abs=600)
    assert one.late_results is not None


def test_behind_a_broker_the_frontier_shows_reload_and_replay() -> None:
    system = MadeUp()
    seen = system.seen()
    outputs = np.append(seen.output_us, [system.fault_us + 5 * SECOND + 50_000])
    # A result that comes again.
    inputs = np.append(seen.input_us, [system.fault_us - SECOND])
    order = np.argsort(outputs)
    hidden = replace(seen, handed=(), output_us=outputs[order], input_us=inputs[order])
    one = found_in(system, hidden)
    assert one.seen_in == "frontier"
    assert one.reload_ms == pytest.approx(5_050, abs=TOLERANCE_MS)
    assert one.replay_ms == pytest.approx(550, abs=TOLERANCE_MS)


def test_a_system_that_stays_dead_never_recovers() -> None:
    whole = recovery_of([fault(30 * SECOND)], MadeUp(dead=True).seen())
    (one,) = whole.faults
    assert not one.recovered
    assert (one.outage_ms, one.reload_ms, one.recovery_ms, whole.recovery_ms) == (None,) * 4
    assert whole.not_recovered == 1


def test_a_fault_without_effect_costs_nothing() -> None:
    one = found_in(MadeUp(reload_us=50_000, back_us=0))
    assert one.recovered
    assert (one.outage_ms, one.reload_ms, one.replay_ms, one.recovery_ms) == (0, 0, 0, 0)
    assert one.late_results == 0


def test_too_little_time_before_the_next_fault_is_not_recovered() -> None:
    system = MadeUp(reload_us=6 * SECOND)
    second = fault(system.fault_us + 3 * SECOND)
    whole = recovery_of([fault(system.fault_us), second], system.seen())
    assert [one.recovered for one in whole.faults] == [False, True]
    assert whole.recovery_ms is None
    assert whole.not_recovered == 1


def test_the_supervisor_shows_the_detection() -> None:
    system = MadeUp()
    death = DeathRecord(noticed_us=system.fault_us + 40_000, ready_us=system.fault_us + SECOND)
    one = found_in(system, replace(system.seen(), deaths=[death]))
    assert one.detection_ms == 40


def test_a_fault_that_was_not_done_is_said_and_not_counted() -> None:
    undone = FaultRecord(
        name="kill", target="executor", asked_us=5 * SECOND, began_us=None, failed="there was none"
    )
    whole = recovery_of([undone, fault(30 * SECOND)], MadeUp().seen())
    assert [(one.done, one.failed) for one in whole.faults] == [
        (False, "there was none"),
        (True, ""),
    ]
    assert whole.not_recovered == 0


def test_nothing_observed_is_no_recovery() -> None:
    empty = np.empty(0, dtype=np.int64)
    seen = Observed(60 * SECOND, 0, empty, empty, empty, np.empty(0), np.empty(0))
    (one,) = recovery_of([fault(SECOND)], seen).faults
    assert not one.recovered


@pytest.mark.parametrize(
    ("bad", "after"),
    [
        ([], 0),
        ([12], 2),
        ([12, 13], 3),
        ([12, 17], 2),
        ([12, 13, 19], 3),
        ([18], 8),
        ([19.5], None),
    ],
)
def test_it_is_calm_after_the_last_bad_moment_before_a_pause(
    bad: list[float], after: float | None
) -> None:
    moments = np.array([round(one * SECOND) for one in bad], dtype=np.int64)
    calm = calm_after(moments, 10 * SECOND, 20 * SECOND, 4 * SECOND)
    assert calm == (None if after is None else after * SECOND)


def test_an_outage_may_begin_later_than_the_fault() -> None:
    """A cluster goes on with what is left, and stands still when the new process begins."""
    system = MadeUp(fault_us=40 * SECOND, reload_us=6 * SECOND, back_us=0)
    (one,) = recovery_of([fault(30 * SECOND)], system.seen()).faults
    assert one.recovered
    assert one.outage_ms == pytest.approx(6_000, abs=TOLERANCE_MS + 200)
    assert one.reload_ms == pytest.approx(16_000, abs=TOLERANCE_MS)


def test_results_that_come_after_the_load_are_no_recovery() -> None:
    one = found_in(MadeUp(fault_us=55 * SECOND, reload_us=10 * SECOND))
    assert not one.recovered
    assert (one.recovery_ms, one.p99_back_ms, one.catch_up_ms) == (None, None, None)
    assert one.outage_ms == pytest.approx(10_600, abs=500)


def test_the_slowest_instance_ends_the_replay() -> None:
    """The first pull may reach beyond where it had been: its repeated part does not show."""
    system = MadeUp(back_us=0)
    seen = system.seen()
    one, late = seen.handed[0], system.fault_us + system.reload_us
    delayed = np.where(one.at_us == late, one.at_us + 150_000, one.at_us)
    found = found_in(system, replace(seen, handed=[one, Handed(delayed, one.until_us)]))
    assert found.reload_ms == pytest.approx(5_000, abs=1)
    assert found.replay_ms == pytest.approx(150, abs=1)
