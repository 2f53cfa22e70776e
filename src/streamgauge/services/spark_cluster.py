"""A standalone Spark cluster on this machine, from the pip package: a master and its workers.

All processes listen on 127.0.0.1 only, on ports that the operating system chooses, and write below
the scratch folder only. An executor is a child of its worker.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import psutil

from streamgauge.compute.java import find_java
from streamgauge.errors import ComponentError
from streamgauge.processes.clock import SYSTEM_CLOCK, Clock
from streamgauge.processes.launcher import LaunchedProcess, Launcher
from streamgauge.processes.places import EnvironmentChanges
from streamgauge.processes.roles import RoleProcess

HOST = "127.0.0.1"
START_TIMEOUT_S = 90.0
STOP_TIMEOUT_S = 5.0
_POLL_S = 0.1


class SparkCluster:
    """Master and workers; a context manager."""

    def __init__(
        self,
        *,
        workers: int,
        cores: int,
        memory: str,
        scratch: Path,
        logs: Path,
        launcher: Launcher,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        """`cores` and `memory` are what each worker offers to executors."""
        self._workers = workers
        self._cores = cores
        self._memory = memory
        self._scratch = scratch
        self._folder = scratch / "spark-cluster"
        self._home = self._folder / "home"
        self._logs = logs
        self._launcher = launcher
        self._clock = clock
        self._nodes: list[_Node] = []
        self._url = ""

    def __enter__(self) -> SparkCluster:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self, timeout_s: float = START_TIMEOUT_S) -> None:
        """Returns when every worker has registered; stops all processes when one does not."""
        try:
            self._start(self._clock.monotonic_s() + timeout_s)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends every process of the cluster, and keeps the logs of the executors."""
        # The master last: a worker that loses its master fills its log with complaints.
        for nodes in (self._nodes[1:], self._nodes[:1]):
            for node in nodes:
                node.process.terminate()
            self._wait_for_end(nodes, self._clock.monotonic_s() + STOP_TIMEOUT_S)
        deadline_s = self._clock.monotonic_s() + STOP_TIMEOUT_S
        while (left := list(_running_from(self._home))) and (
            self._clock.monotonic_s() < deadline_s
        ):
            for process in left:
                with contextlib.suppress(psutil.Error):
                    process.kill()
            self._clock.sleep(_POLL_S)
        self._wait_for_end(self._nodes, deadline_s)
        self._nodes = []
        self._url = ""
        with contextlib.suppress(OSError):
            self._keep_executor_logs()

    def check(self) -> None:
        """Fails when a process has died; the error names it and its log."""
        for node in self._nodes:
            if not node.process.alive:
                raise node.process.death()

    @property
    def url(self) -> str:
        assert self._url, "the cluster is not running"
        return self._url

    def processes(self) -> list[RoleProcess]:
        """Master and workers (`worker 1`, …) that run."""
        return [
            RoleProcess(node.role, node.name, node.process.pid, node.process.site)
            for node in self._nodes
            if node.process.alive
        ]

    def session_conf(self) -> dict[str, str]:
        """Settings of a session on this cluster: one executor per worker, with all of its cores."""
        return {
            # Some machines cannot resolve their own name.
            "spark.driver.host": HOST,
            "spark.driver.bindAddress": HOST,
            # A session waits forever for an executor that needs more than a worker has.
            "spark.executor.memory": self._memory,
            "spark.executor.cores": str(self._cores),
            # These two make the session wait for all executors instead of the first one.
            "spark.cores.max": str(self._workers * self._cores),
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.executor.extraJavaOptions": (
                f'"-Djava.io.tmpdir={self._folder / "tmp"}" -XX:-UsePerfData '
                "-XX:+ExitOnOutOfMemoryError"
            ),
        }

    def _start(self, deadline_s: float) -> None:
        self._make_home()
        common = self._common_env()
        master = self._launch("master", "master", "master.Master", [], common)
        self._wait_until_empty(lambda: [] if _ports(master.process) else [master], deadline_s)
        ports = _ports(master.process)
        assert ports is not None
        port, ui_port = ports
        url = f"spark://{HOST}:{port}"
        for number in range(1, self._workers + 1):
            own = self._folder / f"worker-{number}"
            size = ["--cores", str(self._cores), "--memory", self._memory]
            self._launch(
                "worker",
                f"worker {number}",
                "worker.Worker",
                [*size, "--work-dir", str(own / "applications"), url],
                {
                    **common,
                    # Executors use this instead of the session's spark.local.dir.
                    "SPARK_LOCAL_DIRS": str(own / "local"),
                    # The id shows on the master's page which of our processes has registered.
                    "SPARK_WORKER_OPTS": f"-Dspark.worker.idPattern=worker-{number}-%s-%s-%d",
                },
            )
        self._wait_until_empty(lambda: self._missing(ui_port), deadline_s)
        self._url = url

    def _launch(
        self, role: str, name: str, main: str, arguments: Sequence[str], env: EnvironmentChanges
    ) -> _Node:
        program = [str(self._home / "bin" / "spark-class"), f"org.apache.spark.deploy.{main}"]
        ports = ["--host", HOST, "--port", "0", "--webui-port", "0"]
        log = self._logs / f"spark-{name.replace(' ', '-')}.log"
        argv = [*program, *ports, *arguments]
        node = _Node(role, name, self._launcher.start(f"Spark's {name}", argv, log=log, env=env))
        self._nodes.append(node)
        return node

    def _wait_until_empty(self, missing: Callable[[], list[_Node]], deadline_s: float) -> None:
        while late := missing():
            self.check()
            if self._clock.monotonic_s() >= deadline_s:
                raise ComponentError(
                    "the Spark cluster did not start in time: still waiting for "
                    + ", ".join(node.name for node in late),
                    fix="see the log",
                    log=late[0].process.log,
                )
            self._clock.sleep(_POLL_S)

    def _wait_for_end(self, nodes: Sequence[_Node], deadline_s: float) -> None:
        for node in nodes:
            node.process.wait(deadline_s - self._clock.monotonic_s())

    def _missing(self, ui_port: int) -> list[_Node]:
        """The workers that have not registered with the master."""
        registered = _registered_workers(ui_port)
        return [
            node
            for number, node in enumerate(self._nodes[1:], start=1)
            if not any(worker.startswith(f"worker-{number}-") for worker in registered)
        ]

    def _make_home(self) -> None:
        """A SPARK_HOME of links, so that nothing is written into the installed package."""
        spec = find_spec("pyspark")
        if spec is None or not spec.submodule_search_locations:
            raise ComponentError("PySpark is not installed", fix="`pip install pyspark`")
        conf = self._home / "conf"
        for folder in (conf, self._folder / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)
        for name in ("bin", "jars", "python"):
            link = self._home / name
            if not link.is_symlink():
                link.symlink_to(Path(spec.submodule_search_locations[0]) / name)
        (conf / _DAEMON_LOGGING).write_text(_LOGGING.format(level="info"))
        # Executors read the file of this name; a log line per task would disturb the measurement.
        (conf / "log4j2.properties").write_text(_LOGGING.format(level="warn"))

    def _common_env(self) -> dict[str, str | None]:
        """Changes to the inherited environment; executors inherit them from their worker."""
        options = {
            "log4j2.configurationFile": (self._home / "conf" / _DAEMON_LOGGING).as_uri(),
            "java.io.tmpdir": str(self._folder / "tmp"),
            # By default the master opens this interface on a fixed port.
            "spark.master.rest.enabled": "false",
        }
        # The user's SPARK_ variables are for a cluster of the user's.
        removed = {name: None for name in os.environ if name.startswith("SPARK_")}
        return {
            **removed,
            **find_java().env(self._scratch),
            "SPARK_HOME": str(self._home),
            "SPARK_CONF_DIR": str(self._home / "conf"),
            # The web pages are bound to this address; `--host` has no effect on them.
            "SPARK_LOCAL_IP": HOST,
            "SPARK_DAEMON_MEMORY": "512m",
            "SPARK_DAEMON_JAVA_OPTS": " ".join(
                [f'"-D{name}={value}"' for name, value in options.items()] + [_LIGHT_JVM]
            ),
            "SPARK_LAUNCHER_OPTS": _LIGHT_JVM,
            "PYSPARK_PYTHON": sys.executable,
        }

    def _keep_executor_logs(self) -> None:
        """Copies them out of the scratch folder: only they tell why an executor died."""
        for path in sorted(self._folder.glob("worker-*/applications/*/*/stderr")):
            worker, executor = path.relative_to(self._folder).parts[0], path.parent.name
            said = path.read_bytes()
            if said:
                with (self._logs / f"spark-{worker}-executor-{executor}.log").open("ab") as log:
                    log.write(said)
            path.unlink()


@dataclass(frozen=True)
class _Node:
    role: str
    name: str
    process: LaunchedProcess


def _running_from(home: Path) -> Iterator[psutil.Process]:
    """The living processes of the cluster, with the children of a worker that was killed.

    All of them inherit the SPARK_HOME of this cluster, which no other process has.
    """
    for process in psutil.process_iter():
        try:
            own = process.environ().get("SPARK_HOME") == str(home)
            if own and process.status() != psutil.STATUS_ZOMBIE:
                yield process
        except psutil.Error:
            continue


def _ports(master: LaunchedProcess) -> tuple[int, int] | None:
    """The master's port and the port of its web page, once both are open."""
    said = master.said()
    port = re.search(r"Starting Spark master at spark://\S+:(\d+)", said)
    ui_port = re.search(r"Bound MasterWebUI to \S+, and started at http://\S+:(\d+)", said)
    return (int(port[1]), int(ui_port[1])) if port and ui_port else None


def _registered_workers(ui_port: int) -> list[str]:
    """The ids of the workers that the master lists as alive."""
    # Not with urllib, which would use a proxy.
    connection = http.client.HTTPConnection(HOST, ui_port, timeout=5)
    try:
        connection.request("GET", "/json/")
        state = json.loads(connection.getresponse().read())
    except (OSError, http.client.HTTPException, ValueError):
        return []
    finally:
        connection.close()
    return [worker["id"] for worker in state["workers"] if worker["state"] == "ALIVE"]


# A JVM with little work starts sooner when little is compiled.
_LIGHT_JVM = "-XX:-UsePerfData -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_DAEMON_LOGGING = "daemon-log4j2.properties"
_LOGGING = """\
rootLogger.level = {level}
rootLogger.appenderRef.stderr.ref = stderr
appender.console.type = Console
appender.console.name = stderr
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{{HH:mm:ss.SSS}} %p %c{{1}}: %m%n%ex
"""
