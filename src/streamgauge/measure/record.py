"""The record of a finished load, from which the figures are calculated."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path

import xxhash
from pydantic import BaseModel, ConfigDict, Field

from streamgauge.channels.base import Encoding
from streamgauge.driver.config import LoadConfig
from streamgauge.driver.instance import InstanceStatus
from streamgauge.queries.own import QueryConfig
from streamgauge.queries.replay import Replay
from streamgauge.version import FORMAT_VERSION


class SourceRecord(InstanceStatus):
    """A driver instance at the end of the load, and the objection of its policy."""

    queue_limits: tuple[int, int, int]
    """q_a, q_b and q_n, in events."""
    unsustained_because: str = ""


class FaultRecord(BaseModel):
    """One fault of the time line; times are microseconds since the load began."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    """The word of the experiment file, such as `kill`."""
    target: str
    victim: str = ""
    """The process that it was done to."""
    asked_us: int
    began_us: int | None
    """When it was begun; None: it was not done."""
    done_us: int | None = None
    """When it had been done: the process was dead, or stood still."""
    ended_us: int | None = None
    """When it was over: what it had stopped went on, or was started again."""
    failed: str = ""
    """Why it could not be done, or undone."""

    @property
    def title(self) -> str:
        return f"{self.name} {self.target}"


class DeathRecord(BaseModel):
    """A death of the program that did not end the trial."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    noticed_us: int
    """When the supervisor noticed it, since the load began."""
    ready_us: int | None = None
    """When the program that was started instead was ready; None: there was none."""


class RunRecord(BaseModel):
    """`RUN/record.json`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format_version: int = FORMAT_VERSION
    load: LoadConfig
    query: QueryConfig
    warm_up_us: int
    start_us: int
    """Wall-clock time at which the load began, microseconds since 1970."""
    end_us: int
    """Length of the load; shorter than planned if it was cut."""
    closed_us: int
    """Wall-clock time after which results count as late."""
    drained: bool
    """Whether the system reported before the time-out that it had processed everything."""
    ended_early: str = ""
    """Why a search cut the load although no policy objected."""
    encoding: Encoding = "columns"
    """Of the results in the run directory."""
    results_are_the_log: bool = False
    """There was no system: what the broker has of the input is the result."""
    mirrored_in: str = ""
    """The service that has the last value of each result, too; empty: none."""
    clock_jump_us: int = 0
    """By how much the wall clock differed at most from one that goes on evenly."""
    dropped: list[str] = []
    """Connections that the system dropped, as sentences."""
    faults: list[FaultRecord] = []
    """What was done to the system on purpose, in the order of time."""
    deaths: list[DeathRecord] = []
    """Of the program, after faults."""
    updates: bool = False
    """Whether a result is sent again whenever it changes."""
    claimed: str = ""
    """The delivery guarantee that the system claims with this channel; empty: none."""
    instances: list[SourceRecord]
    log: Path | None = Field(default=None, exclude=True)
    """The folder of the logs, in the run directory."""

    @cached_property
    def replay(self) -> Replay:
        offered = tuple(status.offered for status in self.instances)
        return Replay(self.load, self.start_us, offered, self.log)

    @property
    def input_hash(self) -> str:
        """Of all events that were offered, and of what their columns mean."""
        streams = {name: one.source.meaning for name, one in self.load.streams.items()}
        text = f"{self.fingerprint:016x} {json.dumps(streams, sort_keys=True)}"
        return xxhash.xxh3_64_hexdigest(text.encode())

    @property
    def fingerprint(self) -> int:
        return sum(status.fingerprint for status in self.instances) & ((1 << 64) - 1)
