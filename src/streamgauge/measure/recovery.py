"""How a system recovers from faults, seen from outside: pure functions of what was observed.

All times are microseconds since the load began. The time before a fault is its reference: the
longest gap in the results, the highest backlog and the highest p99 latency of that time are the
band in which a system that has recovered is again, and stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from streamgauge.measure.gaps import (
    BIN_US,
    LEAST_HOLD_US,
    Handed,
    Moments,
    Times,
    binned_p99,
    calm_after,
    longest_gap_us,
    reload_and_replay,
)
from streamgauge.measure.record import DeathRecord, FaultRecord
from streamgauge.measure.recovery_figures import FaultRecovery, Recovery, RecoveryTimes

HOLD_US = 3_000_000
"""So long a figure must stay in its band, if the run lasts so long."""
BAND = 1.1
BAND_US = 20_000
"""The band ends a tenth and 20 ms above the highest value of the reference."""
KEEPS_UP = 0.9
PULLS, FRONTIER = "pulls", "frontier"


@dataclass(frozen=True)
class Observed:
    """What was seen of a load, on the clock of the load."""

    end_us: int
    warm_up_us: int
    output_us: Times
    """When each result came, in ascending order."""
    input_us: Times
    """The last input of each."""
    sample_us: Times
    offered: NDArray[np.float64]
    drained: NDArray[np.float64]
    handed: Sequence[Handed] = ()
    cpu: tuple[Sequence[float], Sequence[float]] = ((), ())
    """Seconds, and CPU of the system in per cent of a core."""
    deaths: Sequence[DeathRecord] = field(default=())

    @property
    def last_us(self) -> int:
        last = int(self.output_us[-1]) if len(self.output_us) else 0
        return max(self.end_us, last)


def recovery_of(faults: Sequence[FaultRecord], seen: Observed) -> Recovery:
    """Every fault by itself; the next fault ends the time in which a system can recover."""
    found: list[FaultRecovery] = []
    done = [fault for fault in faults if fault.began_us is not None]
    settled_us = seen.warm_up_us
    reference: _Reference | None = None
    for place, fault in enumerate(done):
        began_us = fault.began_us or 0
        later = (one.began_us or 0 for one in done[place + 1 :])
        horizon_us = min(later, default=seen.last_us + 1)
        if reference is None or began_us - settled_us >= LEAST_HOLD_US:
            reference = _Reference.of(seen, min(settled_us, began_us), began_us)
        one = _recovery(fault, seen, reference, began_us, horizon_us)
        if one.recovery_ms is not None:
            settled_us = began_us + round(one.recovery_ms * 1_000)
        else:
            # The band of a time in which it had not recovered would be none.
            settled_us = horizon_us
        found.append(one)
    for fault in faults:
        if fault.began_us is None:
            one = FaultRecovery(name=fault.title, at_s=fault.asked_us / 1e6, done=False)
            found.append(one.model_copy(update={"failed": fault.failed or "the load had ended"}))
    return _overall(found, seen)


def _overall(faults: list[FaultRecovery], seen: Observed) -> Recovery:
    done = [fault for fault in faults if fault.done]

    def worst(name: str) -> float | None:
        values: list[float | None] = [getattr(fault, name) for fault in done]
        known = [value for value in values if value is not None]
        never = name == "recovery_ms" and len(known) < len(values)
        if not known or never:
            return None
        if name == "late_results":
            return sum(known)
        return min(known) if name == "catch_up_per_s" else max(known)

    return Recovery(
        **{name: worst(name) for name in RecoveryTimes.model_fields},  # type: ignore[arg-type]
        faults=sorted(faults, key=lambda one: one.at_s),
        not_recovered=sum(not fault.recovered for fault in done),
        restarts=sum(death.ready_us is not None for death in seen.deaths),
    )


@dataclass(frozen=True)
class _Reference:
    """What was usual before a fault."""

    output_gap_us: int
    pull_gap_us: int
    backlog: float
    band_us: float | None
    """Of the latency; None: no result before the fault."""
    begin_us: int

    @classmethod
    def of(cls, seen: Observed, begin_us: int, until_us: int) -> _Reference:
        during = (seen.output_us >= begin_us) & (seen.output_us < until_us)
        queued = (seen.offered - seen.drained)[
            (seen.sample_us >= begin_us) & (seen.sample_us < until_us)
        ]
        _, highest = binned_p99(seen.output_us[during], seen.input_us[during])
        return cls(
            output_gap_us=longest_gap_us(seen.output_us, begin_us, until_us),
            pull_gap_us=longest_gap_us(_pull_times(seen), begin_us, until_us),
            # Its highest value may lie between two samples.
            backlog=(float(queued.max()) if len(queued) else 0.0) + _most_in_a_step(seen),
            band_us=float(highest.max()) * BAND + BAND_US if len(highest) else None,
            begin_us=begin_us,
        )


def _recovery(
    fault: FaultRecord, seen: Observed, usual: _Reference, began_us: int, horizon_us: int
) -> FaultRecovery:
    outputs = Moments(seen.output_us, began_us, horizon_us, seen.end_us)
    stall = outputs.first_stall(usual.output_gap_us)
    again_us = stall.end_us if stall is not None and stall.end_us < horizon_us else None
    reload_us, replayed_us, basis = _reload_and_replay(seen, usual, began_us, horizon_us)
    hold_us = max(HOLD_US, 2 * usual.output_gap_us)
    flow_us = throughput_back(seen, usual, began_us, horizon_us)
    # After the end of the load results come when they can.
    end_us = min(horizon_us, seen.end_us)
    p99_us, late = latency_back(seen, usual.band_us, began_us, end_us, hold_us)
    caught_us = backlog_back(seen, usual, again_us or began_us, horizon_us)
    if stall is not None and p99_us is not None:
        # In an outage there is no latency, and it is in no band.
        p99_us = max(p99_us, stall.end_us - began_us)
    if stall is not None and stall.end_us >= end_us:
        # No result came any more: what is not there cannot be late.
        flow_us, p99_us, caught_us = None, None, None
    both = None if flow_us is None or p99_us is None else max(flow_us, p99_us)
    until_us = began_us + both if both is not None else horizon_us
    detected = [d.noticed_us for d in seen.deaths if began_us <= d.noticed_us <= until_us]
    return FaultRecovery(
        name=fault.title,
        victim=fault.victim,
        at_s=round(began_us / 1e6, 3),
        until_s=_lasted(fault),
        failed=fault.failed,
        recovered=both is not None,
        seen_in=basis,
        band_ms=None if usual.band_us is None else round(usual.band_us / 1e3, 1),
        detection_ms=_ms(detected[0] - began_us) if detected else None,
        outage_ms=0.0 if stall is None else _ms_since(again_us, max(began_us, stall.begin_us)),
        reload_ms=_ms_since(reload_us, began_us),
        replay_ms=_ms_since(replayed_us, reload_us),
        catch_up_ms=_ms_since(caught_us, again_us or began_us),
        throughput_back_ms=_ms(flow_us),
        p99_back_ms=_ms(p99_us),
        recovery_ms=_ms(both),
        longest_gap_ms=_ms(longest_gap_us(seen.output_us, began_us, horizon_us, before=True)),
        backlog_max=_backlog_max(seen, began_us, horizon_us),
        catch_up_per_s=_speed(seen, again_us, caught_us),
        late_results=late,
        cpu_percent=_cpu(seen, began_us, until_us),
        cpu_percent_before=_cpu(seen, usual.begin_us, began_us),
    )


def _reload_and_replay(
    seen: Observed, usual: _Reference, began_us: int, horizon_us: int
) -> tuple[int | None, int | None, str]:
    """When it took input again, and when it was where it had been; both None: never."""
    if any(len(one.at_us) for one in seen.handed):
        moments = Moments(_pull_times(seen), began_us, horizon_us, seen.end_us)
        stall_us = moments.first_stall_end(usual.pull_gap_us)
        return (*reload_and_replay(seen.handed, began_us, horizon_us, stall_us), PULLS)
    outputs = Moments(seen.output_us, began_us, horizon_us, seen.end_us)
    end_us = outputs.first_stall_end(usual.output_gap_us)
    if end_us is None:
        return began_us, began_us, FRONTIER
    if end_us >= horizon_us:
        return None, None, FRONTIER
    before = seen.input_us[seen.output_us < began_us]
    frontier_us = int(before.max()) if len(before) else -1
    beyond = seen.output_us[(seen.output_us >= end_us) & (seen.input_us > frontier_us)]
    return end_us, int(beyond[0]) if len(beyond) else None, FRONTIER


def throughput_back(
    seen: Observed, usual: _Reference, began_us: int, horizon_us: int
) -> int | None:
    """Until it takes as much as is offered, over windows that are longer than its pulls.

    Between two pulls the backlog grows and shrinks, which is no lack of throughput.
    """
    window_us = max(1_000_000, 3 * usual.pull_gap_us, 3 * usual.output_gap_us)
    end_us = min(horizon_us, seen.end_us)
    if not len(seen.sample_us) or end_us <= began_us:
        return None
    times = np.arange(began_us, end_us + 1, BIN_US)
    offered, drained = (
        np.interp(times, seen.sample_us, values)
        - np.interp(times - window_us, seen.sample_us, values)
        for values in (seen.offered, seen.drained)
    )
    behind = offered - drained > (1 - KEEPS_UP) * offered + usual.backlog
    return calm_after(times[behind], began_us, end_us, HOLD_US)


def backlog_back(seen: Observed, usual: _Reference, from_us: int, horizon_us: int) -> int | None:
    """The moment at which the backlog is in its band again."""
    band = usual.backlog * BAND + 1
    end_us = min(horizon_us, seen.last_us)
    within = (seen.sample_us >= from_us) & (seen.sample_us <= end_us)
    above = seen.sample_us[within][(seen.offered - seen.drained)[within] > band]
    calm_us = calm_after(above, from_us, end_us, HOLD_US)
    return None if calm_us is None else from_us + calm_us


def latency_back(
    seen: Observed, band_us: float | None, began_us: int, horizon_us: int, hold_us: int
) -> tuple[int | None, int | None]:
    """Until p99 is in its band again, and the number of results above the band until then."""
    if band_us is None:
        return None, None
    after = (seen.output_us >= began_us) & (seen.output_us <= horizon_us)
    outputs, inputs = seen.output_us[after], seen.input_us[after]
    times, highest = binned_p99(outputs, inputs)
    above = times[highest > band_us]
    back_us = calm_after(above, began_us, horizon_us, hold_us)
    if back_us:
        # Back with the first results in the band, not with the last ones above it.
        inside = times[(times > began_us + back_us) & (highest <= band_us)]
        back_us = int(inside[0]) - began_us if len(inside) else None
    until_us = horizon_us if back_us is None else began_us + back_us
    late = (outputs - inputs > band_us) & (outputs <= until_us)
    return back_us, int(late.sum())


def _most_in_a_step(seen: Observed) -> float:
    """Events that were offered between two samples."""
    return float(np.diff(seen.offered).max()) if len(seen.offered) > 1 else 0.0


def _pull_times(seen: Observed) -> Times:
    if not seen.handed:
        return np.empty(0, dtype=np.int64)
    return np.sort(np.concatenate([one.at_us for one in seen.handed]))


def _backlog_max(seen: Observed, began_us: int, horizon_us: int) -> int | None:
    within = (seen.sample_us >= began_us) & (seen.sample_us <= horizon_us)
    queued = (seen.offered - seen.drained)[within]
    return round(float(queued.max())) if len(queued) else None


def _speed(seen: Observed, from_us: int | None, until_us: int | None) -> float | None:
    if from_us is None or until_us is None or until_us - from_us < 2 * BIN_US:
        return None
    taken = np.interp([from_us, until_us], seen.sample_us, seen.drained)
    return round(float(taken[1] - taken[0]) / ((until_us - from_us) / 1e6), 1)


def _cpu(seen: Observed, begin_us: int, until_us: int) -> float | None:
    seconds, percent = (np.array(one) for one in seen.cpu)
    within = (seconds >= begin_us / 1e6) & (seconds <= until_us / 1e6 + 1)
    return round(float(percent[within].mean()), 1) if within.any() else None


def _lasted(fault: FaultRecord) -> float | None:
    """Only of a fault that lasts: a kill is over at once."""
    if fault.ended_us is None or fault.done_us is None or fault.ended_us - fault.done_us < BIN_US:
        return None
    return round(fault.ended_us / 1e6, 3)


def _ms(span_us: int | None) -> float | None:
    return None if span_us is None else round(span_us / 1_000, 1)


def _ms_since(moment_us: int | None, since_us: int | None) -> float | None:
    if moment_us is None or since_us is None:
        return None
    return _ms(max(0, moment_us - since_us))
