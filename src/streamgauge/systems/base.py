"""A system under test: settings, capabilities, and a running system.

A system is a class with typed settings, registered under the entry point group
`streamgauge.systems`. `start` returns a `RunningSystem` (see `systems/running.py`).
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from streamgauge.channels.base import Channel, Connector
from streamgauge.driver.config import LoadConfig
from streamgauge.measure.components import OwnParts
from streamgauge.measure.limits import Evidence, limits
from streamgauge.measure.summary import Limit
from streamgauge.models import StrictModel
from streamgauge.processes.launcher import Launcher
from streamgauge.processes.targets import PROGRAM, Nature, Target
from streamgauge.queries.base import OutputMode, Query
from streamgauge.queries.own import QueryConfig
from streamgauge.systems.running import Diagnostics, RunningSystem
from streamgauge.units import SECOND_US, DurationUs, WholeNumber


class Support(str, Enum):
    """Whether a system can do something."""

    YES = "yes"
    NOT_YET = "not yet"
    NEVER = "never"


@dataclass(frozen=True)
class Capability:
    """Whether a system can do something, and why not."""

    support: Support
    reason: str = ""

    def __bool__(self) -> bool:
        return self.support is Support.YES


YES = Capability(Support.YES)


def not_yet(reason: str) -> Capability:
    """It could be built."""
    return Capability(Support.NOT_YET, reason)


def never(reason: str) -> Capability:
    """The system cannot, by its nature."""
    return Capability(Support.NEVER, reason)


@dataclass(frozen=True)
class SystemContext:
    """What a system needs to start its processes."""

    scratch: Path
    logs: Path
    launcher: Launcher
    timeout_s: float
    jars: tuple[Path, ...] = ()
    """Those of the connector, for a system on the JVM."""
    tell: Callable[[str], None] = lambda _: None
    """Shows the present step of the start."""


class Assignment(StrictModel):
    """One load to process: the query, how events come in and how results go out.

    A resumed assignment continues from its checkpoint.
    """

    number: int
    load: LoadConfig
    query: QueryConfig
    connector: str
    """`module:object` of the system's end of the channel."""
    offer: dict[str, Any]
    """What the connector needs, as the channel gave it."""
    checkpoint: Path
    """A folder of this assignment alone; the station removes it."""
    mirror: str = ""
    """The name for the mirror of the results, where the query has one: of this assignment alone."""
    resumed: bool = False


class Restart(StrictModel):
    """What a supervisor does when the program dies: nothing, or start it on its checkpoint."""

    when: Literal["never", "always"] = "never"
    back_off: DurationUs = Field(
        default=SECOND_US, description="before a restart; twice as long after one that failed"
    )
    most: WholeNumber = Field(default=10, ge=1, le=10_000, description="restarts of a trial")


class System(StrictModel):
    """A system with its settings, which are the fields of the subclass."""

    kind: ClassVar[str]
    """The kind of query implementation that it runs."""
    connectors: ClassVar[Mapping[str, Connector]] = {}
    """By channel."""
    powers: ClassVar[Mapping[str, Capability]] = {}
    """What can be done to the running system: kill, pause, restart, scale."""
    output_modes: ClassVar[tuple[OutputMode, ...]] = ("append", "update")
    """A query with another mode is run in the first of them."""
    warm_up_us: ClassVar[int] = 0
    """The time under load until it has its full speed; a search waits for it."""

    restart: Restart = Field(
        default=Restart(), description="never | always: what is done when the program dies"
    )

    @field_validator("restart", mode="before")
    @classmethod
    def _in_one_word(cls, value: Any) -> Any:
        return {"when": value} if isinstance(value, str) else value

    @abstractmethod
    def start(self, context: SystemContext) -> RunningSystem:
        """Starts the system, and the services that it needs; returns when it is up."""

    @classmethod
    def can_run(cls, query: Query) -> Capability:
        """By default, if the query has an implementation for the kind of the system."""
        if query.results_are_the_log:
            return never("the query measures senders and broker, without a system")
        missing = not_yet(f"the query has no implementation for `{cls.kind}`")
        return YES if cls.kind in query.kinds else missing

    def targets(self, connector: Connector) -> dict[str, Target]:
        """The processes that faults can be done to, by role."""
        others = {role: Target(Nature.PROCESS) for role in connector.targets}
        return {PROGRAM: Target(Nature.PROCESS), **others}

    @property
    def pause_us(self) -> int:
        """The shortest time from one pull to the next."""
        return 0

    @property
    def cores_used(self) -> int:
        """How many tasks the system runs at a time."""
        return os.cpu_count() or 1

    @property
    def keyed_tasks(self) -> int | None:
        """How many tasks the keys of a query are divided among; None: one for each core."""
        return None

    @property
    def bounded_pulls(self) -> bool:
        """Whether a pull may leave events that wait."""
        return True

    @property
    def runs_here(self) -> bool:
        """Whether all of the system runs on this machine, so that its CPU can be measured."""
        return True

    def limits(self, evidence: Evidence, diagnostics: Diagnostics) -> list[Limit]:  # noqa: ARG002
        """What limited a run, strongest first, with advice; by default from the general rules."""
        return limits(evidence)

    def own_parts(self, diagnostics: Diagnostics, rate_per_s: float) -> OwnParts | None:  # noqa: ARG002
        """What the latency of a record consists of inside of it; None: it does not say."""
        return None

    def resolved(self, base: Path, query: Query, channel: Channel) -> System:  # noqa: ARG002
        """Checked for the query and the channel, with paths relative to the folder of the
        experiment file made absolute; ExperimentError: settings that contradict each other."""
        return self

    def versions(self) -> dict[str, str]:
        """Of everything that the system consists of."""
        return {}
