"""Measurements of runs with a known limit, and of a run without one."""

from __future__ import annotations

from typing import Any

from streamgauge.measure.limits import Evidence
from streamgauge.measure.pulls import Pull

LOAD_S = 60.0


def pulled(every_s: float, lead_s: float, pull_s: float, events: int = 60_000) -> list[Pull]:
    starts = [number * every_s for number in range(int(LOAD_S / every_s))]
    return [
        Pull(
            start_s=at,
            events=events,
            busy_s=every_s,
            left=0,
            handed_s=(at + lead_s, at + lead_s + pull_s),
        )
        for at in starts
    ]


def evidence(**changes: Any) -> Evidence:
    """A calm run: it kept up, with a third of two cores."""
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
        "pulls": pulled(every_s=0.3, lead_s=0.09, pull_s=0.02),
        "hottest_key_share": 0.01,
        "network_mb_per_s": 3.0,
    }
    return Evidence(**{**calm, **changes})


BEHIND = {"sustained": False, "drained_per_s": 60_000.0, "queue_share": 2.5}
LONG = {"pulls": pulled(every_s=2.0, lead_s=0.1, pull_s=0.1)}

SHARED = {"driver": 4.0, "system": 36.0, "sink": 3.0, "others": 157.0}

CASES: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "a busy machine": (
        "other programs",
        {**BEHIND, **LONG, "cpu_percent": SHARED},
        "1.57 of the machine's 2 cores",
        "streamgauge doctor",
    ),
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
        "more cores, on a larger machine.",
    ),
    "busy cores, and others free": (
        "CPU",
        {
            **BEHIND,
            "machine_cores": 8,
            "cpu_percent": {"driver": 5.0, "system": 192.0, "sink": 1.0},
        },
        "1.92 of its 2 cores",
        "more cores: this machine has 7 for it.",
    ),
    "a full machine": (
        "CPU",
        {**BEHIND, "cpu_percent": {"driver": 40.0, "system": 150.0, "sink": 3.0}},
        "driver and sink 0.43",
        "more cores, on a larger machine.",
    ),
    "a hot key": (
        "hot key",
        {
            **BEHIND,
            **LONG,
            "cpu_percent": {"driver": 5.0, "system": 105.0, "sink": 1.0},
            "hottest_key_share": 0.9,
        },
        "90 % of the events",
        "--set workload.distribution=uniform",
    ),
    "a hot key on four cores": (
        "hot key",
        {
            **BEHIND,
            "pulls": [],
            "cores": 4,
            "machine_cores": 8,
            "cpu_percent": {"driver": 5.0, "system": 150.0, "sink": 1.0},
            "hottest_key_share": 0.5,
        },
        "no more than 1.60 cores",
        "--set workload.distribution=uniform",
    ),
    "a hot key among few tasks": (
        "hot key",
        {
            **BEHIND,
            "pulls": [],
            "cores": 4,
            "machine_cores": 8,
            "keyed_tasks": 2,
            "cpu_percent": {"driver": 5.0, "system": 130.0, "sink": 1.0},
            "hottest_key_share": 0.6,
        },
        "at least 80 % of the work by key, and no more than 1.25 cores",
        "--set workload.distribution=uniform",
    ),
    "small batches": (
        "fixed cost",
        {**BEHIND, "pulls": pulled(every_s=0.3, lead_s=0.15, pull_s=0.01)},
        "150 ms of 300 ms (50 %) for its first event, with 60,000 events in a batch",
        "Larger batches",
    ),
    "reading": (
        "source",
        {
            **BEHIND,
            "cores": 4,
            "machine_cores": 8,
            "pulls": pulled(every_s=2.0, lead_s=0.1, pull_s=1.4),
            "network_mb_per_s": 57.0,
        },
        "1.40 s of 2.00 s in each batch (70 %), 57.0 MB/s",
        "--set load.instances=4",
    ),
    "computing": (
        "compute",
        {**BEHIND, **LONG},
        "1.80 s of 2.00 s in each batch (90 %) pass between",
        "own statistics",
    ),
}
