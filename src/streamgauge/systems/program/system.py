"""The settings of a user's program as a system under test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import psutil
from pydantic import Field

from streamgauge.channels.base import Channel, Connector
from streamgauge.channels.kafka.channel import KafkaChannel
from streamgauge.errors import ExperimentError
from streamgauge.processes.targets import PROGRAM, Nature, Target
from streamgauge.queries.base import Query
from streamgauge.systems.base import YES, Capability, System, SystemContext, not_yet
from streamgauge.systems.program.command import check_command
from streamgauge.systems.program.connector import INPUT
from streamgauge.systems.program.running import RunningAlready, StartedProgram
from streamgauge.systems.running import RunningSystem
from streamgauge.units import SECOND_US, DurationUs, WholeNumber


class ProgramSystem(System):
    """A command of yours that reads topics and writes a topic, in any language."""

    kind: ClassVar[str] = "program"
    connectors: ClassVar[Mapping[str, Connector]] = {
        "kafka": Connector(
            "streamgauge.systems.program.connector:KafkaConnector",
            source="the program's own Kafka client",
            sink="the program's own Kafka client",
        )
    }
    powers: ClassVar[Mapping[str, Capability]] = {
        "kill": YES,
        "pause": YES,
        "restart": not_yet("it is not known when a restarted program reads again"),
        "scale": not_yet("it is started once"),
    }

    command: str | None = Field(
        description="with {brokers}, {input} or {input.STREAM}, {output} and {python}; null: it "
        "runs already"
    )
    folder: Path | None = Field(
        default=None, description="where the command runs; default: that of the experiment file"
    )
    ready: str | None = Field(
        default=None,
        min_length=1,
        description="text that it prints when it reads; default: a consumer group reads the input",
    )
    quiet: DurationUs = Field(
        default=5 * SECOND_US,
        description="it has processed everything if no result comes for so long",
    )
    pid: WholeNumber | None = Field(
        default=None, ge=1, description="of a program that runs already, to be watched"
    )

    @classmethod
    def can_run(cls, query: Query) -> Capability:
        missing = not_yet("there is no program for it; describe yours with streamgauge.results")
        return YES if cls.kind in query.kinds else missing

    def targets(self, connector: Connector) -> dict[str, Target]:  # noqa: ARG002
        unseen = "it runs already, and `system.pid` does not name it"
        return {PROGRAM: Target(Nature.PROCESS, "" if self.runs_here else unseen)}

    @property
    def runs_here(self) -> bool:
        return self.command is not None or self.pid is not None

    def resolved(self, base: Path, query: Query, channel: Channel) -> ProgramSystem:
        if self.command is None:
            assert isinstance(channel, KafkaChannel)
            self._check_running(query, channel)
            return self
        if self.pid is not None:
            raise ExperimentError(
                "system.pid", "is for a program that runs already", fix="leave it or `command` out"
            )
        folder = (base / (self.folder or "")).resolve()
        if not folder.is_dir():
            raise ExperimentError("system.folder", f"there is no folder {folder}", fix="correct it")
        streams = list(query.streams)
        inputs = [*([INPUT] if len(streams) == 1 else []), *(f"{INPUT}.{one}" for one in streams)]
        check_command(self.command, ["brokers", *inputs, "output"], folder)
        return self.model_copy(update={"folder": folder})

    def _check_running(self, query: Query, channel: KafkaChannel) -> None:
        """A program that runs already has its broker and its topics."""
        unnamed = {"channel.brokers": channel.brokers, "channel.output": channel.output} | {
            f"channel.topics.{stream}": channel.topics.get(stream) for stream in query.streams
        }
        for key, value in unnamed.items():
            if not value:
                raise ExperimentError(
                    key,
                    "is missing: the program runs already (`system.command: null`)",
                    fix="name the broker and the topics that it reads and writes",
                )
        if self.pid is not None and not psutil.pid_exists(self.pid):
            raise ExperimentError(
                "system.pid", f"there is no process {self.pid}", fix="start the program first"
            )

    def start(self, context: SystemContext) -> RunningSystem:
        quiet_s = self.quiet / SECOND_US
        if self.command is None:
            return RunningAlready(self.pid, quiet_s)
        folder = self.folder or Path.cwd()
        return StartedProgram(context, self.command, folder, self.ready, quiet_s)
