from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
import pyarrow as pa
import pytest

from streamgauge.measure import monitor
from streamgauge.measure.monitor import (
    SCHEMA,
    Monitor,
    Role,
    resource_series,
    resource_summary,
)
from streamgauge.measure.sockets import Connections, open_connections
from streamgauge.parts import read_parts
from streamgauge.processes.machine import CpuTime
from tests.measure.test_sockets import PAYLOAD, Peers

LONGEST_WAIT_S = 60.0


class Samples:
    """Counts the samples of a monitor, as the last of its roles."""

    def __init__(self) -> None:
        self._count = 0
        self._changed = threading.Condition()
        self.role = Role(self._pids, lambda: 0)

    def wait_for_more(self, count: int) -> None:
        """A sample that had begun before may be among them."""
        with self._changed:
            wanted = self._count + count
            assert self._changed.wait_for(lambda: self._count >= wanted, LONGEST_WAIT_S)

    def _pids(self) -> Sequence[int]:
        with self._changed:
            self._count += 1
            self._changed.notify_all()
        return []


def watched(
    peers: Peers,
    folder: Path,
    roles: dict[str, Role],
    connections: Callable[[], Connections | None] = open_connections,
) -> pa.Table:
    """The samples of a monitor while the peers exchanged the payload."""
    counter = Samples()
    watching = Monitor({**roles, "counter": counter.role}, folder, connections)
    watching.start()
    counter.wait_for_more(2)
    peers.exchange(PAYLOAD)
    counter.wait_for_more(2)
    cost = watching.stop()
    assert cost.samples >= 2
    samples = read_parts(folder)
    assert samples is not None
    return samples


def node(*pids: int) -> Role:
    return Role(lambda: pids, None)


def network_mb(samples: pa.Table) -> dict[str, float | None]:
    series = resource_series(samples, start_us=samples["time_us"][0].as_py())
    found = resource_summary(series, LONGEST_WAIT_S)
    return {name: role.network_mb for name, role in found.items() if name != "others"}


@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel of Linux")
def test_the_network_of_a_node_is_what_it_exchanges_with_others(tmp_path: Path) -> None:
    with Peers() as peers:
        roles = {
            "counts itself": Role(lambda: [peers.client], lambda: 0),
            "sender": node(peers.client),
            "receiver": node(peers.server),
            "both": node(peers.client, peers.server),
            "no process": node(),
        }
        found = network_mb(watched(peers, tmp_path, roles))

    # Seconds between two samples are not known exactly: bytes per second become bytes again.
    sent = pytest.approx(PAYLOAD / 1e6, rel=0.25)
    assert found == {
        "counts itself": 0,
        "sender": sent,
        "receiver": sent,
        "both": 0,
        "no process": 0,
        "counter": 0,
    }


def test_without_counts_of_the_kernel_only_roles_that_count_have_a_network_figure(
    tmp_path: Path,
) -> None:
    counted = iter(range(0, 1_000_000_000, 1_000_000))
    with Peers() as peers:
        roles = {
            "counts itself": Role(lambda: [peers.client], lambda: next(counted)),
            "node": node(peers.server),
        }
        samples = watched(peers, tmp_path, roles, connections=lambda: None)

    rows = [row for row in samples.to_pylist() if row["role"] == "node"]
    assert {row["network_mb_per_s"] for row in rows} == {None}
    found = network_mb(samples)
    assert found["node"] is None
    assert found["counts itself"]


def test_the_kernel_is_not_queried_for_roles_that_count(tmp_path: Path) -> None:
    asked = []

    def connections() -> None:
        asked.append(1)

    with Peers() as peers:
        watched(peers, tmp_path, {"driver": Role(lambda: [peers.client], lambda: 0)}, connections)
    assert asked == []


def test_a_network_figure_with_a_gap_is_unknown() -> None:
    rows = [
        {
            "time_us": second * 1_000_000,
            "role": role,
            "cpu_percent": 1.0,
            "memory_mb": 1.0,
            "disk_mb_per_s": 0.0,
            "network_mb_per_s": None if (role, second) == ("worker 1", 2) else 3.0,
        }
        for second in range(4)
        for role in ("system", "worker 1")
    ]
    series = resource_series(pa.Table.from_pylist(rows, schema=SCHEMA), start_us=0)
    assert series.roles["worker 1"].network_mb_per_s == []
    found = resource_summary(series, load_s=10)
    assert (found["system"].network_mb, found["worker 1"].network_mb) == (9.0, None)


def test_cpu_that_is_neither_of_a_role_nor_ours_is_that_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = psutil.Popen([sys.executable, "-c", "while True: pass"])

    def used_s() -> float:
        times = child.cpu_times()
        return float(times.user + times.system)

    def paused_after(seconds: float) -> None:
        child.resume()
        wanted_s = used_s() + seconds
        while used_s() < wanted_s:
            time.sleep(0.01)
        child.suspend()

    elsewhere_s = 5.0

    def machine() -> CpuTime:
        return CpuTime(used_s() + time.process_time() + elsewhere_s, stolen_s=0.0)

    monkeypatch.setattr(monitor, "cpu_time", machine)
    # The child has two roles and counts once.
    roles = {name: Role(lambda: [child.pid], lambda: 0) for name in ("system", "worker")}
    try:
        paused_after(0.1)
        samples = Monitor(roles, tmp_path)
        samples._sample(1.0)
        elsewhere_s += 2.0
        paused_after(0.5)
        *_, others = samples._sample(1.0)
    finally:
        child.kill()
        child.wait()
    assert others["role"] == "others"
    assert others["cpu_percent"] == pytest.approx(200, abs=15)
