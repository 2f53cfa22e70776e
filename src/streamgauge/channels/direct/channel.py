"""The direct channel: the system pulls from the driver's own queues over Arrow Flight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from streamgauge.channels.base import Channel, ChannelContext, OpenChannel
from streamgauge.channels.direct.processes import InstanceProcessConfig, SinkProcessConfig
from streamgauge.channels.direct.security import Endpoint, Listen
from streamgauge.driver.config import InstanceConfig
from streamgauge.driver.instance import InstanceStatus
from streamgauge.driver.observations import Observation
from streamgauge.driver.sink import SinkStatus
from streamgauge.models import StrictModel
from streamgauge.processes.component import Component
from streamgauge.processes.roles import Role
from streamgauge.processes.targets import Nature, Target

PROCESSES = "streamgauge.channels.direct.processes"
FINISH_TIMEOUT_S = 60.0
SOURCE_CONNECTION, SINK_CONNECTION = "source connection", "sink connection"


class DirectOffer(StrictModel):
    """Where the system pulls events from and puts results."""

    queues: dict[int, Endpoint]
    """By driver instance."""
    sink: Endpoint
    by_name: bool = False
    """Whether a delivery has a name, by which the sink knows one that comes again."""


class DirectChannel(Channel):
    """Arrow Flight between the system and the driver's own queues, without a broker."""

    secrets: ClassVar[frozenset[str]] = frozenset({"token"})

    listen: str = Field(default="127.0.0.1", description="address; beyond loopback TLS is required")
    certificate: Path | None = Field(default=None, description="PEM file, with private_key")
    private_key: Path | None = None
    token: str | None = Field(default=None, description="default: a random one")
    sink: Literal["plain", "idempotent"] = Field(
        default="plain",
        description="idempotent: a batch of results that is delivered again after a fault counts "
        "once",
    )

    @property
    def delivers_once(self) -> bool:
        return self.sink == "idempotent"

    def resolved(self, base: Path) -> DirectChannel:
        files = {"certificate": self.certificate, "private_key": self.private_key}
        found = self.model_copy(update={key: base / path for key, path in files.items() if path})
        found._listen()
        return found

    def _listen(self) -> Listen:
        return Listen.checked(self.listen, self.certificate, self.private_key, self.token)

    @property
    def targets(self) -> dict[str, Target]:
        return dict.fromkeys((SOURCE_CONNECTION, SINK_CONNECTION), Target(Nature.CONNECTION))

    def open(self, context: ChannelContext) -> OpenChannel:
        channel = _OpenDirect(context, self._listen(), by_name=self.delivers_once)
        try:
            channel.wait_until_ready(context.timeout_s)
        except BaseException:
            channel.close()
            raise
        return channel


class _OpenDirect(OpenChannel):
    def __init__(self, context: ChannelContext, listen: Listen, *, by_name: bool) -> None:
        self._by_name = by_name
        self._count_before = context.load.count_before
        self._sink: Component = context.start(
            "sink", PROCESSES, SinkProcessConfig(folder=context.results, listen=listen), "sink"
        )
        self._instances: list[Component] = []
        for number, most_queued in enumerate(context.most_queued):
            instance = InstanceConfig(
                load=context.load.config,
                instance=number,
                most_queued=most_queued,
                folder=context.folder(number),
            )
            config = InstanceProcessConfig(instance=instance, listen=listen)
            name = f"driver instance {number}"
            self._instances.append(context.start(name, PROCESSES, config, "instance"))
        self._offer: dict[str, Any] = {}
        self._new: list[InstanceStatus] = []
        self._observed_us = 0
        self._drops_known: dict[int, int] = {}

    def wait_until_ready(self, timeout_s: float) -> None:
        def endpoint(component: Component) -> Endpoint:
            return Endpoint.model_validate(component.wait_for("ready", timeout_s)["endpoint"])

        queues = {number: endpoint(one) for number, one in enumerate(self._instances)}
        sink = endpoint(self._sink)
        offer = DirectOffer(queues=queues, sink=sink, by_name=self._by_name)
        self._offer = offer.model_dump(mode="json")

    @property
    def offer(self) -> dict[str, Any]:
        return self._offer

    def start(self, start_us: int) -> None:
        for instance in self._instances:
            instance.send("start", start_us=start_us)

    def cut(self, end_us: int) -> None:
        for instance in self._instances:
            instance.send("cut", end_us=end_us)

    def poll(self) -> list[str]:
        dropped: list[str] = []
        for instance in self._instances:
            for message in instance.poll():
                if message["event"] == "status":
                    status = InstanceStatus.model_validate(message)
                    known = self._drops_known.get(status.instance, 0)
                    self._drops_known[status.instance] = len(status.dropped)
                    dropped += status.dropped[known:]
                    self._new.append(status)
        self._sink.poll()
        self._require_sound()
        return dropped

    def observations(self) -> list[Observation]:
        seen = [status.observation for status in self._new]
        self._new.clear()
        return seen

    def overall(self) -> Observation | None:
        statuses = self.statuses
        oldest_us = min((status.time_us for status in statuses), default=0)
        if len(statuses) < len(self._instances) or oldest_us <= self._observed_us:
            return None
        seen = combined(statuses, self._count_before)
        self._observed_us = seen.time_us
        return seen

    @property
    def statuses(self) -> list[InstanceStatus]:
        found = [instance.latest.get("status") for instance in self._instances]
        return [InstanceStatus.model_validate(status) for status in found if status]

    @property
    def sink(self) -> SinkStatus:
        return SinkStatus.model_validate(self._sink.latest.get("status") or {"results": 0})

    def finish(self) -> list[InstanceStatus]:
        components = (*self._instances, self._sink)
        for component in components:
            component.send("finish")
        *finished, _ = [one.wait_for("finished", FINISH_TIMEOUT_S) for one in components]
        self._require_sound()
        return [InstanceStatus.model_validate(message) for message in finished]

    def close(self) -> None:
        for component in (*self._instances, self._sink):
            component.stop()

    def cut_connection(self, target: str, for_s: float) -> None:
        for component in [self._sink] if target == SINK_CONNECTION else self._instances:
            component.send("cut_off", for_s=for_s)

    def roles(self) -> dict[str, Role]:
        def handed() -> int:
            return sum(status.bytes_handed for status in self.statuses)

        def arrived() -> int:
            return self.sink.bytes_arrived

        return {
            "driver": Role(lambda: [instance.pid for instance in self._instances], handed),
            "system": Role(lambda: [], lambda: handed() + arrived()),
            "sink": Role(lambda: [self._sink.pid], arrived),
        }

    def _require_sound(self) -> None:
        """The failure of a thread does not end its process."""
        for component in (*self._instances, self._sink):
            component.require_sound()


def combined(statuses: Sequence[InstanceStatus], count_before: Callable[[int], int]) -> Observation:
    """All driver instances together; `count_before` is that of the whole load.

    A system pulls all instances of a stream up to one time of the schedule, one after the other
    when it has fewer cores; the first of them shows the pull. The streams of a join are pulled in
    one batch, so one of them is enough.
    """
    pulls = [status.pulled for status in statuses if status.stream == statuses[0].stream]
    pulled = max(pulls, key=lambda pull: (pull.until_us, -pull.at_us))
    return Observation(
        source="",
        time_us=max(status.time_us for status in statuses),
        offered=sum(status.offered for status in statuses),
        taken=count_before(pulled.until_us),
        finished=count_before(pulled.from_us),
        taken_at_us=pulled.at_us,
    )
