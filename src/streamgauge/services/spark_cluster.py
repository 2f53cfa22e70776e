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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import psutil

from streamgauge.compute.java import find_java
from streamgauge.compute.session import LIGHT_JVM, LOGGING
from streamgauge.errors import ComponentError
from streamgauge.processes.clock import SYSTEM_CLOCK, Clock
from streamgauge.processes.guard import lives, marked
from streamgauge.processes.launcher import LaunchedProcess, Launcher
from streamgauge.processes.places import EnvironmentChanges
from streamgauge.processes.roles import RoleProcess
from streamgauge.processes.targets import Revived

HOST = "127.0.0.1"
START_TIMEOUT_S = 90.0
STOP_TIMEOUT_S = 5.0
_POLL_S = 0.1
_DAEMON_LOGGING = "daemon-log4j2.properties"
_DAEMON_JVM = f"-XX:-UsePerfData {LIGHT_JVM}"


@dataclass(kw_only=True)
class SparkCluster:
    """Master and workers; a context manager. Each worker offers cores and memory to executors."""

    workers: int
    cores: int
    memory: str
    scratch: Path
    logs: Path
    launcher: Launcher
    clock: Clock = SYSTEM_CLOCK
    _url: str = field(default="", init=False)
    _master_ports: tuple[int, int] | None = field(default=None, init=False)
    _nodes: dict[str, LaunchedProcess] = field(default_factory=dict, init=False)
    """By name: `master`, then `worker 1`, …"""
    _commands: dict[str, tuple[list[str], EnvironmentChanges]] = field(
        default_factory=dict, init=False
    )
    """By name, as it was started."""

    def __post_init__(self) -> None:
        self._folder = self.scratch / "spark-cluster"
        self._home = self._folder / "home"

    def __enter__(self) -> SparkCluster:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self, timeout_s: float = START_TIMEOUT_S) -> None:
        """Returns when all workers have registered; after a failure no process is left."""
        try:
            self._start(self.clock.monotonic_s() + timeout_s)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends all processes of the cluster and keeps the logs of the executors."""
        # The master last: a worker that loses its master fills its log with errors.
        processes = list(self._nodes.values())
        for group in (processes[1:], processes[:1]):
            for process in group:
                process.terminate()
            self._wait_for_end(group, self.clock.monotonic_s() + STOP_TIMEOUT_S)
        deadline_s = self.clock.monotonic_s() + STOP_TIMEOUT_S
        # The children of a worker that was killed: all inherit the SPARK_HOME of this cluster.
        left = set(marked(str(self._home), "SPARK_HOME"))
        while left and self.clock.monotonic_s() < deadline_s:
            for child in left:
                with contextlib.suppress(psutil.Error):
                    child.kill()
            self.clock.sleep(_POLL_S)
            # A process that is ending loses its environment first, so it is checked by itself.
            left = {*filter(lives, left), *marked(str(self._home), "SPARK_HOME")}
        self._wait_for_end(processes, deadline_s)
        self._nodes = {}
        self._url, self._master_ports = "", None
        with contextlib.suppress(OSError):
            self._keep_executor_logs()

    def wait_for_workers(self, timeout_s: float) -> None:
        """Returns when the master knows all workers."""
        assert self._master_ports is not None, "the master is not running"
        _, ui_port = self._master_ports
        deadline_s = self.clock.monotonic_s() + timeout_s
        self._wait_until_empty(lambda: self._missing(ui_port), deadline_s)

    def check(self) -> None:
        """Fails if a process has died; the error names it and its log."""
        for process in self._nodes.values():
            if not process.alive:
                raise process.death()

    @property
    def url(self) -> str:
        assert self._url, "the cluster is not running"
        return self._url

    def processes(self) -> list[RoleProcess]:
        """The master and the workers that run."""
        return [
            RoleProcess(name.partition(" ")[0], name, process.pid, process.site)
            for name, process in self._nodes.items()
            if process.alive
        ]

    def revived(self, process: RoleProcess) -> Revived | None:
        """A node of the cluster is started again under its name; an executor is Spark's affair."""
        return _Node(self, process.name) if process.name in self._nodes else None

    def session_conf(self) -> dict[str, str]:
        """Settings of a session with one executor per worker, with all of its cores."""
        return {
            # Some machines cannot resolve their own name.
            "spark.driver.host": HOST,
            "spark.driver.bindAddress": HOST,
            # A session waits forever for an executor that needs more than a worker has.
            "spark.executor.memory": self.memory,
            "spark.executor.cores": str(self.cores),
            # With these two the session waits for all executors instead of the first one.
            "spark.cores.max": str(self.workers * self.cores),
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.executor.extraJavaOptions": (
                f'"-Djava.io.tmpdir={self._folder / "tmp"}" -XX:-UsePerfData '
                "-XX:+ExitOnOutOfMemoryError"
            ),
        }

    def _start(self, deadline_s: float) -> None:
        self._make_home()
        common = self._common_env()
        master = self._launch("master", [], common)
        self._wait_until_empty(lambda: [] if _ports(master) else ["master"], deadline_s)
        ports = _ports(master)
        assert ports is not None
        self._master_ports = ports
        url = f"spark://{HOST}:{ports[0]}"
        for number in range(1, self.workers + 1):
            own = self._folder / f"worker-{number}"
            size = ["--cores", str(self.cores), "--memory", self.memory]
            self._launch(
                f"worker {number}",
                [*size, "--work-dir", str(own / "applications"), url],
                {
                    **common,
                    # Executors use this instead of the session's spark.local.dir.
                    "SPARK_LOCAL_DIRS": str(own / "local"),
                    # With this id `_missing` finds the worker on the master's page.
                    "SPARK_WORKER_OPTS": f"-Dspark.worker.idPattern=worker-{number}-%s-%s-%d",
                },
            )
        self._url = url
        self.wait_for_workers(deadline_s - self.clock.monotonic_s())

    def _launch(
        self, name: str, arguments: Sequence[str], env: EnvironmentChanges
    ) -> LaunchedProcess:
        role = name.partition(" ")[0]
        main = f"org.apache.spark.deploy.{role}.{role.capitalize()}"
        # A node that is started again must be found where it was.
        port, ui_port = (role == "master" and self._master_ports) or (0, 0)
        ports = ["--host", HOST, "--port", str(port), "--webui-port", str(ui_port)]
        argv = [str(self._home / "bin" / "spark-class"), main, *ports, *arguments]
        log = self.logs / f"spark-{name.replace(' ', '-')}.log"
        self._commands[name] = ([*arguments], env)
        self._nodes[name] = self.launcher.start(f"Spark's {name}", argv, log=log, env=env)
        return self._nodes[name]

    def _wait_until_empty(self, missing: Callable[[], list[str]], deadline_s: float) -> None:
        while names := missing():
            self.check()
            if self.clock.monotonic_s() >= deadline_s:
                raise ComponentError(
                    "the Spark cluster did not start in time: still waiting for "
                    + ", ".join(names),
                    fix="see the log",
                    log=self._nodes[names[0]].log,
                )
            self.clock.sleep(_POLL_S)

    def _wait_for_end(self, processes: Sequence[LaunchedProcess], deadline_s: float) -> None:
        for process in processes:
            process.wait(deadline_s - self.clock.monotonic_s())

    def _missing(self, ui_port: int) -> list[str]:
        """The workers that have not registered with the master."""
        ids = _registered_workers(ui_port)
        prefixes = {f"worker {n}": f"worker-{n}-" for n in range(1, self.workers + 1)}
        return [
            name
            for name, prefix in prefixes.items()
            if not any(worker.startswith(prefix) for worker in ids)
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
        (conf / _DAEMON_LOGGING).write_text(LOGGING.format(level="info"))
        # Executors read the file of this name; a log line per task would disturb the measurement.
        (conf / "log4j2.properties").write_text(LOGGING.format(level="warn"))

    def _common_env(self) -> dict[str, str | None]:
        """Changes to the inherited environment; executors inherit them from their worker."""
        options = {
            "log4j2.configurationFile": (self._home / "conf" / _DAEMON_LOGGING).as_uri(),
            "java.io.tmpdir": str(self._folder / "tmp"),
            # By default the master opens this interface on a fixed port.
            "spark.master.rest.enabled": "false",
        }
        # The user's SPARK_ variables are for another cluster.
        removed = {name: None for name in os.environ if name.startswith("SPARK_")}
        return {
            **removed,
            **find_java().env(self.scratch),
            "SPARK_HOME": str(self._home),
            "SPARK_CONF_DIR": str(self._home / "conf"),
            # The web pages are bound to this address; `--host` has no effect on them.
            "SPARK_LOCAL_IP": HOST,
            "SPARK_DAEMON_MEMORY": "512m",
            "SPARK_DAEMON_JAVA_OPTS": " ".join(
                [f'"-D{name}={value}"' for name, value in options.items()] + [_DAEMON_JVM]
            ),
            "SPARK_LAUNCHER_OPTS": _DAEMON_JVM,
            "PYSPARK_PYTHON": sys.executable,
        }

    def _keep_executor_logs(self) -> None:
        """Copies them out of the scratch folder: only they show why an executor died."""
        for path in sorted(self._folder.glob("worker-*/applications/*/*/stderr")):
            worker, executor = path.relative_to(self._folder).parts[0], path.parent.name
            if text := path.read_bytes():
                with (self.logs / f"spark-{worker}-executor-{executor}.log").open("ab") as log:
                    log.write(text)
            path.unlink()


@dataclass(frozen=True)
class _Node:
    """One node of a cluster, by name."""

    cluster: SparkCluster
    name: str

    def end(self, *, at_once: bool) -> None:
        """With its executors, as if its machine had failed."""
        process = self.cluster._nodes[self.name]
        children: list[psutil.Process] = []
        with contextlib.suppress(psutil.Error):
            children = psutil.Process(process.pid).children(recursive=True)
        if at_once:
            process.kill()
        else:
            process.terminate()
        for child in children if at_once else ():
            with contextlib.suppress(psutil.Error):
                child.kill()
        process.wait(STOP_TIMEOUT_S)

    def revive(self) -> None:
        arguments, env = self.cluster._commands[self.name]
        self.cluster._launch(self.name, arguments, env)


def _ports(master: LaunchedProcess) -> tuple[int, int] | None:
    """The master's port and the port of its web page, once both are open."""
    text = master.logged()
    port = re.search(r"Starting Spark master at spark://\S+:(\d+)", text)
    ui_port = re.search(r"Bound MasterWebUI to \S+, and started at http://\S+:(\d+)", text)
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
