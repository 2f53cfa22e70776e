"""What a system under test is to the station: settings, and a process that speaks our lines.

The process says `ready` when it waits for input, answers `drain` with `drained` when everything
that was offered has been processed, says `failed {reason, fix}` when it cannot go on, and ends on
`stop`. Nothing else that it says is used for any figure.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from streamgauge.channels.direct.security import Endpoint
from streamgauge.component import Component
from streamgauge.driver.config import LoadConfig
from streamgauge.queries.base import Query
from streamgauge.queries.own import QueryConfig


class SystemContext(BaseModel):
    """What a system gets to know of the run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    load: LoadConfig
    query: QueryConfig
    queues: dict[int, Endpoint]
    sink: Endpoint
    scratch: Path
    logs: Path
    env: dict[str, str]


class System(BaseModel):
    """A system with its parameters, which are the fields of the subclass."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def launch(self, context: SystemContext) -> Component:
        """Starts the system's process; it is ready when it says so."""
        raise NotImplementedError

    def check(self, query_name: str, query: Query) -> None:
        """Refuses, with an ExperimentError, a query that the system cannot run."""

    def versions(self) -> dict[str, str]:
        """Of everything that the system consists of."""
        return {}

    def paths(self) -> tuple[str, str]:
        """How events get in and how results get out, in words, for the report."""
        raise NotImplementedError
