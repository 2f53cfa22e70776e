"""A channel: how events reach a system and how results come back.

A channel is a class with typed settings, registered under the entry point group
`streamgauge.channels`. Opened for a load it starts the driver's side, makes the offer for the
system, collects the results and yields observations. A connector is a system's end of a channel.
Connectors live with the system; a channel may bring one for a system that has none for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from streamgauge.driver.config import Clock, Load, StreamConfig
from streamgauge.driver.instance import InstanceStatus
from streamgauge.driver.observations import Basis, Observation
from streamgauge.driver.sink import SinkStatus
from streamgauge.errors import ExperimentError
from streamgauge.models import StrictModel
from streamgauge.processes.roles import Role
from streamgauge.processes.targets import Target
from streamgauge.queries.base import ResultShape
from streamgauge.queries.own import QueryConfig

Encoding = Literal["columns", "text"]
"""How the sink stores results: each value in a column of its own, or all as one text."""


class Connector(NamedTuple):
    """How one kind of system uses a channel."""

    path: str
    """`module:object`; what the object must be is defined by the system."""
    source: str
    """How events get into the system, for the report."""
    sink: str
    """How results get out of it."""
    jars: str = ""
    """The set of jars in the lock file that a system on the JVM needs for it."""
    targets: tuple[str, ...] = ()
    """Processes that the system has with this connector only, by role."""
    guarantee: str = ""
    """The delivery guarantee that the system claims after faults; empty: none."""
    guarantee_by_name: str = ""
    """The same where a delivery that comes again counts once; empty: as without."""
    follows_results: bool = False
    """Whether the system can keep a mirror of its results in a service that a query names."""

    def claims(self, channel: Channel) -> str:
        """The delivery guarantee that the system claims on that channel."""
        return (channel.delivers_once and self.guarantee_by_name) or self.guarantee


@dataclass(frozen=True)
class ChannelContext:
    """What a channel needs to run its side of one load."""

    load: Load
    shape: ResultShape
    """Of the results that come back."""
    next_result: Callable[[int, int, int], int]
    """`next_result(instance, taken, offered)`: what counts as taken until the next result."""
    most_queued: Sequence[int]
    """By driver instance: events that may wait in memory."""
    folder: Callable[[int], Path]
    """Where a driver instance writes its samples and hand-overs."""
    results: Path
    """Where results are collected, as Parquet parts."""
    rows: QueryConfig | None
    """The query, if its results are rows of a table: `channels/rows.py` is then the sink."""
    log: Path
    """Where the log of each stream in the time of a broker is kept, as Parquet parts."""
    start: Callable[..., Any]
    """Starts one of our modules as a component: `start(name, module, config, *arguments)`."""
    service: Callable[[str], str]
    """The address of a service, such as `kafka`, which is started if it does not run."""
    check_services: Callable[[], None]
    """Fails if a service has died; to be called while the channel waits for one."""
    timeout_s: float
    disturbed: bool = False
    """There will be faults: what is sent again must not count twice."""
    results_are_the_log: bool = False
    """There is neither system nor sink: what the broker has is the result, and a sender that is
    late stops at the end of the load."""


class OpenChannel(ABC):
    """The driver's side of one load, from opening to closing."""

    @property
    @abstractmethod
    def offer(self) -> dict[str, Any]:
        """What the connector of the system needs, as JSON."""

    @abstractmethod
    def start(self, start_us: int) -> None:
        """Begins the load at that wall-clock time."""

    @abstractmethod
    def cut(self, end_us: int) -> None:
        """Ends the load early, at that time of the load."""

    @abstractmethod
    def poll(self) -> list[str]:
        """Faults of the system since the last call, such as a dropped connection.

        ComponentError: a part of the driver's side has failed.
        """

    @abstractmethod
    def observations(self) -> list[Observation]:
        """Every observation of a single source since the last call, in order."""

    @abstractmethod
    def overall(self) -> Observation | None:
        """All sources together at one moment; None while a source has nothing new."""

    @property
    @abstractmethod
    def statuses(self) -> list[InstanceStatus]:
        """The latest status of each driver instance that has sent one."""

    @property
    @abstractmethod
    def sink(self) -> SinkStatus:
        """The latest status of the sink."""

    def flush(self) -> None:  # noqa: B027
        """After the end of the load: returns when the system can get every event of it."""

    def settle(self) -> None:  # noqa: B027
        """After the system has processed everything: returns when its results have arrived."""

    @abstractmethod
    def finish(self) -> list[InstanceStatus]:
        """Writes everything out; the final status of each driver instance."""

    @abstractmethod
    def close(self) -> None:
        """Stops everything that was started."""

    def cut_connection(self, target: str, for_s: float) -> None:
        """Breaks the calls of the system off that go on, and refuses new ones for so long."""
        raise NotImplementedError(f"{target}, {for_s} s")

    def roles(self) -> dict[str, Role]:
        """The processes of the driver's side, for the monitor."""
        return {}


class Channel(StrictModel):
    """A channel; the fields of a subclass are its settings."""

    basis: ClassVar[Basis] = Basis.PULLED
    """The basis of its observations."""
    connectors: ClassVar[Mapping[str, Connector]] = {}
    """By kind of system, for systems that have no connector for this channel themselves."""
    encoding: ClassVar[Encoding] = "columns"
    """Of the results."""
    in_step: ClassVar[bool] = True
    """Whether a system gets the events of all driver instances up to one time together. If not,
    the lag of one of them makes its events late, and the watermark allows for that."""
    clocks: ClassVar[tuple[Clock, ...]] = ("schedule",)
    """Whose time can be the event time of a stream."""
    secrets: ClassVar[frozenset[str]] = frozenset()
    """Settings that are never stored or shown."""

    def resolved(self, base: Path) -> Channel:  # noqa: ARG002
        """Checked, with paths relative to the folder of the experiment file made absolute."""
        return self

    def check_streams(self, streams: Mapping[str, StreamConfig]) -> None:
        """ExperimentError: the channel cannot offer one of the streams."""
        for name, stream in streams.items():
            if stream.clock not in self.clocks:
                raise ExperimentError(
                    "channel.name",
                    f"the event time of the stream `{name}` is the time at which a broker has "
                    "appended it, and this channel has no broker",
                    fix="use `channel: {name: kafka, timestamps: LogAppendTime}`",
                )

    @property
    def delivers_once(self) -> bool:
        """Whether a delivery of results that comes again counts once."""
        return False

    @property
    def targets(self) -> dict[str, Target]:
        """What faults can be done to, of the driver's side and of its services."""
        return {}

    @abstractmethod
    def open(self, context: ChannelContext) -> OpenChannel:
        """Starts the driver's side; returns when a system can connect."""
