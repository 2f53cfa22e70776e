"""What a system under test is to the station: settings, and a process that speaks our lines.

The process says `up` when it has started. It answers `begin {assignment}` with `ready` when it
waits for input, `drain` with `drained` when everything that was offered has been processed, and
`end` with `ended {own_words}` when it has let go of that input; then it may be given another
assignment. It says `failed {reason, fix}` when it cannot go on, and ends on `stop`. Nothing else
that it says is used for any figure; `own_words` only serve to advise how to tune it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from streamgauge.channels.direct.security import Endpoint
from streamgauge.driver.config import LoadConfig
from streamgauge.processes.component import Component
from streamgauge.queries.base import Query
from streamgauge.queries.own import QueryConfig


class SystemContext(BaseModel):
    """Where the process of a system lives."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    scratch: Path
    logs: Path
    env: dict[str, str]


class Assignment(BaseModel):
    """One load to work off: the query, where events come from and where results go."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int
    load: LoadConfig
    query: QueryConfig
    queues: dict[int, Endpoint]
    sink: Endpoint


class System(BaseModel):
    """A system with its parameters, which are the fields of the subclass."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def launch(self, context: SystemContext) -> Component:
        """Starts the system's process."""
        raise NotImplementedError

    @contextmanager
    def prepared(self, context: SystemContext) -> Iterator[tuple[System, Mapping[str, int]]]:  # noqa: ARG002
        """While it is open, the services that the system needs run.

        Yields the system to launch, and the process of each node by name, for the monitor.
        """
        yield self, {}

    @property
    def pause_us(self) -> int:
        """How long it takes from pull to pull at least, however little there is to do."""
        return 0

    @property
    def warm_up_us(self) -> int:
        """How long it must be under load to become as fast as it can be; a search waits for it."""
        return 0

    def check(self, query_name: str, query: Query) -> None:
        """Refuses, with an ExperimentError, a query or settings that the system cannot run."""

    def versions(self) -> dict[str, str]:
        """Of everything that the system consists of."""
        return {}

    def paths(self) -> tuple[str, str]:
        """How events get in and how results get out, in words, for the report."""
        raise NotImplementedError
