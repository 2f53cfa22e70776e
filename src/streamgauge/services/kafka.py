"""A Kafka broker on this machine: KRaft, one process that is broker and controller."""

from __future__ import annotations

import uuid
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import ClassVar

from streamgauge.compute.java import find_java
from streamgauge.errors import ComponentError
from streamgauge.processes.launcher import LaunchedProcess
from streamgauge.services.base import HOST, Service, free_ports
from streamgauge.services.jars import have_jars, jars_folder, locked, missing_jars

JARS = "kafka-broker"
_SETTINGS = "server.properties"
_STARTED = "Kafka Server started"
# The heap is for metadata only: messages are in the page cache of the kernel.
_JAVA_OPTIONS = ["-Xms512m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:-UsePerfData"]
_LOGGING = """\
rootLogger.level = info
rootLogger.appenderRef.stdout.ref = stdout
appender.console.type = Console
appender.console.name = stdout
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss.SSS} %p %c{1}: %m%n%ex
"""


class KafkaBroker(Service):
    """A Kafka broker; its jars are fetched at the first start, and kept for the next ones."""

    name: ClassVar[str] = "the Kafka broker"
    role: ClassVar[str] = "broker"
    _port = 0

    @property
    def address(self) -> str:
        """For `bootstrap.servers`."""
        return f"{HOST}:{self._port}"

    @classmethod
    def found(cls) -> str:
        try:
            import confluent_kafka
        except ImportError as error:
            raise ComponentError(str(error), fix="pip install confluent-kafka") from None
        folder, count = jars_folder(), len(locked(JARS))
        missing = len(missing_jars(JARS, folder))
        jars = f"{missing} of {count} jars are fetched at the first start" if missing else ""
        client = f"confluent-kafka {confluent_kafka.__version__}"
        return f"{jars or f'{count} jars in {folder}'}; {client}"

    def _launch(self) -> LaunchedProcess:
        jars = have_jars(JARS, self._launcher, self._tell, clock=self._clock)
        self._tell("starting the Kafka broker")
        logging = self.folder / "log4j2.properties"
        logging.write_text(_LOGGING)
        java = [
            str(find_java().home / "bin" / "java"),
            *_JAVA_OPTIONS,
            f"-Dlog4j2.configurationFile={logging.as_uri()}",
            f"-Djava.io.tmpdir={self.folder}",
            *("-cp", ":".join(map(str, jars))),
        ]
        properties = self.folder / _SETTINGS
        if not properties.exists():
            properties = self._properties()
            cluster = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
            # An id that begins with a dash would be taken for an option.
            named = f"--cluster-id={cluster}"
            self._run([*java, "kafka.tools.StorageTool", "format", named, "-c", str(properties)])
        command = [*java, "kafka.Kafka", str(properties)]
        return self._launcher.start(self.name, command, log=self.log)

    def _ready(self, process: LaunchedProcess) -> bool:
        return _STARTED in process.logged()

    def _properties(self) -> Path:
        self._port, controller = free_ports(2)
        settings = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@{HOST}:{controller}",
            "listeners": f"PLAINTEXT://{HOST}:{self._port},CONTROLLER://{HOST}:{controller}",
            "advertised.listeners": f"PLAINTEXT://{HOST}:{self._port}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs": self.folder / "data",
            "offsets.topic.replication.factor": 1,
            "offsets.topic.num.partitions": 1,
            "share.coordinator.state.topic.replication.factor": 1,
            "share.coordinator.state.topic.min.isr": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "auto.create.topics.enable": "false",
            # A consumer group with one member need not wait for others.
            "group.initial.rebalance.delay.ms": 0,
        }
        path = self.folder / _SETTINGS
        path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        return path
