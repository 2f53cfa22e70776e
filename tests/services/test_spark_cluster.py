"""The standalone cluster, with real masters, workers and executors."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import psutil
import pytest

from streamgauge.compute.java import find_java
from streamgauge.errors import ComponentError
from streamgauge.measure.sockets import Traffic, open_connections
from streamgauge.processes.clock import SYSTEM_CLOCK, Clock
from streamgauge.processes.guard import Guard, marked
from streamgauge.processes.launcher import Launcher
from streamgauge.processes.roles import RoleProcess
from streamgauge.services.spark_cluster import START_TIMEOUT_S, SparkCluster
from tests.clocks import ManualClock

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")

# A barrier stage starts all its tasks at once, so on two executors of one core each.
PROGRAM = """
import json, os, sys
from pathlib import Path
from streamgauge.compute.session import open_session

def where(_):
    import streamgauge
    yield os.getcwd(), sys.executable, os.environ["SPARK_LOCAL_DIRS"]

name, url, scratch, conf = sys.argv
spark = open_session("test", url, Path(scratch), json.loads(conf), short=True)
tasks = spark.sparkContext.parallelize(range(2), 2).barrier().mapPartitions(where).collect()
print(json.dumps(tasks), flush=True)
sys.stdin.read()
"""


def small_cluster(
    guard: Guard, logs: Path, *, memory: str = "1g", clock: Clock = SYSTEM_CLOCK
) -> SparkCluster:
    # The name of a temporary folder may contain a space.
    scratch = guard.scratch / "a folder"
    scratch.mkdir()
    return SparkCluster(
        workers=2,
        cores=1,
        memory=memory,
        scratch=scratch,
        logs=logs,
        launcher=Launcher(guard.env),
        clock=clock,
    )


def start_program(cluster: SparkCluster, guard: Guard) -> subprocess.Popen[str]:
    """Runs one job and then keeps its session, and with it the executors, until it is killed."""
    conf = cluster.session_conf()
    conf["spark.executor.extraJavaOptions"] += " -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    arguments = [cluster.url, str(guard.scratch), json.dumps(conf)]
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **find_java().env(guard.scratch), **guard.env},
    )


def pids_by_name(cluster: SparkCluster) -> dict[str, int]:
    return {process.name: process.pid for process in cluster.processes()}


def living(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Without zombies: a node does not always reap the shell that built its command line."""
    found = []
    for process in processes:
        with contextlib.suppress(psutil.Error):
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def members(cluster: SparkCluster) -> list[psutil.Process]:
    """Nodes, executors, and the executors' Python processes."""
    nodes = [psutil.Process(pid) for pid in pids_by_name(cluster).values()]
    return living([*nodes, *(child for node in nodes for child in node.children(recursive=True))])


def addresses(cluster: SparkCluster) -> set[str]:
    """At which the nodes listen."""
    pids = pids_by_name(cluster).values()
    connections = [c for pid in pids for c in psutil.Process(pid).net_connections()]
    return {c.laddr.ip.removeprefix("::ffff:") for c in connections if c.status == "LISTEN"}


def bytes_by_node(cluster: SparkCluster) -> dict[str, int]:
    """What each node, with its descendants, has exchanged with others."""
    connections = open_connections()
    assert connections is not None
    found = {}
    for name, pid in pids_by_name(cluster).items():
        pids = [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
        found[name] = Traffic().grown(pids, connections)
    return found


def test_a_job_runs_on_every_worker_and_nothing_is_left_even_of_a_killed_one(
    guard: Guard, tmp_path: Path
) -> None:
    cluster = small_cluster(guard, tmp_path)
    with cluster:
        assert [(node.role, node.name, node.site) for node in cluster.processes()] == [
            ("master", "master", "this machine"),
            ("worker", "worker 1", "this machine"),
            ("worker", "worker 2", "this machine"),
        ]
        assert (tmp_path / "spark-master.log").read_text().count("Registering worker") == 2
        assert addresses(cluster) == {"127.0.0.1"}
        program = start_program(cluster, guard)
        assert program.stdout is not None
        tasks = json.loads(program.stdout.readline())
        cluster.check()
        assert all(bytes_by_node(cluster).values())

        folders = [(Path(cwd).parents[2].name, Path(local).parents[2]) for cwd, _, local in tasks]
        root = guard.scratch / "a folder" / "spark-cluster"
        assert sorted(folders) == [
            (name, root / name / "local") for name in ("worker-1", "worker-2")
        ]
        assert {python for _, python, _ in tasks} == {sys.executable}

        started = members(cluster)
        assert len(started) >= 7
        assert set(started) <= set(marked(guard.mark))
        worker = pids_by_name(cluster)["worker 1"]
        # A running child ends with its worker; a paused one does not.
        left = living(psutil.Process(worker).children(recursive=True))
        for process in left:
            process.suspend()
        os.kill(worker, signal.SIGKILL)
        os.waitid(os.P_PID, worker, os.WEXITED | os.WNOWAIT)
        with pytest.raises(ComponentError, match="worker 1 died: killed by signal 9") as failure:
            cluster.check()
        assert failure.value.log == tmp_path / "spark-worker-1.log"
        assert list(pids_by_name(cluster)) == ["master", "worker 2"]
        assert living(left) == left

    assert living(started) == []
    program.kill()
    program.wait()
    # Spark may have replaced the executors that were lost.
    kept = {log.name.partition("-executor-")[0] for log in tmp_path.glob("*-executor-*.log")}
    assert kept == {"spark-worker-1", "spark-worker-2"}


def test_a_node_that_was_ended_is_started_again_where_it_was(guard: Guard, tmp_path: Path) -> None:
    with small_cluster(guard, tmp_path) as cluster:
        url, before = cluster.url, pids_by_name(cluster)
        for node in cluster.processes():
            if node.name == "worker 2":
                continue
            again = cluster.revived(node)
            assert again is not None
            again.end(at_once=True)
            assert node.name not in pids_by_name(cluster)
            again.revive()
        after = pids_by_name(cluster)
        assert {name for name in after if after[name] != before[name]} == {"master", "worker 1"}
        cluster.check()
        # Both workers, the new one and the one that has lost its master, are at the new master.
        cluster.wait_for_workers(START_TIMEOUT_S)
        assert cluster.url == url
        executor = RoleProcess("executor", "executor 0", before["worker 2"], "this machine")
        assert cluster.revived(executor) is None


def test_a_worker_that_cannot_start_is_named_with_its_reason(guard: Guard, tmp_path: Path) -> None:
    cluster = small_cluster(guard, tmp_path, memory="1k")
    with pytest.raises(ComponentError, match=r"worker [12] died: Memory is below 1MB") as failure:
        cluster.start()
    assert failure.value.fix
    assert failure.value.log is not None
    assert "Memory is below 1MB" in failure.value.log.read_text()
    assert failure.value.log.name in ("spark-worker-1.log", "spark-worker-2.log")
    assert list(marked(guard.mark)) == []


def test_a_cluster_that_starts_too_slowly_names_the_missing_process(
    guard: Guard, tmp_path: Path
) -> None:
    # On this clock the time-out passes before a JVM can start.
    clock = ManualClock()
    cluster = small_cluster(guard, tmp_path, clock=clock)
    with pytest.raises(ComponentError, match="still waiting for master") as failure:
        cluster.start()
    assert failure.value.log == tmp_path / "spark-master.log"
    assert clock.monotonic_s() >= START_TIMEOUT_S
    assert list(marked(guard.mark)) == []
