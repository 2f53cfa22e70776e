"""Watches CPU, memory, disk and network of driver, system and sink, from outside the system."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pyarrow as pa

from streamgauge.measure.sockets import Connections, Traffic, open_connections
from streamgauge.measure.summary import MonitorCost, Resources, ResourceSeries, ResourceSummary
from streamgauge.parts import PartWriter
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
class _Last:
    """What the processes of a role had used at the last look."""

    cpu_s: dict[int, float] = field(default_factory=dict)
    written: dict[int, int] = field(default_factory=dict)
    network: int = 0


class Monitor:
    """A thread of the runner; its own CPU time is counted and reported."""

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
        self._last = {name: _Last() for name in roles}
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
        looked_at = time.monotonic()
        connections = self._sockets()
        for name in self._roles:
            self._look(name, connections)
        while not self._stopping.wait(EVERY_S):
            now = time.monotonic()
            connections = self._sockets()
            rows = [self._row(name, now - looked_at, connections) for name in self._roles]
            looked_at = now
            self._samples += 1
            columns = [list(column) for column in zip(*rows, strict=True)]
            self._writer.append(pa.record_batch(columns, schema=SCHEMA))
            self._own_cpu_s = time.thread_time()

    def _sockets(self) -> Connections | None:
        """Asked for once per sample, and only when there is a role that needs them."""
        return self._connections() if self._traffic else None

    def _row(
        self, name: str, seconds: float, connections: Connections | None
    ) -> tuple[int, str, float, float, float, float | None]:
        cpu_s, memory, written, network = self._look(name, connections)
        return (
            time.time_ns() // 1_000,
            name,
            100 * cpu_s / seconds,
            memory / _MB,
            written / _MB / seconds,
            None if network is None else network / _MB / seconds,
        )

    def _look(
        self, name: str, connections: Connections | None
    ) -> tuple[float, int, int, int | None]:
        """CPU seconds and bytes written and exchanged since the last look, and memory now, of a
        process tree."""
        role, last = self._roles[name], self._last[name]
        cpu_s: dict[int, float] = {}
        written: dict[int, int] = {}
        memory = 0
        processes = _trees(role.pids())
        for process in processes:
            try:
                with process.oneshot():
                    times = process.cpu_times()
                    cpu_s[process.pid] = times.user + times.system
                    memory += process.memory_info().rss
                    written[process.pid] = process.io_counters().write_bytes
            except (psutil.Error, AttributeError):
                continue
        used = sum(cpu - last.cpu_s.get(pid, 0.0) for pid, cpu in cpu_s.items())
        wrote = sum(count - last.written.get(pid, 0) for pid, count in written.items())
        exchanged: int | None = None
        network = 0
        if role.network_bytes is not None:
            network = role.network_bytes()
            exchanged = max(0, network - last.network)
        elif connections is not None:
            pids = [process.pid for process in processes]
            exchanged = self._traffic[name].grown(pids, connections)
        self._last[name] = _Last(cpu_s, written, network)
        return max(0.0, used), memory, max(0, wrote), exchanged


def _trees(pids: Sequence[int]) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    for pid in pids:
        try:
            root = psutil.Process(pid)
            found += [root, *root.children(recursive=True)]
        except psutil.Error:
            continue
    return found


def resource_series(samples: pa.Table | None, start_us: int) -> Resources:
    """The samples as they are drawn; seconds since the load began."""
    if samples is None:
        return Resources()
    rows = samples.to_pylist()
    times = sorted({row["time_us"] for row in rows if row["role"] == rows[0]["role"]})
    roles: dict[str, ResourceSeries] = {}
    for name in dict.fromkeys(row["role"] for row in rows):
        own = [row for row in rows if row["role"] == name]
        network = [row["network_mb_per_s"] for row in own]
        roles[name] = ResourceSeries(
            cpu_percent=[round(row["cpu_percent"], 1) for row in own],
            memory_mb=[round(row["memory_mb"], 1) for row in own],
            disk_mb_per_s=[round(row["disk_mb_per_s"], 3) for row in own],
            # With a gap its values would stand beside the wrong times.
            network_mb_per_s=[] if None in network else [round(value, 3) for value in network],
        )
    return Resources(time_s=[round((t - start_us) / 1e6, 3) for t in times], roles=roles)


def resource_summary(series: Resources, load_s: float) -> dict[str, ResourceSummary]:
    """Means over the time of the load."""
    during = [i for i, t in enumerate(series.time_s) if i > 0 and 0 <= t <= load_s]
    if not during:
        return {}
    times = series.time_s

    def total(per_s: Sequence[float]) -> float:
        return round(sum(per_s[i] * (times[i] - times[i - 1]) for i in during), 1)

    return {
        name: ResourceSummary(
            cpu_percent_mean=round(sum(role.cpu_percent[i] for i in during) / len(during), 1),
            memory_mb_max=max(role.memory_mb[i] for i in during),
            disk_mb_written=total(role.disk_mb_per_s),
            network_mb=total(role.network_mb_per_s) if role.network_mb_per_s else None,
        )
        for name, role in series.roles.items()
    }
