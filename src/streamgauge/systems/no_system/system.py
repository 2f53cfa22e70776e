"""No system: nobody reads what is sent, so senders and broker are measured alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from streamgauge.channels.base import Connector
from streamgauge.measure.limits import Evidence
from streamgauge.measure.summary import Limit
from streamgauge.plugins import load_path
from streamgauge.processes.targets import Target
from streamgauge.queries.base import Query
from streamgauge.systems.base import (
    YES,
    Assignment,
    Capability,
    System,
    SystemContext,
    never,
)
from streamgauge.systems.running import Diagnostics, RunningSystem, Tell
from streamgauge.units import DurationUs


class NothingRuns(RunningSystem):
    """Is drained at once, because there is nothing to do."""

    def __init__(self, rehearsal_us: int) -> None:
        self._rehearsal_us = rehearsal_us

    def begin(self, assignment: Assignment, timeout_s: float, tell: Tell) -> None:  # noqa: ARG002
        """Before the first load the broker gets messages that do not count."""
        if self._rehearsal_us:
            tell("rehearsing the broker")
            load_path(assignment.connector)(assignment.offer, self._rehearsal_us / 1e6)
            self._rehearsal_us = 0

    def drain(self) -> None:
        pass

    @property
    def drained(self) -> bool:
        return True

    def end(self) -> Diagnostics:
        return []


class NoSystem(System):
    """No system: the senders and the broker alone, for queries whose results are the log."""

    kind: ClassVar[str] = "nothing"
    connectors: ClassVar[Mapping[str, Connector]] = {
        "kafka": Connector(
            "streamgauge.systems.no_system.kafka:rehearse",
            source="nobody reads the topics during the load",
            sink="the log of the topics, read after the load",
        )
    }
    powers: ClassVar[Mapping[str, Capability]] = {
        power: never("there is no process") for power in ("kill", "pause", "restart", "scale")
    }

    rehearsal: DurationUs = Field(
        default=10_000_000, description="how long the broker gets messages before the first load"
    )

    @classmethod
    def can_run(cls, query: Query) -> Capability:
        return YES if query.results_are_the_log else never("it computes nothing")

    def targets(self, connector: Connector) -> dict[str, Target]:  # noqa: ARG002
        return {}

    def start(self, context: SystemContext) -> RunningSystem:  # noqa: ARG002
        return NothingRuns(self.rehearsal)

    def limits(self, evidence: Evidence, diagnostics: Diagnostics) -> list[Limit]:  # noqa: ARG002
        """None: what limits senders and broker is probed before the first trial."""
        return []
