"""Limits of capacity: the driver and the sink, the cores, and work that one core must do."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from streamgauge.measure.limits.evidence import Evidence
from streamgauge.measure.limits.findings import OTHER_PROGRAMS, Finding, Kind, SystemAdvice
from streamgauge.measure.limits.words import cores, counted, percent, ratio
from streamgauge.writing import duration

DRIVER = Kind("driver", "our own driver", "The driver or the sink of streamgauge, not the system.")
CPU = Kind("CPU", "CPU", "The cores of the system, or of the machine, were busy.")
HOT_KEY = Kind(
    "hot key", "one hot key", "One task has most of the work; other cores are idle.", ordinary=True
)
MOST_INSTANCES = 256
_MOST_CPUS = 64
_NEAR = 0.8
"""Share of the lag that is allowed."""
_BUSY = 0.85
"""Share of a core, or of all cores of the system."""
_UNDIVIDED = 0.75
"""A hot key is a limit if at most this share of the tasks can work at a time."""


def capacity_limits(evidence: Evidence, advice: SystemAdvice) -> list[Finding | None]:
    """Limits of the driver, of the cores, and of work that is not divided."""
    return [
        others(evidence),
        driver(evidence, advice),
        cpu(evidence, advice),
        hot_key(evidence),
    ]


def others(evidence: Evidence) -> Finding:
    """Programs outside the run, or other virtual machines on the same host."""
    return Finding(
        OTHER_PROGRAMS,
        evidence.lost_to_others,
        shown_by=f"programs outside the run used {cores(evidence.others_cpu)} of the machine's "
        f"{counted(evidence.machine_cores, 'core')}, and none was free; the system used "
        f"{cores(evidence.system_cpu or 0.0)}, driver and sink {cores(evidence.own_cpu)}",
        advice="End these programs, or use a machine with nothing else to do, and run again: "
        "`streamgauge doctor` names the busiest.",
    )


def driver(evidence: Evidence, advice: SystemAdvice) -> Finding | None:
    """The generators and the sink of streamgauge itself."""
    signs = [*_overloaded(evidence), *_shared(evidence, advice)]
    found = sorted(signs, key=lambda sign: sign.strength, reverse=True)
    if not found:
        return None
    shown = "; ".join(sign.shown_by for sign in found)
    advised = " ".join(dict.fromkeys(sign.advice for sign in found))
    return Finding(DRIVER, found[0].strength, shown, advised)


def _overloaded(evidence: Evidence) -> Iterator[Finding]:
    instances = evidence.driver_instances
    more_instances = (
        "Divide the events among more generators: "
        f"`--set load.instances={min(2 * instances, MOST_INSTANCES)}`, on a machine with enough "
        "cores for them. Until then the figures describe the driver as much as the system."
    )
    lag, allowed = evidence.lag_p99_ms, evidence.max_lag_ms
    if lag > 0 and lag >= _NEAR * allowed:
        strength = ratio(lag, allowed) if allowed > 0 else 1.0
        shown = f"the generator was late: p99 lag {duration(lag)}, allowed {duration(allowed)}"
        yield Finding(DRIVER, strength, shown, more_instances)
    used = evidence.cpu_percent.get("driver", 0.0)
    share = ratio(used, 100 * instances)
    if share >= _BUSY:
        shown = (
            f"{counted(instances, 'driver instance')} used {cores(used)} cores, {percent(share)} "
            "of one core each"
        )
        yield Finding(DRIVER, share, shown, more_instances)
    used = evidence.cpu_percent.get("sink", 0.0)
    if used >= 100 * _BUSY:
        yield Finding(
            DRIVER,
            strength=ratio(used, 100),
            shown_by=f"the sink, which is one process, used {cores(used)} cores",
            advice="There is only one sink. Make the query send fewer results: longer windows, or "
            "`--set workload.output_mode=append`.",
        )


def _shared(evidence: Evidence, advice: SystemAdvice) -> Iterator[Finding]:
    """Driver and system share a machine that has no core left."""
    own = evidence.own_cpu
    fits = evidence.cores + own / 100 <= evidence.machine_cores
    if evidence.local and evidence.machine_is_full and own > 0 and not fits:
        cpus = ", ".join(map(str, range(min(evidence.cores, _MOST_CPUS))))
        pin = f", and give the system its own: {advice.pin.format(cpus=cpus)}" if advice.pin else ""
        yield Finding(
            DRIVER,
            strength=ratio(own, 100 * evidence.machine_cores),
            shown_by=f"driver and sink used {cores(own)} of the machine's "
            f"{counted(evidence.machine_cores, 'core')}, which were not available to the system",
            advice=f"Use a machine with {evidence.cores + ceil(own / 100)} cores or more{pin}.",
        )


def cpu(evidence: Evidence, advice: SystemAdvice) -> Finding | None:
    """All cores of the system are busy, or all of the machine."""
    used, share = evidence.system_cpu, evidence.system_share
    if used is None or share is None:
        return None
    own = f"{cores(used)} of its {counted(evidence.usable_cores, 'core')}"
    if share >= _BUSY:
        shown = f"the system used {own} ({percent(share)})"
    elif evidence.machine_is_full:
        shown = (
            f"the machine's {counted(evidence.machine_cores, 'core')} were all busy; the system "
            f"used {own}, driver and sink {cores(evidence.own_cpu)}"
        )
    else:
        return None
    more = _more_cores(evidence, advice)
    less = "Or reduce the work for each event: the other entries show where the time goes."
    return Finding(CPU, min(1.0, share), shown, f"Give the system more cores{more}. {less}")


def _more_cores(evidence: Evidence, advice: SystemAdvice) -> str:
    free = evidence.machine_cores - ceil(evidence.own_cpu / 100)
    if evidence.machine_is_full or free <= evidence.cores:
        cluster = f" or in a cluster ({advice.more_machines})" if advice.more_machines else ""
        return f", on a larger machine{cluster}"
    return f": {advice.more_cores.format(cores=free) or f'this machine has {free} for it'}"


def hot_key(evidence: Evidence) -> Finding | None:
    """One task has most of the work while the other cores are idle."""
    used, key = evidence.system_cpu, evidence.hottest_key_share
    if used is None or evidence.usable_cores < 2:
        return None
    if key is None:
        return _one_core(evidence, used)
    hottest = key + (1 - key) / (evidence.keyed_tasks or evidence.usable_cores)
    can_work = 1 / hottest
    used_of_these = used / 100 / can_work
    if can_work > _UNDIVIDED * evidence.busy_tasks or not 0.6 <= used_of_these <= 1.3:
        return None
    strength = max(hottest, 1 - ratio(used, 100 * evidence.usable_cores))
    return Finding(
        HOT_KEY,
        # Without a backlog a hot key may do no harm.
        strength=strength if evidence.behind else strength / 2,
        shown_by=f"{percent(key)} of the events have the same key, so one task has at least "
        f"{percent(hottest)} of the work by key, and no more than {can_work:.2f} cores can work at "
        f"a time; the system used {cores(used)} of its {counted(evidence.usable_cores, 'core')}",
        advice="More cores do not help. Split the key (add a small random number to it, aggregate, "
        "then aggregate again without it), or aggregate before the events are divided by key. To "
        "measure the cost of the key: `--set workload.distribution=uniform`.",
    )


def _one_core(evidence: Evidence, used: float) -> Finding | None:
    if not (evidence.behind and 80 <= used <= 125):
        return None
    return Finding(
        HOT_KEY,
        strength=0.5 * (1 - ratio(used, 100 * evidence.usable_cores)),
        shown_by=f"the system fell behind with {cores(used)} of its "
        f"{counted(evidence.usable_cores, 'core')}: some work runs on one core only. The share of "
        "the most frequent key is not known, so this may be a hot key or other work that is not "
        "divided",
        advice="To test the key: `--set workload.distribution=uniform`, or events of your own with "
        "even keys. To test the reading: "
        f"`--set load.instances={min(2 * evidence.driver_instances, MOST_INSTANCES)}`.",
    )
