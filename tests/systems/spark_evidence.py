"""Runs on Spark with a known limit, and one without."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from streamgauge.systems.spark.advice import SparkEvidence
from streamgauge.systems.spark.progress import BatchProgress
from tests.measure.evidence import BEHIND, LONG, evidence, pulled

_OWN = {field.name for field in fields(SparkEvidence)}


def progress(total_ms: int = 300, **changes: int) -> BatchProgress:
    """A batch without an unusual figure."""
    usual = {
        "total_ms": total_ms,
        "compute_ms": round(0.7 * total_ms),
        "planning_ms": round(0.3 * total_ms),
        "state_update_ms": round(0.3 * total_ms),
        "state_commit_ms": round(0.1 * total_ms),
        "state_rows": 2_000,
        "state_bytes": 3_000_000,
    }
    return BatchProgress(**{**usual, **changes})


def spark_evidence(**changes: Any) -> SparkEvidence:
    """A calm run: it kept up, with a third of two cores."""
    own: dict[str, Any] = {
        "batches": [progress()] * 30,
        "state_store": "memory",
        "shuffle_partitions": 2,
        "memory_mb": 4_000.0,
    }
    own |= {name: value for name, value in changes.items() if name in _OWN}
    outside = {name: value for name, value in changes.items() if name not in _OWN}
    measured = evidence(keyed_tasks=own["shuffle_partitions"], **outside)
    return SparkEvidence(measured=measured, **own)


CASES: dict[str, tuple[str, dict[str, Any], str, str]] = {
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
            "batches": [progress(2_000, state_update_ms=1_200)] * 30,
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
            "batches": [progress(2_000)] * 30,
        },
        "no more than 1.60 cores",
        "--set workload.distribution=uniform",
    ),
    "a long interval": (
        "trigger",
        {
            "pause_s": 5.0,
            "event_time_p50_ms": 3_100.0,
            "pulls": pulled(every_s=5.0, lead_s=0.1, pull_s=0.02),
            "batches": [progress(420)] * 12,
        },
        "92 % of the time",
        "--set 'system.trigger=600 ms'",
    ),
    "a short interval": (
        "trigger",
        {
            **BEHIND,
            "pause_s": 0.1,
            "pulls": pulled(every_s=0.5, lead_s=0.2, pull_s=0.02),
            "batches": [progress(500, planning_ms=300, compute_ms=200)] * 60,
        },
        "longer than the interval of 100 ms",
        "--set 'system.trigger=1.2 s'",
    ),
    "small batches": (
        "fixed cost",
        {
            **BEHIND,
            "pulls": pulled(every_s=0.3, lead_s=0.15, pull_s=0.01),
            "batches": [progress(300, planning_ms=200, compute_ms=100)] * 30,
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
            "batches": [progress(1_950, compute_ms=1_800, planning_ms=100)] * 30,
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
            "batches": [progress(2_000, state_update_ms=1_600, state_commit_ms=800)] * 30,
        },
        "1.20 s of 2.00 s in each batch (60 %",
        "--set system.state_store=memory",
    ),
    "state that fills the memory": (
        "state",
        {
            **BEHIND,
            **LONG,
            "batches": [progress(2_000, state_bytes=3_600_000_000)] * 30,
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
            "batches": [progress(2_000, compute_ms=1_800, planning_ms=200)] * 30,
        },
        "200 partitions on 2 cores",
        "starts 200 tasks after the shuffle, each with a separate state: "
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
            "batches": [progress(2_000, compute_ms=1_800, planning_ms=200)] * 30,
        },
        "1 partition on 4 cores",
        "Only 1 of 4 cores work after the shuffle: `--set system.shuffle_partitions=4`",
    ),
    "a query without state": (
        "compute",
        {
            **BEHIND,
            **LONG,
            "batches": [
                progress(
                    2_000, compute_ms=1_800, state_update_ms=0, state_commit_ms=0, state_rows=0
                )
            ]
            * 30,
        },
        "keeps no state",
        "more cores",
    ),
    "no progress report": (
        "compute",
        {**BEHIND, **LONG, "batches": []},
        "1.80 s of 2.00 s",
        "own statistics",
    ),
}
