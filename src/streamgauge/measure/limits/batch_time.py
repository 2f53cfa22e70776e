"""Limits of time: what a micro-batch waits for, and what it spends its time on."""

from __future__ import annotations

from math import ceil

from streamgauge.measure.limits.capacity import MOST_INSTANCES
from streamgauge.measure.limits.evidence import Evidence
from streamgauge.measure.limits.mean_batch import MeanBatch, Words
from streamgauge.measure.limits.words import OWN_WORD, counted, duration, percent, ratio, size
from streamgauge.measure.summary import Limit
from streamgauge.units import format_duration

_EARLY = 0.6
"""A batch that is done after this share of the interval waits for the rest of it."""
_FIXED = 0.3
"""Of a batch that is too long for its interval."""
_LARGE_STATE = 1e9
_MOST_OF_MEMORY = 0.5


def trigger(evidence: Evidence, batch: MeanBatch) -> Limit | None:
    """The interval is too long for the latency, or too short for a batch."""
    interval_ms = 1000 * evidence.trigger_s
    if interval_ms <= 0 or batch.busy_ms is None:
        return None
    if batch.busy_ms <= _EARLY * interval_ms:
        return _waits(evidence, batch.busy_ms, interval_ms)
    if _too_short(evidence, batch):
        return _hurries(batch, batch.busy_ms, interval_ms)
    return None


def _waits(evidence: Evidence, busy_ms: float, interval_ms: float) -> Limit:
    waiting = 1 - ratio(busy_ms, interval_ms)
    latency = evidence.event_time_p50_ms
    shown = (
        f"a batch takes {duration(busy_ms)} ({OWN_WORD}) and then waits for the interval of "
        f"{duration(interval_ms)}: {percent(waiting)} of the time"
    )
    if latency is not None:
        shown += f"; p50 of event-time latency is {duration(latency)}"
    advice = f"Shorten the interval: {_trigger_of(1.25 * busy_ms)}."
    if evidence.behind:
        shown += ". The queue grew all the same"
        advice += (
            " If `system.max_events_per_batch` is set, it keeps the batches small: raise it or "
            "leave it out."
        )
    explained = waiting if latency is None or latency <= 0 else ratio(interval_ms, latency)
    return Limit(kind="trigger", shown_by=shown, advice=advice, strength=min(waiting, explained))


def _too_short(evidence: Evidence, batch: MeanBatch) -> bool:
    interval_ms = 1000 * evidence.trigger_s
    too_long = batch.busy_ms is not None and batch.busy_ms > interval_ms > 0
    return too_long and batch.share(batch.fixed_ms) >= _FIXED


def _hurries(batch: MeanBatch, busy_ms: float, interval_ms: float) -> Limit:
    longer = max(1.25 * busy_ms, 4 * batch.fixed_ms)
    return Limit(
        kind="trigger",
        shown_by=f"a batch takes {duration(busy_ms)} ({OWN_WORD}), longer than the interval of "
        f"{duration(interval_ms)}, and {_fixed_part(batch)}",
        advice=f"Fewer and larger batches pay the fixed cost less often: {_trigger_of(longer)}.",
        strength=batch.share(batch.fixed_ms),
    )


def fixed_cost(evidence: Evidence, batch: MeanBatch) -> Limit | None:
    """What a batch costs however few events it has."""
    if batch.fixed_ms <= 0 or _too_short(evidence, batch):
        return None
    counted = batch.outside.events if batch.outside else None
    events = f", with {counted:,.0f} events in a batch" if counted is not None else ""
    return Limit(
        kind="fixed cost",
        shown_by=f"{_fixed_part(batch)}{events}",
        advice=_paying_less(evidence, batch),
        strength=batch.share(batch.fixed_ms),
    )


def _paying_less(evidence: Evidence, batch: MeanBatch) -> str:
    longer = 4 * batch.fixed_ms
    if not evidence.behind:
        advice = "No latency is shorter than this; a simpler query plans and starts faster."
    elif not evidence.is_spark or longer <= 1000 * evidence.trigger_s:
        advice = "Larger batches pay it less often."
    else:
        advice = f"Larger batches pay it less often: {_trigger_of(longer)}, for more latency."
    if (evidence.shuffle_partitions or 0) > evidence.usable_cores:
        advice += f" Fewer tasks start faster: {_partitions(evidence.usable_cores)}."
    return advice


def _fixed_part(batch: MeanBatch) -> str:
    lead = batch.outside.lead_ms if batch.outside else 0.0
    planning = batch.words.planning_ms if batch.words else 0.0
    share, whole = percent(batch.share(batch.fixed_ms)), duration(batch.every_ms)
    if lead >= planning:
        text = f"a batch waits {duration(lead)} of {whole} ({share}) for its first event"
        return f"{text}; planning takes {duration(planning)} ({OWN_WORD})" if planning else text
    text = f"planning and logs take {duration(planning)} of {whole} ({share}; {OWN_WORD})"
    return f"{text}; its first event comes {duration(lead)} after it has begun" if lead else text


def source(evidence: Evidence, batch: MeanBatch) -> Limit | None:
    """Reading the input."""
    if batch.pull_ms <= 0:
        return None
    share = batch.share(batch.pull_ms)
    shown = (
        f"the system pulls for {duration(batch.pull_ms)} of {duration(batch.every_ms)} in each "
        f"batch ({percent(share)})"
    )
    if evidence.network_mb_per_s:
        shown += f", {evidence.network_mb_per_s:,.1f} MB/s in the mean"
    shown += (
        ". What it does with events while they come in (decoding, the first step of an "
        "aggregation) is part of it and cannot be told apart from outside"
    )
    return Limit(kind="source", shown_by=shown, advice=_reading(evidence), strength=share)


def _reading(evidence: Evidence) -> str:
    instances = evidence.driver_instances
    if instances < evidence.usable_cores:
        return (
            f"Each driver instance is one task that reads, so {instances} of "
            f"{counted(evidence.usable_cores, 'core')} read: `--set load.instances="
            f"{min(evidence.usable_cores, MOST_INSTANCES)}`."
        )
    advice = f"All {counted(evidence.usable_cores, 'core')} read. Read less: "
    return advice + "name the columns that the query needs (its `reads`), or give it more cores."


def state(evidence: Evidence, batch: MeanBatch) -> Limit | None:
    """Updating and committing what a query keeps."""
    words = batch.words
    if words is None or not words.has_state:
        return None
    share = batch.share(words.state_ms)
    early, late = words.state_rows
    shown = (
        f"keeping state takes {duration(words.state_ms)} of {duration(batch.every_ms)} in each "
        f"batch ({percent(share)}; {OWN_WORD}, if {counted(evidence.parallel, 'task')} at a time "
        f"share it evenly): {duration(words.commit_ms)} to commit it and "
        f"{duration(words.update_ms)} to update it, from which the fetching of the shuffled rows "
        f"cannot be told apart; {late:,.0f} rows, at most {size(words.state_bytes)}"
    )
    if words.state_grows:
        shown += f", after {early:,.0f} rows at the beginning"
    full = ratio(words.state_bytes, 1e6 * (evidence.memory_mb or 0.0))
    if evidence.memory_mb and full >= _MOST_OF_MEMORY:
        shown += f", which is {percent(full)} of its memory"
        share = max(share, full)
    return Limit(
        kind="state", shown_by=shown, advice=_keeping(evidence, words, full), strength=share
    )


def _keeping(evidence: Evidence, words: Words, full: float) -> str:
    large = words.state_bytes >= _LARGE_STATE or full >= _MOST_OF_MEMORY
    if evidence.state_store == "rocksdb" and not large:
        advice = "So little state fits into memory: `--set system.state_store=memory`."
    elif evidence.state_store == "memory" and large:
        advice = "Keep it outside the heap: `--set system.state_store=rocksdb`."
    elif (evidence.shuffle_partitions or 0) > evidence.usable_cores:
        advice = f"Each partition commits on its own: {_partitions(evidence.usable_cores)}."
    else:
        advice = "Keep less: fewer keys (`workload.keys`) or shorter windows (`workload.window`)."
    if words.state_grows:
        advice += (
            " If it goes on growing beyond the length of a window, something is never removed: "
            "look at `load.disorder`, which is the delay of the watermark."
        )
    return advice


def shuffle(evidence: Evidence, batch: MeanBatch) -> Limit | None:
    """What is left of computing when reading and state are taken off."""
    words = batch.words
    if words is None:
        return _computing(batch)
    rest = max(0.0, words.compute_ms - batch.pull_ms - words.state_ms)
    share = batch.share(rest)
    figure = f"{duration(rest)} of {duration(batch.every_ms)} in each batch ({percent(share)})"
    if not words.has_state:
        return Limit(
            kind="compute",
            shown_by=f"computing takes {figure}, without the pulling ({OWN_WORD}); the query keeps "
            "no state, and whether it shuffles is not known",
            advice="A simpler query, or more cores.",
            strength=share,
        )
    shown = (
        f"computing takes {figure}, without the pulling and the state ({OWN_WORD}): the shuffle, "
        "the starting of tasks and the delivery of results, which cannot be told apart"
    )
    partitions = evidence.shuffle_partitions
    if partitions is not None:
        shown += f"; {counted(partitions, 'partition')} on {counted(evidence.usable_cores, 'core')}"
    return Limit(kind="shuffle", shown_by=shown, advice=_shuffling(evidence), strength=share)


def _computing(batch: MeanBatch) -> Limit | None:
    """Without the system's own words everything after the pull is one thing."""
    if batch.outside is None or batch.busy_ms is None:
        return None
    rest = max(0.0, batch.busy_ms - batch.outside.lead_ms - batch.pull_ms)
    share = batch.share(rest)
    return Limit(
        kind="compute",
        shown_by=f"{duration(rest)} of {duration(batch.every_ms)} in each batch ({percent(share)}) "
        "pass between the last event that is pulled and the next batch: computing, shuffle, state "
        "and delivery, which cannot be told apart from outside",
        advice="The system's own statistics may say which of them it is.",
        strength=share,
    )


def _shuffling(evidence: Evidence) -> str:
    partitions, usable = evidence.shuffle_partitions, evidence.usable_cores
    if partitions is None or partitions == usable:
        return (
            "There is one partition for each core. Shuffle less: drop columns and rows before the "
            f"aggregation or join. If the keys are uneven, try {_partitions(2 * usable)}."
        )
    if partitions < usable:
        return f"After the shuffle only {partitions} of {usable} cores work: {_partitions(usable)}."
    return (
        f"Every batch starts {partitions:,} tasks after the shuffle, each with a state of its own: "
        f"{_partitions(usable)} is enough."
    )


def _partitions(number: int) -> str:
    return f"`--set system.shuffle_partitions={number}`"


def _trigger_of(milliseconds: float) -> str:
    """The next tenth of a second."""
    tenths = max(1, ceil(min(milliseconds, 1e9) / 100))
    return f"`--set 'system.trigger={format_duration(100_000 * tenths)}'`"
