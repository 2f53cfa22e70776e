"""Collects the measurements of a trial that may show what limited it."""

from __future__ import annotations

import os
from collections import Counter

from streamgauge.experiments.planning.plan import Plan
from streamgauge.experiments.running.run_directory import RunDirectory
from streamgauge.measure.limits import Evidence
from streamgauge.measure.pulls import pulls_of
from streamgauge.measure.record import RunRecord
from streamgauge.measure.summary import TrialSummary
from streamgauge.parts import read_parts

SAMPLED_EVENTS = 20_000


def evidence(
    plan: Plan, directory: RunDirectory, record: RunRecord, summary: TrialSummary
) -> Evidence:
    """Everything that was measured from outside and may show a limit."""
    system, instances = plan.system, plan.load.instances
    seconds = record.end_us / 1e6
    moved = summary.resources.get("system")
    return Evidence(
        cores=system.cores_used,
        machine_cores=os.cpu_count() or 1,
        driver_instances=instances,
        sustained=summary.sustained,
        at_maximum=plan.at_maximum,
        duration_s=seconds,
        offered_per_s=summary.offered_per_s,
        drained_per_s=summary.drained_per_s,
        cpu_percent={role: use.cpu_percent_mean for role, use in summary.resources.items()},
        lag_p99_ms=max(instance.lag_p99_us for instance in record.instances) / 1_000,
        max_lag_ms=plan.experiment.load.max_lag / 1_000,
        queue_share=max(one.queue_max / max(1, one.queue_limits[0]) for one in record.instances),
        event_time_p50_ms=summary.latency_ms.event_time.p50,
        pulls=pulls_of(
            [read_parts(directory.driver(number) / "handovers") for number in range(instances)],
            plan.built_load.count_before,
            bounded=system.bounded_pulls,
        ),
        pause_s=system.pause_us / 1e6,
        hottest_key_share=_hottest_key_share(plan),
        keyed_tasks=system.keyed_tasks,
        network_mb_per_s=moved.network_mb / seconds if moved and moved.network_mb else None,
        local=system.runs_here,
    )


def _hottest_key_share(plan: Plan) -> float | None:
    """Share of the most frequent key of the results among events of the first stream."""
    load = plan.built_load
    stream, source = next(iter(load.streams.items()))
    keys = [name for name in plan.query.shape.keys if name in source.schema.names[1:]]
    if not keys:
        return None
    feed = load.feeds[load.instances_of(stream)[0]]
    count = min(SAMPLED_EVENTS, load.total // load.instances, feed.times.total)
    events = feed.events.batch(0, count)
    values = zip(*(events.column(name).to_pylist() for name in keys), strict=True)
    # As text, because a recorded column may hold lists.
    found = Counter(map(repr, values))
    return max(found.values(), default=0) / count if count else None
