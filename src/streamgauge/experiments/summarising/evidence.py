"""Gathers what a trial has measured for the advice on tuning."""

from __future__ import annotations

import os
import re
from collections import Counter

from streamgauge.compute.session import is_local
from streamgauge.experiments.planning.plan import Plan
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.measure.limits import Evidence, pulls_of
from streamgauge.measure.record import RunRecord
from streamgauge.measure.summary import Summary
from streamgauge.parts import read_parts
from streamgauge.systems.spark.own_words import BatchWords
from streamgauge.systems.spark.system import SparkSystem

SAMPLED_EVENTS = 20_000


def evidence(
    plan: Plan,
    directory: RunDirectory,
    record: RunRecord,
    summary: Summary,
    own_words: list[dict[str, int]],
) -> Evidence:
    """Everything that may point at what limited the trial."""
    system = plan.system
    spark = system if isinstance(system, SparkSystem) else None
    machine = os.cpu_count() or 1
    seconds = record.end_us / 1e6
    moved = summary.resources.get("system")
    latency = summary.latency_ms
    return Evidence(
        cores=spark.slots if spark else machine,
        machine_cores=machine,
        driver_instances=plan.load.instances,
        sustained=summary.sustained,
        at_maximum=plan.at_maximum,
        duration_s=seconds,
        offered_per_s=summary.offered_per_s,
        drained_per_s=summary.drained_per_s,
        cpu_percent={role: use.cpu_percent_mean for role, use in summary.resources.items()},
        lag_p99_ms=max(instance.lag_p99_us for instance in record.instances) / 1_000,
        max_lag_ms=plan.experiment.load.max_lag / 1_000,
        queue_share=max(one.queue_max / max(1, one.queue_limits[0]) for one in record.instances),
        trigger_s=spark.trigger / 1e6 if spark else 0.0,
        event_time_p50_ms=latency.event_time.p50,
        processing_time_p50_ms=latency.processing_time.p50,
        pulls=pulls_of(
            [
                read_parts(directory.driver(number) / "handovers")
                for number in range(plan.load.instances)
            ],
            limited=spark is None or spark.max_events_per_batch is not None,
            count_before=plan.load.schedule.build().count_before,
        ),
        batches=[BatchWords.model_validate(words) for words in own_words],
        hottest_key_share=_hottest_key_share(plan),
        state_store=spark.state_store if spark else None,
        shuffle_partitions=(spark.shuffle_partitions or spark.slots) if spark else None,
        network_mb_per_s=moved.network_mb / seconds if moved and moved.network_mb else None,
        memory_mb=_megabytes(spark.memory) if spark else None,
        local=spark is None or spark.cluster is not None or is_local(spark.master),
    )


def _hottest_key_share(plan: Plan) -> float | None:
    """Of the events of the first stream, by the key of the results."""
    stream, spec = next(iter(plan.load.streams.items()))
    keys = [name for name in plan.query.shape.keys if name in spec.columns]
    if not keys:
        return None
    instance = plan.load.instances_of(stream)[0]
    schedule = plan.load.schedule.build()
    count = min(SAMPLED_EVENTS, schedule.total // plan.load.instances)
    events = plan.load.events(schedule, instance).batch(0, count)
    found = Counter(zip(*(events.column(name).to_pylist() for name in keys), strict=True))
    return max(found.values(), default=0) / count if count else None


def _megabytes(size: str) -> float:
    match = re.fullmatch(r"(\d+)([kmgt])", size)
    assert match is not None
    return float(int(match[1]) * 1024.0 ** ("kmgt".index(match[2]) - 1))
