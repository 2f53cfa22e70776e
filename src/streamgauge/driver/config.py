"""What a driver instance is told before it starts; the same form for every channel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from streamgauge import plugins
from streamgauge.driver.policies import Policy, QueueMarks, SettledPolicy
from streamgauge.driver.schedules.base import Schedule
from streamgauge.driver.schedules.instance import InstanceSchedule
from streamgauge.errors import ExperimentError
from streamgauge.events.sources import Source
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
    section: str = "load"
    """Where the experiment file has its settings, for the error message."""

    def build(self) -> Schedule:
        key = f"{self.section}.schedule"
        factory = plugins.load("schedules", self.name, key=key, base=self.base)
        try:
            schedule: Schedule = factory(
                duration_us=self.duration_us, rate_per_s=self.rate_per_s, **self.parameters
            )
        except ExperimentError as error:
            raise error.moved("load", self.section) from None
        except Exception as error:
            raise ExperimentError(key, str(error) or type(error).__name__) from error
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


class StreamConfig(_Config):
    """What a stream consists of, and when its events are due.

    Streams with the same schedule configuration share one schedule.
    """

    source: Source
    schedule: ScheduleConfig


class FeedConfig(_Config):
    """What one driver instance offers: its part of the schedule of a stream."""

    stream: str
    part: int
    parts: int


class LoadConfig(_Config):
    """The whole load: its streams, and what each driver instance feeds, by its number."""

    streams: dict[str, StreamConfig]
    feeds: tuple[FeedConfig, ...]
    seed: int
    disorder_us: int = 0

    @classmethod
    def shared(
        cls,
        sources: Mapping[str, Source],
        schedule: ScheduleConfig,
        instances: int,
        seed: int,
        disorder_us: int = 0,
    ) -> LoadConfig:
        """All streams share one schedule; the instances feed the streams in turn."""
        return cls(
            streams={
                name: StreamConfig(source=one, schedule=schedule) for name, one in sources.items()
            },
            feeds=in_turn(list(sources), instances),
            seed=seed,
            disorder_us=disorder_us,
        )

    @property
    def watermark_delay_us(self) -> int:
        """The disorder in whole milliseconds, which is as fine as Spark's watermark is."""
        return -(-self.disorder_us // 1_000) * 1_000

    @property
    def duration_us(self) -> int:
        return max(stream.schedule.duration_us for stream in self.streams.values())

    @property
    def rate_per_s(self) -> float:
        """Of all driver instances together."""
        return sum(
            self.streams[feed.stream].schedule.rate_per_s / feed.parts for feed in self.feeds
        )

    @property
    def instances(self) -> int:
        return len(self.feeds)

    def stream_of(self, instance: int) -> str:
        return self.feeds[instance].stream

    def instances_of(self, stream: str) -> list[int]:
        return [number for number, feed in enumerate(self.feeds) if feed.stream == stream]

    def evenly(self, duration_us: int, most_per_s: float) -> LoadConfig:
        """The same events at even rates, at most so many per second, for a rehearsal."""
        factor = min(1.0, most_per_s / self.rate_per_s)
        # An instance without an event would hold up the others.
        least = {feed.stream: feed.parts for feed in self.feeds}
        streams = {
            name: StreamConfig(
                source=stream.source,
                schedule=ScheduleConfig(
                    duration_us=duration_us,
                    rate_per_s=max(least[name], stream.schedule.rate_per_s * factor),
                    section=stream.schedule.section,
                ),
            )
            for name, stream in self.streams.items()
        }
        return self.model_copy(update={"streams": streams})

    def build(self) -> Load:
        """Builds every schedule once."""
        schedules: dict[str, Schedule] = {}
        for stream in self.streams.values():
            key = stream.schedule.model_dump_json()
            if key not in schedules:
                schedules[key] = stream.schedule.build()
        feeds = []
        for number, feed in enumerate(self.feeds):
            stream = self.streams[feed.stream]
            schedule = schedules[stream.schedule.model_dump_json()]
            times = InstanceSchedule(schedule, feed.part, feed.parts)
            same_stream = self.instances_of(feed.stream)
            events = EventStream(
                source=stream.source,
                clock=times,
                seed=self.seed,
                instance=number,
                disorder_us=self.disorder_us,
                part=same_stream.index(number),
                parts=len(same_stream),
            )
            feeds.append(Feed(feed.stream, times, events))
        return Load(self, tuple(feeds), tuple(schedules.values()))


def in_turn(streams: Sequence[str], instances: int) -> tuple[FeedConfig, ...]:
    """Instance i of k takes every k-th event of one schedule and feeds stream i modulo streams."""
    return tuple(
        FeedConfig(stream=streams[number % len(streams)], part=number, parts=instances)
        for number in range(instances)
    )


@dataclass(frozen=True, eq=False)
class Feed:
    """What one driver instance offers: which events of a stream, and when."""

    stream: str
    times: InstanceSchedule
    events: EventStream


@dataclass(frozen=True, eq=False)
class Load:
    """A load whose schedules are built."""

    config: LoadConfig
    feeds: tuple[Feed, ...]
    """By the number of the driver instance."""
    schedules: tuple[Schedule, ...]
    """Each is offered by the driver instances completely."""

    @property
    def streams(self) -> dict[str, Source]:
        return {name: stream.source for name, stream in self.config.streams.items()}

    @property
    def instances(self) -> int:
        return self.config.instances

    def instances_of(self, stream: str) -> list[int]:
        return self.config.instances_of(stream)

    @property
    def watermark_delay_us(self) -> int:
        return self.config.watermark_delay_us

    @property
    def duration_us(self) -> int:
        return self.config.duration_us

    @property
    def total(self) -> int:
        """How many events the load has."""
        return sum(schedule.total for schedule in self.schedules)

    def count_before(self, time_us: int) -> int:
        """How many events of all driver instances are due before one time."""
        return sum(schedule.count_before(time_us) for schedule in self.schedules)


class InstanceConfig(_Config):
    """One driver instance of a load."""

    load: LoadConfig
    instance: int
    most_queued: int
    """Events that may wait in memory before the instance stops to generate more."""
    folder: Path
    """Where the instance writes its samples."""
