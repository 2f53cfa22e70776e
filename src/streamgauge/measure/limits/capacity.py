"""Limits of capacity: our own driver, the cores, and work that only one core can do."""

from __future__ import annotations

from math import ceil

from streamgauge.measure.limits.evidence import Evidence
from streamgauge.measure.limits.words import cores, counted, duration, percent, ratio
from streamgauge.measure.summary import Limit

MOST_INSTANCES = 256
_NEAR = 0.8
"""Of the lag that is allowed."""
_BUSY = 0.85
"""Of a core, or of all cores of the system."""
_IN_VAIN = 0.75
"""A hot key matters when fewer than this share of the tasks can work at a time."""


def driver(evidence: Evidence) -> Limit | None:
    """Our own generators and our own sink."""
    signs = (_late(evidence), _generators(evidence), _sink(evidence), _shared(evidence))
    found = sorted((sign for sign in signs if sign), key=lambda sign: sign.strength, reverse=True)
    if not found:
        return None
    return Limit(
        kind="driver",
        shown_by="; ".join(sign.shown_by for sign in found),
        advice=" ".join(dict.fromkeys(sign.advice for sign in found)),
        strength=found[0].strength,
    )


def _late(evidence: Evidence) -> Limit | None:
    lag, allowed = evidence.lag_p99_ms, evidence.max_lag_ms
    if lag <= 0 or lag < _NEAR * allowed:
        return None
    return Limit(
        kind="driver",
        shown_by=f"the generator was late itself: p99 of its lag {duration(lag)}, allowed "
        f"{duration(allowed)}",
        advice=_more_instances(evidence),
        strength=ratio(lag, allowed) if allowed > 0 else 1.0,
    )


def _generators(evidence: Evidence) -> Limit | None:
    cpu = evidence.cpu_percent.get("driver", 0.0)
    share = ratio(cpu, 100 * evidence.driver_instances)
    if share < _BUSY:
        return None
    return Limit(
        kind="driver",
        shown_by=f"{counted(evidence.driver_instances, 'driver instance')} used {cores(cpu)} "
        f"cores, {percent(share)} of one core each",
        advice=_more_instances(evidence),
        strength=share,
    )


def _more_instances(evidence: Evidence) -> str:
    more = min(2 * evidence.driver_instances, MOST_INSTANCES)
    return (
        f"Spread the events over more generators: `--set load.instances={more}`, on a machine "
        "that has the cores for them. Until then the figures say as much about the driver as "
        "about the system."
    )


def _sink(evidence: Evidence) -> Limit | None:
    cpu = evidence.cpu_percent.get("sink", 0.0)
    if cpu < 100 * _BUSY:
        return None
    return Limit(
        kind="driver",
        shown_by=f"the sink, which is one process, used {cores(cpu)} cores",
        advice="There is only one sink. Let the query send fewer results: longer windows, or "
        "`--set workload.output_mode=append`.",
        strength=ratio(cpu, 100),
    )


def _shared(evidence: Evidence) -> Limit | None:
    """Driver and system on one machine that has no core left."""
    own = evidence.own_cpu
    apart = evidence.cores + own / 100 <= evidence.machine_cores
    if not (evidence.local and evidence.machine_is_full) or apart or own <= 0:
        return None
    return Limit(
        kind="driver",
        shown_by=f"driver and sink took {cores(own)} of the machine's "
        f"{counted(evidence.machine_cores, 'core')}, which the system would otherwise have",
        advice=f"Use a machine with {evidence.cores + ceil(own / 100)} cores or more"
        f"{_pinned(evidence)}.",
        strength=ratio(own, 100 * evidence.machine_cores),
    )


def _pinned(evidence: Evidence) -> str:
    if not evidence.is_spark:
        return ""
    cpus = ", ".join(map(str, range(min(evidence.cores, 64))))
    return f", and give the system its own: `--set 'system.cpus=[{cpus}]'`"


def cpu(evidence: Evidence) -> Limit | None:
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
    return Limit(kind="CPU", shown_by=shown, advice=_more_cores(evidence), strength=min(1.0, share))


def _more_cores(evidence: Evidence) -> str:
    less = " Or have it do less for each event: the other entries say where the time goes."
    free = evidence.machine_cores - ceil(evidence.own_cpu / 100)
    if evidence.machine_is_full or free <= evidence.cores:
        how = "on a larger machine"
        if evidence.is_spark:
            how += " or in a cluster (`--set system.master=spark://HOST:7077`)"
        return f"Give the system more cores, {how}.{less}"
    if not evidence.is_spark:
        return f"Give the system more cores: this machine has {free} for it.{less}"
    return f"Give the system more cores: `--set 'system.master=local[{free}]'`.{less}"


def hot_key(evidence: Evidence) -> Limit | None:
    """One task has most of the work, and the other cores wait for it."""
    used, key = evidence.system_cpu, evidence.hottest_key_share
    if used is None or evidence.usable_cores < 2:
        return None
    if key is None:
        return _one_core(evidence, used)
    tasks = evidence.shuffle_partitions or evidence.usable_cores
    hottest = key + (1 - key) / tasks
    can_work = 1 / hottest
    of_it = used / 100 / can_work
    if can_work > _IN_VAIN * evidence.parallel or not 0.6 <= of_it <= 1.3:
        return None
    strength = max(hottest, 1 - ratio(used, 100 * evidence.usable_cores))
    return Limit(
        kind="hot key",
        shown_by=f"{percent(key)} of the events have the same key, so one task has at least "
        f"{percent(hottest)} of the work after the shuffle and no more than {can_work:.2f} cores "
        f"can work at a time; the system used {cores(used)} of its "
        f"{counted(evidence.usable_cores, 'core')}",
        advice="More cores do not help. Split the key (add a small random number to it, aggregate, "
        "then aggregate again without it), or aggregate before the shuffle. To see what the key "
        "costs: `--set workload.distribution=uniform`.",
        # Without a backlog it may be so, and did no harm.
        strength=strength if evidence.behind else strength / 2,
    )


def _one_core(evidence: Evidence, used: float) -> Limit | None:
    if not (evidence.behind and 80 <= used <= 125):
        return None
    return Limit(
        kind="hot key",
        shown_by=f"the system fell behind with {cores(used)} of its "
        f"{counted(evidence.usable_cores, 'core')}: something runs on one core only. How often "
        "the most frequent key comes is not known, so a hot key cannot be told from other work "
        "that is not divided",
        advice="To see whether it is the key: `--set workload.distribution=uniform`, or events "
        "of your own with even keys. To see whether it is the reading: "
        f"`--set load.instances={min(2 * evidence.driver_instances, MOST_INSTANCES)}`.",
        strength=0.5 * (1 - ratio(used, 100 * evidence.usable_cores)),
    )
