"""The verdict: are the results of a run right, and did the system sustain the load?"""

from __future__ import annotations

from collections.abc import Iterable

from streamgauge.measure.guarantee import AT_LEAST_ONCE, AT_MOST_ONCE, keeps, shown
from streamgauge.measure.record import RunRecord
from streamgauge.measure.recovery_figures import Recovery
from streamgauge.measure.summary import FAULTS, Validation, Verdict

SEVERITY = (Verdict.VOID, Verdict.INVALID, Verdict.UNKNOWN, Verdict.VALID)
"""The most severe first, for trials and studies alike. Void is the first: if the station itself
failed, its figures of the system do not count."""
_FAULT_REASONS = {
    "missing": "results are missing",
    "extra": "results were not expected",
    "duplicate": "results came more than once",
    "wrong": "results are wrong",
    "late": "results came after the run had ended",
}


LONGEST_JUMP_US = 100_000
"""A clock that is adjusted slowly differs less from an even one."""


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The most severe verdict; unknown if there is none."""
    return min(verdicts, key=SEVERITY.index, default=Verdict.UNKNOWN)


def judge(record: RunRecord, validation: Validation, max_lag_us: int) -> tuple[Verdict, list[str]]:
    """The most severe verdict for which there are reasons, and all of these reasons."""
    if jumps := _clock_jumps(record, validation):
        return Verdict.UNKNOWN, jumps
    reasons = {
        Verdict.VOID: [
            *([] if record.results_are_the_log else _late_generators(record, max_lag_us)),
            *_unsent_events(record),
            *([] if record.results_are_the_log else _own_skew(record, validation)),
            *_different_input(validation),
        ],
        Verdict.INVALID: _faulty_results(record, validation),
        Verdict.UNKNOWN: _unknown_results(record, validation),
        Verdict.VALID: [],
    }
    verdict = next((one for one in SEVERITY if reasons[one]), Verdict.VALID)
    return verdict, reasons[verdict]


def _late_generators(record: RunRecord, max_lag_us: int) -> list[str]:
    """The load of a generator that was too late is not the planned one."""
    return [
        f"the generator of driver instance {i.instance} was late itself: p99 lag "
        f"{i.lag_p99_us / 1_000:.0f} ms, allowed {max_lag_us / 1_000:.0f} ms"
        for i in record.instances
        if i.lag_p99_us > max_lag_us
    ]


def _unsent_events(record: RunRecord) -> list[str]:
    return [
        f"driver instance {i.instance} could not send {i.unsent:,} events"
        for i in record.instances
        if i.unsent
    ]


def _own_skew(record: RunRecord, validation: Validation) -> list[str]:
    """A driver instance that was behind the others makes its events late for the watermark."""
    allowed_us = record.load.skew_us
    behind = [i for i in record.instances if allowed_us and i.lag_max_us > allowed_us]
    if not behind or not (validation.missing or validation.wrong):
        return []
    latest = max(behind, key=lambda i: i.lag_max_us)
    return [
        "results are missing or wrong, perhaps through the driver's own fault: driver instance "
        f"{latest.instance} was up to {latest.lag_max_us / 1_000:.0f} ms late, and the watermark "
        f"allows {allowed_us / 1_000:.0f} ms"
    ]


def _different_input(validation: Validation) -> list[str]:
    if validation.input_matches is not False:
        return []
    return ["the events regenerated for the check differ from those that were offered"]


def _faulty_results(record: RunRecord, validation: Validation) -> list[str]:
    """Missing and late results count only if the system had processed all of its input."""
    allowed = _allowed_after_faults(record)
    found = [
        f"{count:,} {_FAULT_REASONS[name]}"
        for name in FAULTS
        if (count := getattr(validation, name))
        and (record.drained or name not in ("missing", "late"))
        and name not in allowed
    ]
    has_shown = ""
    if record.faults:
        has_shown = shown(validation, drained=record.drained, updates=record.updates)
    if not keeps(has_shown, record.claimed):
        found.insert(0, f"the system claims {record.claimed}, and has shown {has_shown}")
    if validation.disordered:
        found.append(f"{validation.disordered:,} results came after a later one")
    if record.drained and (differs := _mirror_differs(validation)):
        found.append(f"{record.mirrored_in} does not hold the last results: {differs}")
    return found


def _mirror_differs(validation: Validation) -> str:
    counts = {name: getattr(validation, f"mirror_{name}") for name in ("wrong", "missing", "extra")}
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def _allowed_after_faults(record: RunRecord) -> set[str]:
    """What a system may do after a fault that claims no more."""
    if not any(fault.began_us is not None for fault in record.faults):
        return set()
    return {AT_LEAST_ONCE: {"duplicate"}, AT_MOST_ONCE: {"missing"}}.get(record.claimed, set())


def _clock_jumps(record: RunRecord, validation: Validation) -> list[str]:
    """Times of a clock that does not go on evenly make no latency."""
    found = []
    if validation.times_back:
        found.append(
            f"the clock of the broker went back {validation.times_back:,} times, so that neither "
            "windows nor latencies can be computed from its times"
        )
    if record.clock_jump_us > LONGEST_JUMP_US:
        found.append(
            f"the clock of this machine jumped by {record.clock_jump_us / 1_000:,.0f} ms during "
            "the run, so that its times are not known"
        )
    return found


def _unknown_results(record: RunRecord, validation: Validation) -> list[str]:
    if validation.expected is None:
        return ["the results could not be checked"]
    if not record.drained:
        return [
            "the system had not processed all of its input when time was up, so it is unknown "
            "which results are missing and which were still to come"
        ]
    if validation.expected == 0:
        return ["no result was expected: the run is shorter than a window, or no events match"]
    if not validation.values_compared:
        return [
            "there is no oracle: each event has its result, but no value was compared with anything"
        ]
    return []


def sustained(record: RunRecord, recovery: Recovery | None = None) -> tuple[bool | None, list[str]]:
    """Whether the system kept up, and why not: a policy, a dropped connection, or the backlog.

    None without a system: how much of the rate the senders achieve is the result.
    """
    if record.results_are_the_log:
        return None, []
    reasons = [
        f"driver instance {i.instance}: {i.unsustained_because}"
        for i in record.instances
        if i.unsustained_because
    ]
    reasons += record.dropped
    for fault in recovery.faults if recovery else ():
        if fault.done and not fault.recovered:
            reasons.append(f"{fault.name} at {fault.at_s:.1f} s: never recovered within the run")
    if record.ended_early:
        reasons.append(record.ended_early)
    if not record.drained:
        left = sum(i.offered - i.drained for i in record.instances)
        reasons.append(f"{left:,} events were left in the queues when time was up")
    return not reasons, reasons
