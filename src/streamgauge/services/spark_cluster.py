"""A standalone Spark cluster on this machine, from the pip package: a master and its workers.

Everything listens on 127.0.0.1 only, on ports that the operating system chooses, and writes below
the scratch folder only. An executor is a child of its worker.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import psutil

from streamgauge.errors import ComponentError

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
        env: Mapping[str, str],
    ) -> None:
        """`cores` and `memory` are what each worker has to give to executors."""
        self._workers = workers
        self._cores = cores
        self._memory = memory
        self._scratch = scratch
        self._folder = scratch / "spark-cluster"
        self._home = self._folder / "home"
        self._logs = logs
        self._env = env
        self._nodes: list[_Node] = []
        self._url = ""

    def __enter__(self) -> SparkCluster:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self, timeout_s: float = START_TIMEOUT_S) -> None:
        """Returns when every worker has registered; leaves nothing running when one does not."""
        deadline = time.monotonic() + timeout_s
        try:
            self._start(deadline)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends every process of the cluster, and keeps what the executors have logged."""
        # The master last: a worker that loses it fills its log with complaints.
        for nodes in (self._nodes[1:], self._nodes[:1]):
            for node in nodes:
                node.ask_to_end()
            deadline = time.monotonic() + STOP_TIMEOUT_S
            for node in nodes:
                node.wait(deadline)
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while (left := list(_running_from(self._home))) and time.monotonic() < deadline:
            for process in left:
                with contextlib.suppress(psutil.Error):
                    process.kill()
            time.sleep(_POLL_S)
        for node in self._nodes:
            node.wait(deadline)
        self._nodes = []
        self._url = ""
        with contextlib.suppress(OSError):
            self._keep_executor_logs()

    def check(self) -> None:
        """Fails when a process has died, and names it and its log."""
        for node in self._nodes:
            if not node.alive:
                raise node.death()

    @property
    def url(self) -> str:
        assert self._url, "the cluster is not running"
        return self._url

    @property
    def pids(self) -> list[int]:
        """Of the master and the workers that live."""
        return list(self.pids_by_node().values())

    def pids_by_node(self) -> dict[str, int]:
        """`master`, `worker 1`, …, without those that have died."""
        return {node.name: node.pid for node in self._nodes if node.alive}

    def session_conf(self) -> dict[str, str]:
        """What a session on this cluster needs: one executor per worker, which fills it."""
        return {
            # A machine need not be able to resolve its own name.
            "spark.driver.host": HOST,
            "spark.driver.bindAddress": HOST,
            # An executor that asks for more than a worker has is waited for without end.
            "spark.executor.memory": self._memory,
            "spark.executor.cores": str(self._cores),
            # Together they make the session wait for all executors, not begin with the first.
            "spark.cores.max": str(self._workers * self._cores),
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.executor.extraJavaOptions": (
                f'"-Djava.io.tmpdir={self._folder / "tmp"}" -XX:-UsePerfData '
                "-XX:+ExitOnOutOfMemoryError"
            ),
        }

    def _start(self, deadline: float) -> None:
        self._make_home()
        common = self._common_env()
        master = self._launch("master", "master.Master", [], common)
        self._wait_until_empty(lambda: [] if _ports(master) else [master], deadline)
        ports = _ports(master)
        assert ports is not None
        port, ui_port = ports
        url = f"spark://{HOST}:{port}"
        for number in range(1, self._workers + 1):
            own = self._folder / f"worker-{number}"
            size = ["--cores", str(self._cores), "--memory", self._memory]
            self._launch(
                f"worker {number}",
                "worker.Worker",
                [*size, "--work-dir", str(own / "applications"), url],
                {
                    **common,
                    # Executors do not look at the session's spark.local.dir but at this.
                    "SPARK_LOCAL_DIRS": str(own / "local"),
                    # The id tells on the master's page which of our processes has registered.
                    "SPARK_WORKER_OPTS": f"-Dspark.worker.idPattern=worker-{number}-%s-%s-%d",
                },
            )
        self._wait_until_empty(lambda: self._missing(ui_port), deadline)
        self._url = url

    def _launch(
        self, name: str, main: str, arguments: Sequence[str], env: Mapping[str, str]
    ) -> _Node:
        program = [str(self._home / "bin" / "spark-class"), f"org.apache.spark.deploy.{main}"]
        ports = ["--host", HOST, "--port", "0", "--webui-port", "0"]
        log = self._logs / f"spark-{name.replace(' ', '-')}.log"
        node = _Node(name, [*program, *ports, *arguments], log, env)
        self._nodes.append(node)
        return node

    def _wait_until_empty(self, missing: Callable[[], list[_Node]], deadline: float) -> None:
        while late := missing():
            self.check()
            if time.monotonic() >= deadline:
                raise ComponentError(
                    "the Spark cluster did not start in time: still waiting for "
                    + ", ".join(node.name for node in late),
                    fix="look at the log",
                    log=late[0].log,
                )
            time.sleep(_POLL_S)

    def _missing(self, ui_port: int) -> list[_Node]:
        """The workers that the master does not know."""
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
        # This name is what an executor looks for; a line per task would disturb what is measured.
        (conf / "log4j2.properties").write_text(_LOGGING.format(level="warn"))

    def _common_env(self) -> dict[str, str]:
        """The whole environment; executors inherit it from their worker."""
        # Systems build on services: at the top, this import would go round in a circle.
        from streamgauge.compute.java import find_java

        options = {
            "log4j2.configurationFile": (self._home / "conf" / _DAEMON_LOGGING).as_uri(),
            "java.io.tmpdir": str(self._folder / "tmp"),
            # By default there is one, on a fixed port.
            "spark.master.rest.enabled": "false",
        }
        # Settings for a cluster of the user's are not meant for ours.
        users = {k: v for k, v in os.environ.items() if not k.startswith("SPARK_")}
        return {
            **users,
            **self._env,
            **find_java().env(self._scratch),
            "SPARK_HOME": str(self._home),
            "SPARK_CONF_DIR": str(self._home / "conf"),
            # The web pages too are bound to this address; `--host` does not concern them.
            "SPARK_LOCAL_IP": HOST,
            "SPARK_DAEMON_MEMORY": "512m",
            "SPARK_DAEMON_JAVA_OPTS": " ".join(
                [f'"-D{name}={value}"' for name, value in options.items()] + [_SHORT_OF_WORK]
            ),
            "SPARK_LAUNCHER_OPTS": _SHORT_OF_WORK,
            "PYSPARK_PYTHON": sys.executable,
        }

    def _keep_executor_logs(self) -> None:
        """The scratch folder goes away, and why an executor died is said only there."""
        for path in sorted(self._folder.glob("worker-*/applications/*/*/stderr")):
            worker, executor = path.relative_to(self._folder).parts[0], path.parent.name
            said = path.read_bytes()
            if said:
                with (self._logs / f"spark-{worker}-executor-{executor}.log").open("ab") as log:
                    log.write(said)
            path.unlink()


class _Node:
    """A process of the cluster. It is no Component: it knows no lines of ours, it only logs."""

    def __init__(self, name: str, argv: Sequence[str], log: Path, env: Mapping[str, str]) -> None:
        self.name = name
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as log_file:
            self._began_at = log_file.tell()
            self._process = subprocess.Popen(
                list(argv),
                stdin=subprocess.DEVNULL,
                stdout=log_file,
                stderr=subprocess.STDOUT,
                env=dict(env),
                # A terminal's Ctrl-C is for us, who stop everything in order.
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def said(self) -> str:
        """What it has logged since it was started."""
        with self.log.open("rb") as log_file:
            log_file.seek(self._began_at)
            return log_file.read().decode(errors="replace")

    def death(self) -> ComponentError:
        """The error for a process that ended by itself."""
        code = self._process.wait()
        reason = f"exit code {code}" if code >= 0 else f"killed by signal {-code}"
        explained = re.findall(r"(?:Exception|Error): (.+)", self.said())
        if code > 0 and explained:
            reason = explained[-1].strip()
        return ComponentError(
            f"Spark's {self.name} died: {reason}", fix="see its log", log=self.log
        )

    def ask_to_end(self) -> None:
        if self.alive:
            self._process.terminate()

    def wait(self, deadline: float) -> None:
        """Until it has ended, or up to the deadline."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, deadline - time.monotonic()))


def _running_from(home: Path) -> Iterator[psutil.Process]:
    """The living processes of the cluster, also the children of a worker that was killed.

    All descendants of its nodes inherit its SPARK_HOME, which nobody else has.
    """
    for process in psutil.process_iter():
        try:
            own = process.environ().get("SPARK_HOME") == str(home)
            if own and process.status() != psutil.STATUS_ZOMBIE:
                yield process
        except psutil.Error:
            continue


def _ports(master: _Node) -> tuple[int, int] | None:
    """The master's own port and that of its page, as soon as both are open."""
    said = master.said()
    port = re.search(r"Starting Spark master at spark://\S+:(\d+)", said)
    ui_port = re.search(r"Bound MasterWebUI to \S+, and started at http://\S+:(\d+)", said)
    return (int(port[1]), int(ui_port[1])) if port and ui_port else None


def _registered_workers(ui_port: int) -> list[str]:
    """The ids of the workers that the master counts on."""
    # Not through urllib, which would ask a proxy.
    connection = http.client.HTTPConnection(HOST, ui_port, timeout=5)
    try:
        connection.request("GET", "/json/")
        state = json.loads(connection.getresponse().read())
    except (OSError, http.client.HTTPException, ValueError):
        return []
    finally:
        connection.close()
    return [worker["id"] for worker in state["workers"] if worker["state"] == "ALIVE"]


# A JVM that does next to nothing starts sooner when little is compiled.
_SHORT_OF_WORK = "-XX:-UsePerfData -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
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
