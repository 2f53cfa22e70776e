"""Evidence of runs that were held back by something known, and by nothing."""

from __future__ import annotations

from typing import Any

from streamgauge.measure.limits import Evidence, Pull
from streamgauge.systems.spark.own_words import BatchWords

LOAD_S = 60.0


def words(total_ms: int = 300, **changes: int) -> BatchWords:
    """A batch in which nothing stands out."""
    usual = {
        "total_ms": total_ms,
        "compute_ms": round(0.7 * total_ms),
        "planning_ms": round(0.3 * total_ms),
        "state_update_ms": round(0.3 * total_ms),
        "state_commit_ms": round(0.1 * total_ms),
        "state_rows": 2_000,
        "state_bytes": 3_000_000,
    }
    return BatchWords(**{**usual, **changes})


def pulled(every_s: float, lead_s: float, pull_s: float, events: int | None = 60_000) -> list[Pull]:
    count = int(LOAD_S / every_s)
    starts = [number * every_s for number in range(count)]
    return [
        Pull(
            start_s=at,
            first_handed_s=at + lead_s,
            last_handed_s=at + lead_s + pull_s,
            events=events,
        )
        for at in starts
    ]


def evidence(**changes: Any) -> Evidence:
    """A calm run: kept up, with a third of two cores."""
    calm: dict[str, Any] = {
        "cores": 2,
        "machine_cores": 2,
        "driver_instances": 2,
        "sustained": True,
        "duration_s": LOAD_S,
        "offered_per_s": 100_000.0,
        "drained_per_s": 99_500.0,
        "cpu_percent": {"driver": 5.0, "system": 70.0, "sink": 1.0},
        "lag_p99_ms": 1.0,
        "max_lag_ms": 100.0,
        "queue_share": 0.3,
        "event_time_p50_ms": 450.0,
        "processing_time_p50_ms": 300.0,
        "pulls": pulled(every_s=0.3, lead_s=0.09, pull_s=0.02),
        "batches": [words()] * 30,
        "hottest_key_share": 0.01,
        "state_store": "memory",
        "shuffle_partitions": 2,
        "network_mb_per_s": 3.0,
    }
    return Evidence(**{**calm, **changes})


BEHIND = {"sustained": False, "drained_per_s": 60_000.0, "queue_share": 2.5}
LONG = {"pulls": pulled(every_s=2.0, lead_s=0.1, pull_s=0.1)}

CASES: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "a late generator": (
        "driver",
        {"lag_p99_ms": 140.0},
        "140 ms, allowed 100 ms",
        "--set load.instances=4",
    ),
    "busy generators": (
        "driver",
        {
            "machine_cores": 8,
            "cores": 4,
            "cpu_percent": {"driver": 190.0, "system": 90.0, "sink": 1.0},
        },
        "1.90 cores, 95 %",
        "--set load.instances=4",
    ),
    "a busy sink": (
        "driver",
        {"machine_cores": 8, "cpu_percent": {"driver": 5.0, "system": 70.0, "sink": 97.0}},
        "0.97 cores",
        "--set workload.output_mode=append",
    ),
    "busy cores": (
        "CPU",
        {**BEHIND, "cpu_percent": {"driver": 5.0, "system": 192.0, "sink": 1.0}},
        "1.92 of its 2 cores (96 %)",
        "--set system.master=spark://",
    ),
    "busy cores, and others free": (
        "CPU",
        {
            **BEHIND,
            "machine_cores": 8,
            "cpu_percent": {"driver": 5.0, "system": 192.0, "sink": 1.0},
        },
        "1.92 of its 2 cores",
        "--set 'system.master=local[7]'",
    ),
    "a full machine": (
        "CPU",
        {**BEHIND, "cpu_percent": {"driver": 40.0, "system": 150.0, "sink": 3.0}},
        "driver and sink 0.43",
        "--set system.master=spark://",
    ),
    "a hot key": (
        "hot key",
        {
            **BEHIND,
            **LONG,
            "cpu_percent": {"driver": 5.0, "system": 105.0, "sink": 1.0},
            "hottest_key_share": 0.9,
            "batches": [words(2_000, state_update_ms=1_200)] * 30,
        },
        "90 % of the events",
        "--set workload.distribution=uniform",
    ),
    "a hot key on four cores": (
        "hot key",
        {
            **BEHIND,
            **LONG,
            "cores": 4,
            "machine_cores": 8,
            "shuffle_partitions": 4,
            "cpu_percent": {"driver": 5.0, "system": 150.0, "sink": 1.0},
            "hottest_key_share": 0.5,
            "batches": [words(2_000)] * 30,
        },
        "no more than 1.60 cores",
        "--set workload.distribution=uniform",
    ),
    "a long interval": (
        "trigger",
        {
            "trigger_s": 5.0,
            "event_time_p50_ms": 3_100.0,
            "pulls": pulled(every_s=5.0, lead_s=0.1, pull_s=0.02),
            "batches": [words(420)] * 12,
        },
        "92 % of the time",
        "--set 'system.trigger=600 ms'",
    ),
    "a short interval": (
        "trigger",
        {
            **BEHIND,
            "trigger_s": 0.1,
            "pulls": pulled(every_s=0.5, lead_s=0.2, pull_s=0.02),
            "batches": [words(500, planning_ms=300, compute_ms=200)] * 60,
        },
        "longer than the interval of 100 ms",
        "--set 'system.trigger=1.2 s'",
    ),
    "small batches": (
        "fixed cost",
        {
            **BEHIND,
            "pulls": pulled(every_s=0.3, lead_s=0.15, pull_s=0.01),
            "batches": [words(300, planning_ms=200, compute_ms=100)] * 30,
        },
        "200 ms of 300 ms (67 %; ",
        "--set 'system.trigger=800 ms'",
    ),
    "reading": (
        "source",
        {
            **BEHIND,
            "cores": 4,
            "machine_cores": 8,
            "pulls": pulled(every_s=2.0, lead_s=0.1, pull_s=1.4),
            "batches": [words(1_950, compute_ms=1_800, planning_ms=100)] * 30,
            "network_mb_per_s": 57.0,
        },
        "1.40 s of 2.00 s in each batch (70 %), 57.0 MB/s",
        "--set load.instances=4",
    ),
    "state on disk": (
        "state",
        {
            **BEHIND,
            **LONG,
            "state_store": "rocksdb",
            "batches": [words(2_000, state_update_ms=1_600, state_commit_ms=800)] * 30,
        },
        "1.20 s of 2.00 s in each batch (60 %",
        "--set system.state_store=memory",
    ),
    "state that fills the memory": (
        "state",
        {
            **BEHIND,
            **LONG,
            "memory_mb": 4_000.0,
            "batches": [words(2_000, state_bytes=3_600_000_000)] * 30,
        },
        "90 % of its memory",
        "--set system.state_store=rocksdb",
    ),
    "too many partitions": (
        "shuffle",
        {
            **BEHIND,
            **LONG,
            "shuffle_partitions": 200,
            "batches": [words(2_000, compute_ms=1_800, planning_ms=200)] * 30,
        },
        "200 partitions on 2 cores",
        "starts 200 tasks after the shuffle, each with a state of its own: "
        "`--set system.shuffle_partitions=2`",
    ),
    "too few partitions": (
        "shuffle",
        {
            **BEHIND,
            **LONG,
            "cores": 4,
            "machine_cores": 8,
            "shuffle_partitions": 1,
            "batches": [words(2_000, compute_ms=1_800, planning_ms=200)] * 30,
        },
        "1 partition on 4 cores",
        "only 1 of 4 cores work: `--set system.shuffle_partitions=4`",
    ),
    "a query without state": (
        "compute",
        {
            **BEHIND,
            **LONG,
            "batches": [
                words(2_000, compute_ms=1_800, state_update_ms=0, state_commit_ms=0, state_rows=0)
            ]
            * 30,
        },
        "keeps no state",
        "more cores",
    ),
    "a system that says nothing": (
        "compute",
        {**BEHIND, **LONG, "batches": [], "state_store": None, "shuffle_partitions": None},
        "1.80 s of 2.00 s",
        "own statistics",
    ),
}
