"""Samples CPU, memory, disk and network of driver, system and sink from outside the system.

The CPU that the machine spends on anything else is a role of its own, `others`.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa

from streamgauge.measure.sockets import Connections, Traffic, open_connections
from streamgauge.measure.summary import (
    OTHERS,
    MonitorCost,
    Resources,
    ResourceSeries,
    ResourceSummary,
)
from streamgauge.parts import PartWriter
from streamgauge.processes.machine import cpu_time
from streamgauge.processes.roles import Role

EVERY_S = 1.0
SCHEMA = pa.schema(
    [
        ("time_us", pa.int64()),
        ("role", pa.string()),
        ("cpu_percent", pa.float64()),
        ("memory_mb", pa.float64()),
        ("disk_mb_per_s", pa.float64()),
        ("network_mb_per_s", pa.float64()),
    ]
)
_MB = 1e6


@dataclass
class _Totals:
    """What the processes of a role had used at the last sample."""

    cpu_s: dict[int, float] = field(default_factory=dict)
    written: dict[int, int] = field(default_factory=dict)
    network: int = 0


class Monitor:
    """A thread of the runner that samples all roles; its own CPU time is counted."""

    def __init__(
        self,
        roles: Mapping[str, Role],
        folder: Path,
        connections: Callable[[], Connections | None] = open_connections,
    ) -> None:
        self._roles = roles
        self._connections = connections
        self._traffic = {
            name: Traffic() for name, role in roles.items() if role.network_bytes is None
        }
        self._writer = PartWriter(folder)
        self._last = {name: _Totals() for name in roles}
        self._ours: dict[int, float] = {}
        self._busy_s = 0.0
        self._stopping = threading.Event()
        self._own_cpu_s = 0.0
        self._samples = 0
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._watch, name="monitor", daemon=True)

    def start(self) -> None:
        self._began = time.monotonic()
        self._thread.start()

    def stop(self) -> MonitorCost:
        self._stopping.set()
        self._thread.join()
        self._writer.flush()
        elapsed = max(1e-9, time.monotonic() - self._began)
        return MonitorCost(cpu_percent=100 * self._own_cpu_s / elapsed, samples=self._samples)

    def _watch(self) -> None:
        sampled_at = time.monotonic()
        # The first sample has no previous one to compare with.
        self._sample(EVERY_S)
        while not self._stopping.wait(EVERY_S):
            now = time.monotonic()
            rows = self._sample(now - sampled_at)
            sampled_at = now
            self._samples += 1
            self._writer.append(pa.RecordBatch.from_pylist(rows, schema=SCHEMA))
            self._own_cpu_s = time.thread_time()

    def _sample(self, seconds: float) -> list[dict[str, Any]]:
        """One row per role: use since the last sample, that many seconds ago."""
        connections = self._connections() if self._traffic else None
        rows = [self._row(name, seconds, connections) for name in self._roles]
        return [*rows, self._others(seconds)]

    def _others(self, seconds: float) -> dict[str, Any]:
        """What the machine spent on neither the roles nor this process."""
        busy_s, ours = cpu_time().busy_s, {os.getpid(): time.process_time()}
        for totals in self._last.values():
            # A process of two roles counts once.
            ours |= totals.cpu_s
        ours_s = sum(used - self._ours.get(pid, 0.0) for pid, used in ours.items())
        others_s = busy_s - self._busy_s - ours_s
        self._busy_s, self._ours = busy_s, ours
        return {
            "time_us": time.time_ns() // 1_000,
            "role": OTHERS,
            "cpu_percent": 100 * max(0.0, others_s) / seconds,
        }

    def _row(self, name: str, seconds: float, connections: Connections | None) -> dict[str, Any]:
        role, last, total = self._roles[name], self._last[name], _Totals()
        memory = 0
        processes = _trees(role.pids())
        for process in processes:
            # Some systems have no I/O counters.
            with suppress(psutil.Error, AttributeError), process.oneshot():
                times = process.cpu_times()
                total.cpu_s[process.pid] = times.user + times.system
                memory += process.memory_info().rss
                total.written[process.pid] = process.io_counters().write_bytes
        cpu_s = sum(used - last.cpu_s.get(pid, 0.0) for pid, used in total.cpu_s.items())
        written = sum(count - last.written.get(pid, 0) for pid, count in total.written.items())
        exchanged: int | None = None
        if role.network_bytes is not None:
            total.network = role.network_bytes()
            exchanged = max(0, total.network - last.network)
        elif connections is not None:
            exchanged = self._traffic[name].grown([p.pid for p in processes], connections)
        self._last[name] = total
        return {
            "time_us": time.time_ns() // 1_000,
            "role": name,
            "cpu_percent": 100 * max(0.0, cpu_s) / seconds,
            "memory_mb": memory / _MB,
            "disk_mb_per_s": max(0, written) / _MB / seconds,
            "network_mb_per_s": None if exchanged is None else exchanged / _MB / seconds,
        }


def _trees(pids: Sequence[int]) -> list[psutil.Process]:
    """The processes and their descendants."""
    found: list[psutil.Process] = []
    for pid in pids:
        with suppress(psutil.Error):
            root = psutil.Process(pid)
            found += [root, *root.children(recursive=True)]
    return found


def resource_series(samples: pa.Table | None, start_us: int) -> Resources:
    """The samples as they are drawn; times are seconds since the load began."""
    if samples is None:
        return Resources()
    by_role: dict[str, list[dict[str, Any]]] = {}
    for row in samples.to_pylist():
        by_role.setdefault(row["role"], []).append(row)
    times_us = [row["time_us"] for row in next(iter(by_role.values()))]

    def column(rows: list[dict[str, Any]], name: str, digits: int) -> list[float]:
        """Empty if a value is missing: the others would be at the wrong times."""
        values = [row[name] for row in rows]
        return [] if None in values else [round(value, digits) for value in values]

    return Resources(
        time_s=[round((time_us - start_us) / 1e6, 3) for time_us in times_us],
        roles={
            name: ResourceSeries(
                cpu_percent=column(rows, "cpu_percent", 1),
                memory_mb=column(rows, "memory_mb", 1),
                disk_mb_per_s=column(rows, "disk_mb_per_s", 3),
                network_mb_per_s=column(rows, "network_mb_per_s", 3),
            )
            for name, rows in by_role.items()
        },
    )


def resource_summary(series: Resources, load_s: float) -> dict[str, ResourceSummary]:
    """Means, maxima and totals over the time of the load."""
    during = [i for i, t in enumerate(series.time_s) if i > 0 and 0 <= t <= load_s]
    if not during:
        return {}
    times = series.time_s

    def total(per_s: Sequence[float]) -> float | None:
        if not per_s:
            return None
        return round(sum(per_s[i] * (times[i] - times[i - 1]) for i in during), 1)

    return {
        name: ResourceSummary(
            cpu_percent_mean=round(sum(role.cpu_percent[i] for i in during) / len(during), 1),
            memory_mb_max=max(role.memory_mb[i] for i in during) if role.memory_mb else None,
            disk_mb_written=total(role.disk_mb_per_s),
            network_mb=total(role.network_mb_per_s),
        )
        for name, role in series.roles.items()
    }
