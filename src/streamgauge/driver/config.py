"""The configuration of a load and of its driver instances; the same for every channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from streamgauge import plugins
from streamgauge.driver.policies import DEFAULT_SHARES, Policy, QueueMarks, SettledPolicy
from streamgauge.driver.schedules.base import Schedule
from streamgauge.driver.schedules.instance import InstanceSchedule
from streamgauge.errors import ExperimentError
from streamgauge.events.sources import Source
from streamgauge.events.stream import EventStream
from streamgauge.models import StrictModel

SHORTEST_JUDGED_US = 60_000_000
"""A shorter run has the marks of a run of this length: five per cent of a second is no backlog."""


Clock = Literal["schedule", "broker"]
"""Whose time is the event time: that of the schedule, or the time at which a broker appended it."""


class ScheduleConfig(StrictModel):
    """A schedule by name, with its parameters."""

    name: str = "constant"
    duration_us: int
    rate_per_s: float
    parameters: dict[str, Any] = Field(default={})
    base: Path | None = None
    section: str = "load"
    """The section of the experiment file with its settings, for error messages."""

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


class PolicyConfig(StrictModel):
    """A sustainability policy by name, with its parameters and the marks of the queue."""

    name: str = "combined"
    shares: tuple[float, float, float] = DEFAULT_SHARES
    parameters: dict[str, Any] = Field(default={})
    base: Path | None = None
    settles_us: int = 0
    """Events that are queued when the system has warmed up, after that time, do not count."""

    def marks(self, events_of_run: int, duration_us: int) -> QueueMarks:
        longest = max(duration_us, SHORTEST_JUDGED_US)
        return QueueMarks.of(max(100, events_of_run * longest // duration_us), self.shares)

    def build(self, marks: QueueMarks) -> Policy:
        factory = plugins.load("policies", self.name, key="load.policy", base=self.base)
        policy: Policy = factory(marks, **self.parameters)
        return SettledPolicy(policy, self.settles_us) if self.settles_us else policy


class StreamConfig(StrictModel):
    """The source and the schedule of a stream.

    Streams with the same schedule configuration share one schedule.
    """

    source: Source
    schedule: ScheduleConfig
    clock: Clock = "schedule"


class FeedConfig(StrictModel):
    """What one driver instance offers: its part of the schedule of a stream."""

    stream: str
    part: int
    parts: int


class LoadConfig(StrictModel):
    """The whole load: its streams, and what each driver instance feeds, by its number."""

    streams: dict[str, StreamConfig]
    feeds: tuple[FeedConfig, ...]
    seed: int
    disorder_us: int = 0
    skew_us: int = 0
    """How far one driver instance may be behind another on its way to the system."""

    @property
    def watermark_delay_us(self) -> int:
        """Disorder and skew in whole milliseconds, the resolution of Spark's watermark."""
        return -(-(self.disorder_us + self.skew_us) // 1_000) * 1_000

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

    def instances_of(self, stream: str) -> list[int]:
        return [number for number, feed in enumerate(self.feeds) if feed.stream == stream]

    @property
    def in_broker_time(self) -> list[str]:
        """The streams whose event time is that of a broker."""
        return [name for name, stream in self.streams.items() if stream.clock == "broker"]

    def evenly(self, duration_us: int, most_per_s: float) -> LoadConfig:
        """The same events at constant rates, at most `most_per_s` in all, for a rehearsal."""
        factor = min(1.0, most_per_s / self.rate_per_s)
        streams = {}
        for name, stream in self.streams.items():
            # At least one event for each instance: one without events would hold up the others.
            least = max(feed.parts for feed in self.feeds if feed.stream == name)
            schedule = ScheduleConfig(
                duration_us=duration_us,
                rate_per_s=max(least, stream.schedule.rate_per_s * factor),
                section=stream.schedule.section,
            )
            streams[name] = stream.model_copy(update={"schedule": schedule})
        return self.model_copy(update={"streams": streams})

    def build(self) -> Load:
        """Builds every schedule once."""
        keys = {name: one.schedule.model_dump_json() for name, one in self.streams.items()}
        schedules = {keys[name]: one.schedule for name, one in self.streams.items()}
        built = {key: schedule.build() for key, schedule in schedules.items()}
        feeds = [
            self._feed(number, built[keys[feed.stream]]) for number, feed in enumerate(self.feeds)
        ]
        return Load(self, tuple(feeds), tuple(built.values()))

    def build_feed(self, number: int) -> Feed:
        """What one driver instance offers; builds the schedule of its stream only."""
        return self._feed(number, self.streams[self.feeds[number].stream].schedule.build())

    def _feed(self, number: int, schedule: Schedule) -> Feed:
        config = self.feeds[number]
        times = InstanceSchedule(schedule, config.part, config.parts)
        same_stream = self.instances_of(config.stream)
        events = EventStream(
            source=self.streams[config.stream].source,
            clock=times,
            seed=self.seed,
            instance=number,
            disorder_us=self.disorder_us,
            part=same_stream.index(number),
            parts=len(same_stream),
        )
        return Feed(config.stream, times, events)


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
    """The driver instances together offer all events of each."""

    @property
    def streams(self) -> dict[str, Source]:
        return {name: stream.source for name, stream in self.config.streams.items()}

    @property
    def instances(self) -> int:
        return self.config.instances

    def instances_of(self, stream: str) -> list[int]:
        return self.config.instances_of(stream)

    @property
    def duration_us(self) -> int:
        return self.config.duration_us

    @property
    def total(self) -> int:
        """The number of events of the load."""
        return sum(schedule.total for schedule in self.schedules)

    def count_before(self, time_us: int) -> int:
        """The number of events of all driver instances that are due before that time."""
        return sum(schedule.count_before(time_us) for schedule in self.schedules)


class InstanceConfig(StrictModel):
    """One driver instance of a load."""

    load: LoadConfig
    instance: int
    most_queued: int
    """Events that may wait in memory; then the instance stops generating."""
    folder: Path
    """Where the instance writes its samples."""
