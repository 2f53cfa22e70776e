"""Small loads for tests."""

from __future__ import annotations

from collections.abc import Mapping

from streamgauge.driver.config import (
    InstanceConfig,
    LoadConfig,
    ScheduleConfig,
    StreamConfig,
    in_turn,
)
from streamgauge.events.gaming import GamingDataSet
from streamgauge.events.sources import Source
from streamgauge.queries.base import Query
from streamgauge.queries.replay import Replay

START_US = 1_700_000_000_000_000
# The machine of a test is shared: where whether Spark keeps up, or the generator is in time, is not
# what is tested, they may fall behind as far as this.
WIDE_MARKS = "[50 %, 60 %, 90 %]"
WIDE_LAG = "2 s"


def load_of(
    streams: Mapping[str, Source] | None = None,
    *,
    rate_per_s: float = 1_000,
    seconds: float = 5,
    instances: int = 2,
    seed: int = 3,
    disorder_us: int = 0,
    schedule: str = "constant",
) -> LoadConfig:
    """All streams share one schedule."""
    sources = dict(streams or GamingDataSet.of(keys=20).streams)
    config = ScheduleConfig(name=schedule, duration_us=round(seconds * 1e6), rate_per_s=rate_per_s)
    return LoadConfig(
        streams={name: StreamConfig(source=one, schedule=config) for name, one in sources.items()},
        feeds=in_turn(list(sources), instances),
        seed=seed,
        disorder_us=disorder_us,
    )


def replay_of(query: Query, **settings: object) -> Replay:
    """A run that offered everything it had planned."""
    load = load_of(query.streams, **settings)  # type: ignore[arg-type]
    return whole_replay(load)


def whole_replay(load: LoadConfig) -> Replay:
    return Replay(load, START_US, tuple(feed.times.total for feed in load.build().feeds))


def instance_of(load: LoadConfig, number: int, folder: object) -> InstanceConfig:
    return InstanceConfig(load=load, instance=number, most_queued=10_000_000, folder=folder)
