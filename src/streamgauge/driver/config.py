"""What a driver instance is told before it starts; the same form for every channel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from streamgauge import plugins
from streamgauge.driver.policies import Policy, QueueMarks, SettledPolicy
from streamgauge.driver.schedules.base import Schedule
from streamgauge.driver.schedules.instance import InstanceSchedule
from streamgauge.events.spec import StreamSpec
from streamgauge.events.stream import EventStream

SHORTEST_JUDGED_US = 60_000_000
"""A shorter run has the marks of a run of this length: five per cent of a second is no backlog."""


class _Config(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ScheduleConfig(_Config):
    """A schedule by name, with its parameters."""

    name: str = "constant"
    duration_us: int
    rate_per_s: float
    parameters: dict[str, Any] = {}
    base: Path | None = None

    def build(self) -> Schedule:
        factory = plugins.load("schedules", self.name, key="load.schedule", base=self.base)
        schedule: Schedule = factory(
            duration_us=self.duration_us, rate_per_s=self.rate_per_s, **self.parameters
        )
        return schedule


class PolicyConfig(_Config):
    """A sustainability policy by name, with its parameters and the marks of the queue."""

    name: str = "combined"
    shares: tuple[float, float, float] = (0.05, 0.10, 0.30)
    parameters: dict[str, Any] = {}
    base: Path | None = None
    settles_us: int = 0
    """What waits when the system has warmed up, after that time, is not held against it."""

    def marks(self, events_of_run: int, duration_us: int) -> QueueMarks:
        longest = max(duration_us, SHORTEST_JUDGED_US)
        return QueueMarks.of(max(100, events_of_run * longest // duration_us), self.shares)

    def build(self, marks: QueueMarks) -> Policy:
        factory = plugins.load("policies", self.name, key="load.policy", base=self.base)
        policy: Policy = factory(marks, **self.parameters)
        return SettledPolicy(policy, self.settles_us) if self.settles_us else policy


class LoadConfig(_Config):
    """The whole load: which streams there are and how they are spread over driver instances."""

    streams: dict[str, StreamSpec]
    schedule: ScheduleConfig
    instances: int
    seed: int
    disorder_us: int = 0

    @property
    def watermark_delay_us(self) -> int:
        """The disorder in whole milliseconds, which is as fine as Spark's watermark is."""
        return -(-self.disorder_us // 1_000) * 1_000

    def stream_of(self, instance: int) -> str:
        """Instances feed the streams in turn."""
        return list(self.streams)[instance % len(self.streams)]

    def instances_of(self, stream: str) -> list[int]:
        return [i for i in range(self.instances) if self.stream_of(i) == stream]

    def events(self, schedule: Schedule, instance: int) -> EventStream:
        return EventStream(
            spec=self.streams[self.stream_of(instance)],
            clock=InstanceSchedule(schedule, instance, self.instances),
            seed=self.seed,
            instance=instance,
            disorder_us=self.disorder_us,
        )


class InstanceConfig(_Config):
    """One driver instance of a load."""

    load: LoadConfig
    instance: int
    policy: PolicyConfig
    folder: Path
    """Where the instance writes what it sees."""
