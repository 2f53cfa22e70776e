"""The Kafka channel: driver instances send to topics, results are read from a topic."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from streamgauge.channels.base import Channel, ChannelContext, Encoding, OpenChannel
from streamgauge.channels.frontier import FrontierChannel
from streamgauge.channels.kafka.client import (
    Setting,
    delete_topics,
    existing_topics,
    make_topics,
    open_secrets,
)
from streamgauge.channels.kafka.collector import CollectorConfig
from streamgauge.channels.kafka.log import LogConfig, TopicLog, next_offsets
from streamgauge.channels.kafka.messages import Format
from streamgauge.channels.kafka.sender import SenderConfig
from streamgauge.channels.rows import RowsConfig
from streamgauge.driver.config import Clock, StreamConfig
from streamgauge.driver.instance import InstanceStatus
from streamgauge.driver.observations import Basis
from streamgauge.driver.sink import SinkStatus
from streamgauge.errors import ExperimentError
from streamgauge.events.sources import LINE, NUMBER
from streamgauge.models import StrictModel
from streamgauge.processes.component import Component
from streamgauge.processes.roles import Role
from streamgauge.processes.targets import Nature, Target
from streamgauge.units import DurationUs, WholeNumber

PROCESSES = "streamgauge.channels.kafka.processes"
SERVICE = "kafka"
ROWS = "streamgauge.channels.rows"
TIMEOUT_S = 90.0
LOG_TIMEOUT_S = 600.0
LEAST_READ_PER_S = 10_000
"""Messages of the log; after a long load it takes longer than the time-out."""
MOST_BUFFERED = 2_000_000
"""Messages with which a client waits for the broker, at most."""


class KafkaOffer(StrictModel):
    """What the system is told."""

    client: dict[str, Setting]
    """Settings of librdkafka, with references instead of secrets."""
    topics: dict[str, str]
    """By stream."""
    output: str
    output_begins: list[int]
    """By partition: the offset of the first result of this load."""
    format: Format
    partitions: int
    rehearsal: dict[str, str]
    """By stream: a topic for made-up events before the run."""
    rehearsal_output: str


class KafkaChannel(Channel):
    """Topics of a Kafka broker; one is started for the run unless `brokers` names others."""

    basis: ClassVar[Basis] = Basis.FRONTIER
    encoding: ClassVar[Encoding] = "text"
    in_step: ClassVar[bool] = False
    clocks: ClassVar[tuple[Clock, ...]] = ("schedule", "broker")

    brokers: str | None = Field(default=None, description="HOST:PORT,…; default: one is started")
    client: dict[str, Setting] = Field(
        default={}, description="any setting of librdkafka, such as TLS and SASL"
    )
    topics: dict[str, str] = Field(
        default={}, description="by stream; default: new ones, which are deleted after the run"
    )
    output: str | None = Field(default=None, description="topic of the results; default: a new one")
    partitions: WholeNumber = Field(default=2, ge=1, le=1_000, description="of a new topic")
    replication: WholeNumber = Field(default=1, ge=1, le=100, description="of a new topic")
    timestamps: Literal["CreateTime", "LogAppendTime"] = "CreateTime"
    format: Format = Field(default="json", description="of the events: json, csv or lines")
    key: str | None = Field(
        default=None, description="column that is the key of a message; default: no keys"
    )
    acks: Literal["0", "1", "all"] = Field(default="all", description="of the senders")
    linger: DurationUs = Field(default=5_000, description="how long a sender waits for a batch")
    batch: WholeNumber = Field(default=262_144, ge=1, description="bytes of a batch, at most")
    buffer: WholeNumber = Field(
        default=1_073_741_824, ge=1_048_576, description="bytes that a sender may have to send"
    )
    compression: Literal["none", "gzip", "snappy", "lz4", "zstd"] = "none"

    def resolved(self, base: Path) -> KafkaChannel:  # noqa: ARG002
        for key in open_secrets(self.client):
            raise ExperimentError(
                f"channel.client.{key}",
                "is a secret, which would be stored with the run",
                fix=f"refer to it: `{key}: ${{env:NAME}}` or `{key}: ${{file:PATH}}`",
            )
        return self

    def check_streams(self, streams: Mapping[str, StreamConfig]) -> None:
        super().check_streams(streams)
        for name, stream in streams.items():
            if stream.clock == "broker" and self.timestamps != "LogAppendTime":
                problem = f"must be LogAppendTime: it is the event time of the stream `{name}`"
                raise ExperimentError("channel.timestamps", problem, fix="set it")
            if self.format == "lines" and not {NUMBER, LINE} <= set(stream.source.schema.names):
                problem = f"`lines` is for events with `{NUMBER}` and `{LINE}`; `{name}` has others"
                raise ExperimentError("channel.format", problem, fix="use json or csv")

    @property
    def targets(self) -> dict[str, Target]:
        given = "" if self.brokers is None else "the brokers of `channel.brokers` are not ours"
        return {"broker": Target(Nature.SERVICE, given)}

    def open(self, context: ChannelContext) -> OpenChannel:
        brokers = self.brokers or context.service(SERVICE)
        channel = _OpenKafka(self, brokers, context)
        try:
            channel.wait_until_ready(context.timeout_s)
        except BaseException:
            channel.close()
            raise
        return channel


class _OpenKafka(FrontierChannel):
    def __init__(self, settings: KafkaChannel, brokers: str, context: ChannelContext) -> None:
        super().__init__(context)
        client = {"bootstrap.servers": brokers, **settings.client}
        name = f"streamgauge-{secrets.token_hex(4)}"
        topics = {one: settings.topics.get(one, f"{name}-{one}") for one in context.load.streams}
        output = settings.output or f"{name}-results"
        self._client = client
        self._check_services = context.check_services
        self._components: list[Component] = []
        rehearsal = {one: f"{name}-rehearsal-{one}" for one in topics}
        warm_up = f"{name}-warm-up"
        partitions = self._have_topics(
            [*topics.values(), output, *rehearsal.values(), f"{name}-rehearsal-results", warm_up],
            settings,
        )
        self._offer = KafkaOffer(
            client=client,
            topics=topics,
            output=output,
            output_begins=self._log_of(output, partitions[output]).begins,
            format=settings.format,
            partitions=settings.partitions,
            rehearsal=rehearsal,
            rehearsal_output=f"{name}-rehearsal-results",
        )
        self._collector: Component | None = None
        if not context.results_are_the_log:
            self._collector = self._started_sink(context, partitions[output])
        logs = {one: topics[one] for one in context.load.config.in_broker_time}
        self._log = LogConfig(
            streams={one: self._log_of(topic, partitions[topic]) for one, topic in logs.items()},
            folder=context.log,
            client=client,
        )
        self._context = context
        producing = {
            "acks": settings.acks,
            "linger.ms": settings.linger / 1_000,
            "batch.size": settings.batch,
            "batch.num.messages": 1_000_000,
            "compression.type": settings.compression,
            "queue.buffering.max.messages": MOST_BUFFERED,
            "queue.buffering.max.kbytes": settings.buffer // 1_024,
        }
        if context.disturbed and settings.acks == "all":
            # The broker knows a message that is sent again because its answer was lost.
            producing["enable.idempotence"] = True
        self._senders: list[Component] = []
        for number, feed in enumerate(self.load.feeds):
            topic = topics[feed.stream]
            sender = SenderConfig(
                load=context.load.config,
                instance=number,
                topic=topic,
                partitions=partitions[topic],
                format=settings.format,
                key=settings.key,
                warm_up=warm_up if self._fresh else None,
                client={**producing, **client},
                ends_on_time=context.results_are_the_log,
            )
            started = self._started(context, f"driver instance {number}", sender, "instance")
            self._senders.append(started)

    def _started_sink(self, context: ChannelContext, partitions: int) -> Component:
        if context.rows is not None:
            rows = RowsConfig(query=context.rows, folder=context.results)
            component: Component = context.start("sink", ROWS, rows)
            self._components.append(component)
            return component
        collector = CollectorConfig(
            topic=self._offer.output,
            partitions=partitions,
            folder=context.results,
            input_time=context.shape.input_time,
            in_key=context.shape.text is not None,
            client=self._client,
        )
        return self._started(context, "sink", collector, "sink")

    def _started(
        self, context: ChannelContext, name: str, config: StrictModel, role: str
    ) -> Component:
        component: Component = context.start(name, PROCESSES, config, role)
        self._components.append(component)
        return component

    def _have_topics(self, names: list[str], settings: KafkaChannel) -> dict[str, int]:
        """Makes those that the broker does not have; the partitions of each."""
        there = existing_topics(self._client)
        self._fresh = not there
        self._new = [name for name in names if name not in there]
        if self._new:
            config = {"message.timestamp.type": settings.timestamps}
            make_topics(self._client, self._new, settings.partitions, settings.replication, config)
        return {name: there.get(name, settings.partitions) for name in names}

    def _log_of(self, topic: str, partitions: int) -> TopicLog:
        """From what the topic has already; a new one has nothing, and may not answer yet."""
        new = topic in self._new
        begins = [0] * partitions if new else next_offsets(self._client, topic, partitions)
        return TopicLog(topic=topic, begins=begins)

    def wait_until_ready(self, timeout_s: float) -> None:
        for component in self._components:
            component.wait_for("ready", timeout_s, self._check_services)

    @property
    def offer(self) -> dict[str, Any]:
        return self._offer.model_dump(mode="json")

    def start(self, start_us: int) -> None:
        super().start(start_us)
        for sender in self._senders:
            sender.send("start", start_us=start_us)

    def cut(self, end_us: int) -> None:
        super().cut(end_us)
        for sender in self._senders:
            sender.send("cut", end_us=end_us)

    def poll(self) -> list[str]:
        for number, sender in enumerate(self._senders):
            for message in sender.poll():
                if message["event"] == "sent":
                    self._count(number, message)
        if self._collector is not None:
            self._collector.poll()
        for component in self._components:
            component.require_sound()
        return []

    def _count(self, number: int, message: dict[str, Any]) -> None:
        self.sent(number, message["count"], message["lag_us"], message["unsent"])

    @property
    def sink(self) -> SinkStatus:
        if self._collector is None:
            # What the broker has acknowledged is there.
            return SinkStatus(results=sum(self._sent), last_arrival_us=self.start_us + self.now_us)
        return SinkStatus.model_validate(self._collector.latest.get("status") or {"results": 0})

    def flush(self) -> None:
        for number, sender in enumerate(self._senders):
            sender.send("finish")
            sender.wait_for("finished", TIMEOUT_S, self._check_services)
            self._count(number, sender.latest["sent"])

    def settle(self) -> None:
        self._ask_sink("settle", "settled")

    def finish(self) -> list[InstanceStatus]:
        self.flush()
        self._ask_sink("finish", "finished")
        if self._log.streams:
            reader = self._started(self._context, "log", self._whole_log(), "log")
            patience_s = max(LOG_TIMEOUT_S, sum(self._sent) / LEAST_READ_PER_S)
            reader.wait_for("finished", patience_s, self._check_services)
        return super().finish()

    def _whole_log(self) -> LogConfig:
        """With the number of messages that were sent."""
        streams = {
            stream: log.model_copy(
                update={"sent": sum(self._sent[n] for n in self.load.instances_of(stream))}
            )
            for stream, log in self._log.streams.items()
        }
        return self._log.model_copy(update={"streams": streams})

    def _ask_sink(self, command: str, answer: str) -> None:
        if self._collector is not None:
            self._collector.send(command)
            self._collector.wait_for(answer, TIMEOUT_S, self._check_services)

    def close(self) -> None:
        for component in self._components:
            component.stop()
        with contextlib.suppress(Exception):
            delete_topics(self._client, self._new)

    def roles(self) -> dict[str, Role]:
        return {
            "driver": Role(lambda: [sender.pid for sender in self._senders]),
            "system": Role(lambda: []),
            "sink": Role(lambda: [self._collector.pid] if self._collector else []),
        }
